// The controls above the list of jobs: search, what to show, and the order where there are no headings.
import { h } from "./dom.js";
import { chips, searchField } from "./filters.js";
import { term, w } from "./words.js";

/** @typedef {import("./jobs-list.js").Filter} Filter */
/** @typedef {import("./table.js").Order} Order */

const statuses = ["OK", "CRASHED", "STOPPED", "NEVER_STARTED", "DISABLED", "SHARDING_FLAG"];

/** @type {{name: "running" | "failing" | "late" | "faulty" | "paused", text: () => string}[]} */
const flags = [
  { name: "running", text: () => w("jobs.running") }, { name: "failing", text: () => w("jobs.failing") }, { name: "late", text: () => w("jobs.late") }, { name: "faulty", text: () => w("jobs.faulty") },
  { name: "paused", text: () => w("jobs.paused") },
];

/**
 * @param {ReturnType<typeof import("./jobs-list.js").countsOf>} all what there is
 * @param {Filter} filter
 * @param {(change: Partial<Filter>) => void} change
 * @param {import("./dom.js").View} order
 */
export function filterView(all, filter, change, order) {
  const { counts, implementations, labels } = all;
  return h("form", { class: "filter", role: "search", "aria-label": w("jobs.filter"), onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
    searchField(filter.search, w("jobs.searchHint"), (search) => change({ search })),
    choiceOf("implementation", w("jobs.allTypes"), filter.implementation, implementations, change),
    labels.length || filter.label ? choiceOf("label", w("jobs.allLabels"), filter.label, labels, change) : null,
    order,
    chips(w("jobs.show"), [
      ...statuses.map((s) => ({ name: s, text: term("status", s), n: counts[s] ?? 0, isOn: filter.status === s })),
      ...flags.map((f) => ({ name: f.name, text: f.text(), n: counts[f.name] ?? 0, isOn: filter[f.name] === "true" })),
    ], (name, on) => change(statuses.includes(name) ? { status: on ? name : "" } : { [name]: on ? "true" : "" })));
}

/**
 * @param {"implementation" | "label"} name
 * @param {string} all
 * @param {string} value
 * @param {string[]} values
 * @param {(change: Partial<Filter>) => void} change
 */
function choiceOf(name, all, value, values, change) {
  const there = value && !values.includes(value) ? [value, ...values] : values;
  return h("select", { id: name, "aria-label": all, value, onchange: (/** @type {Event} */ e) => change({ [name]: /** @type {HTMLSelectElement} */ (e.target).value }) },
    h("option", { value: "", key: "" }, all), there.map((v) => h("option", { value: v, key: "=" + v }, typeText(v))));
}

/** @param {string} type */
function typeText(type) {
  return type === "SCRIPT" ? w("jobs.script") : type === "HTTP" ? w("jobs.http") : type;
}

/**
 * The order as a choice, for windows that are too narrow for headings.
 * @param {[string, string][]} ways
 * @param {Order} order
 * @param {(order: Order) => void} turn
 */
export function orderView(ways, order, turn) {
  return h("div", { class: "order" },
    h("select", { "aria-label": w("jobs.order"), value: order.by, onchange: (/** @type {Event} */ e) => turn({ by: /** @type {HTMLSelectElement} */ (e.target).value, down: false }) },
      ways.map(([value, text]) => h("option", { value, key: value }, w("ui.sort", { by: text })))),
    h("button", { type: "button", "aria-label": w("jobs.turn"), title: w("jobs.turn"), onclick: () => turn({ by: order.by, down: !order.down }) }, order.down ? "▼" : "▲"));
}
