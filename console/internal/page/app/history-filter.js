// What of the history is wanted: the filters that stand in the address, and their controls.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { failures } from "./execution.js";
import { namespace } from "./facts.js";
import { choice, field, itemsOf } from "./form.js";
import { anyTime, spanFields, spanOf } from "./span.js";
import { term, w } from "./words.js";

/** @typedef {Record<string, string>} Query */
/** @typedef {import("./api.js").Operations["GET /namespaces/{namespace}/history/executions"]["in"]} Asked */
/** @typedef {NonNullable<Asked["outcomes"]>[number]} Outcome */

/** @type {Outcome[]} */
export const outcomes = ["OK", "FAILED", "PANIC", "TIMEOUT", "CUT", "LOST", "KILLED", "RUNNING"];
const sources = ["NORMAL_TRIGGER", "MISFIRE", "FAILOVER", "MANUAL", "RETRY", "BACKFILL"];

/** What leaves the address when everything is wanted. */
export const everything = { ...anyTime, job: "", items: "", instance: "", address: "", source: "", outcomes: "", request: "", kinds: "", by: "" };

/** @param {string | undefined} text names with commas between them */
export const listOf = (text) => (text ?? "").split(",").filter(Boolean);

/** The executions that an address wants. What the API does not know is refused by it. @param {Query} q @returns {Asked} */
export function executionsOf(q) {
  const { job, instance, address, request } = q;
  const items = itemsOf(q.items ?? "")?.slice(0, 1000);
  const chosen = /** @type {Outcome[]} */ (listOf(q.outcomes));
  return {
    namespace, job, instance, address, request, ...spanOf(q), items: items?.length ? items : undefined,
    source: /** @type {Asked["source"]} */ (q.source), outcomes: chosen.length ? chosen : undefined,
  };
}

/** @type {string[]} */
let names = [];
/** @type {string | undefined} */
let namesFor;
let askedAt = 0;

/** Names of jobs that were found to be suggested. */
export const suggested = () => names;

/** Names of jobs that begin so, to be suggested. @param {string} prefix @param {() => void} again */
async function suggest(prefix, again) {
  const isOld = !names.length && Date.now() > askedAt + 3000; // some may have run since
  if (namesFor === prefix && !isOld) return;
  const isFirst = namesFor === undefined;
  [namesFor, askedAt] = [prefix, Date.now()];
  if (!isFirst) await new Promise((go) => setTimeout(go, 200)); // he may write on
  if (namesFor !== prefix) return;
  try {
    const { rows } = await ask("GET /namespaces/{namespace}/history/jobs", { namespace, prefix, limit: 50 });
    if (namesFor !== prefix) return;
    names = rows;
    again();
  } catch {
    // one can write the name as well
  }
}

/**
 * The controls. Those below more are for who looks for something special.
 * @param {Query} q
 * @param {{change: (change: Query) => void, again: () => void, isOfRuns: boolean, chips?: import("./dom.js").View, more: ("items" | "instance" | "address" | "request" | "by")[]}} o
 */
export function filterView(q, o) {
  const { change } = o;
  const text = (/** @type {string} */ id, /** @type {string} */ label, /** @type {string} */ hint = "") =>
    field({ id, label, value: q[id] ?? "", change: (v) => change({ [id]: v.trim() }), error: id === "items" && !itemsOf(q.items ?? "") ? w("history.itemsWrong") : undefined, hint: id === "items" && !itemsOf(q.items ?? "") ? "" : hint });
  const special = {
    items: () => text("items", w("history.items"), w("history.itemsHint")), instance: () => text("instance", w("history.instance"), w("history.instanceHint")),
    address: () => text("address", w("history.address")), request: () => text("request", w("history.request")), by: () => text("by", w("history.by")),
  };
  void suggest(names.includes(q.job) ? "" : q.job ?? "", o.again);
  return h("form", { class: "history-filters", role: "search", "aria-label": w("history.filters"), onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
    h("div", { class: "fields" },
      field({ id: "job", label: w("history.job"), value: q.job ?? "", list: names, placeholder: w("history.allJobs"), change: (v) => change({ job: v.trim() }) }),
      spanFields(q, change),
      o.isOfRuns ? choice({ id: "source", label: w("history.source"), value: q.source ?? "", options: [["", w("ui.all")], .../** @type {[string, string][]} */ (sources.map((s) => [s, term("source", s)]))], change: (v) => change({ source: v }) }) : null),
    o.chips ?? null,
    h("details", { open: o.more.some((name) => q[name]) }, h("summary", null, w("history.more")), h("div", { class: "fields" }, o.more.map((name) => special[name]()))));
}

/** Outcomes to choose from, several at a time. @param {Query} q @param {(change: Query) => void} change */
export function outcomeChips(q, change) {
  const chosen = listOf(q.outcomes);
  const turn = (/** @type {string[]} */ some, /** @type {boolean} */ isOn) => change({ outcomes: outcomes.filter((o) => (some.includes(o) ? isOn : chosen.includes(o))).join(",") });
  return chips(w("history.outcome"), [
    [w("history.failures"), failures.every((o) => chosen.includes(o)), (isOn) => turn(failures, isOn)],
    ...outcomes.map((o) => /** @type {Chip} */ ([term("outcome", o), chosen.includes(o), (isOn) => turn([o], isOn)])),
  ]);
}

/** @typedef {[string, boolean, (isOn: boolean) => void]} Chip text, whether it is chosen, and what choosing it does */

/** @param {string} label @param {Chip[]} all */
export function chips(label, all) {
  return h("div", { class: "history-chips", role: "group", "aria-label": label }, h("span", { class: "soft", "aria-hidden": "true" }, label),
    all.map(([text, isOn, turn]) => h("button", { type: "button", class: "chip", key: text, "aria-pressed": String(isOn), onclick: () => turn(!isOn) }, text)));
}
