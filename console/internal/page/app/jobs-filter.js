// The controls above the list of jobs: search, what to show, and the order where there are no headings.
import { h } from "./dom.js";
import { number, term, w } from "./words.js";

/** @typedef {import("./jobs-list.js").Filter} Filter */
/** @typedef {import("./table.js").Order} Order */

const statuses = ["OK", "CRASHED", "DISABLED", "SHARDING_FLAG"];

/** @type {Record<"running" | "failing" | "faulty" | "paused", () => string>} */
const flagTexts = { running: () => w("jobs.running"), failing: () => w("jobs.failing"), faulty: () => w("jobs.faulty"), paused: () => w("jobs.paused") };

/**
 * @param {ReturnType<typeof import("./jobs-list.js").countsOf>} all what there is
 * @param {Filter} filter
 * @param {(change: Partial<Filter>) => void} change
 * @param {import("./dom.js").View} order
 */
export function filterView(all, filter, change, order) {
  const { counts, implementations, labels } = all;
  return h("form", { class: "filter", role: "search", "aria-label": w("jobs.filter"), onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
    h("input", {
      type: "search", id: "search", "aria-label": w("ui.search"), placeholder: w("jobs.searchHint"), value: filter.search, spellcheck: "false", autocomplete: "off",
      oninput: (/** @type {Event} */ e) => change({ search: /** @type {HTMLInputElement} */ (e.target).value }),
    }),
    choiceOf("implementation", w("jobs.allTypes"), filter.implementation, implementations, change),
    labels.length || filter.label ? choiceOf("label", w("jobs.allLabels"), filter.label, labels, change) : null,
    order,
    h("div", { class: "chips", role: "group", "aria-label": w("jobs.show") },
      statuses.map((s) => chip(term("status", s), counts[s] ?? 0, filter.status === s, (on) => change({ status: on ? s : "" }))),
      Object.entries(flagTexts).map(([name, text]) => chip(text(), counts[name] ?? 0, filter[/** @type {keyof typeof flagTexts} */ (name)] === "true", (on) => change({ [name]: on ? "true" : "" })))));
}

/** @param {string} text @param {number} n @param {boolean} isOn @param {(on: boolean) => void} turn */
function chip(text, n, isOn, turn) {
  if (!n && !isOn) return null;
  return h("button", { type: "button", class: "chip", key: text, "aria-pressed": String(isOn), onclick: () => turn(!isOn) }, text, " ", h("span", { class: "num" }, number(n)));
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
