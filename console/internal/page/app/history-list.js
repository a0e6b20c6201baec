// Executions of the past and of now.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { durationOf, latenessOf } from "./execution.js";
import { inNamespace } from "./facts.js";
import { Growing } from "./growing.js";
import { executionsOf } from "./history-filter.js";
import { query } from "./query.js";
import { table } from "./table.js";
import { lasting } from "./time.js";
import { at, instanceName, state } from "./ui.js";
import { number, term, w } from "./words.js";

/** @typedef {import("./types/api").ExecutionInfo} Execution */

/** @returns {Growing<Execution>} */
export const runs = () => new Growing((after, limit) => ask("GET /namespaces/{namespace}/history/executions", { ...executionsOf(query()), after, limit }));

/** @param {Execution[]} rows */
export function runTable(rows) {
  const isOfOne = rows.every((x) => x.job === query().job);
  return table({
    label: w("history.runs"), rows, key: (x) => x.id,
    columns: [
      { name: "begun", text: w("history.begun"), cell: (x) => h("a", { href: inNamespace(["history", x.id]) }, at(x.begun), h("span", { class: "unseen" }, " " + w("history.open", { job: x.job, item: x.item }))) },
      ...(isOfOne ? [] : [{ name: "job", text: w("history.job"), cell: (/** @type {Execution} */ x) => h("a", { href: inNamespace(["jobs", x.job]), class: "name" }, x.job) }]),
      { name: "item", text: w("history.item"), num: true, cell: (x) => number(x.item) },
      { name: "outcome", text: w("history.outcome"), wide: true, cell: (x) => [state("outcome", x.outcome), x.error ? h("p", { class: "history-why", title: x.error.slice(0, 1000) }, x.error.slice(0, 300)) : null] },
      { name: "source", text: w("history.source"), cell: (x) => h("span", { class: "source" }, x.source ? term("source", x.source) : "–") },
      { name: "took", text: w("history.took"), num: true, cell: tookOf },
      { name: "late", text: w("history.late"), num: true, cell: lateOf },
      { name: "instance", text: w("history.instance"), cell: (x) => (x.instance ? instanceName(x.instance) : x.address ?? "–") },
    ],
  });
}

/** @param {Execution} x */
function tookOf(x) {
  const seconds = durationOf(x);
  if (seconds === undefined) return "–";
  return x.outcome === "RUNNING" ? h("span", { class: "soft" }, lasting(seconds), " …") : lasting(seconds);
}

/** @param {Execution} x */
function lateOf(x) {
  const seconds = latenessOf(x);
  return seconds === undefined ? "–" : lasting(seconds);
}
