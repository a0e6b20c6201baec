// What else has happened: ticks that were missed, failovers, faults, members that came and went, what operators did.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { inNamespace, manual, namespace } from "./facts.js";
import { Growing } from "./growing.js";
import { chips, listOf } from "./history-filter.js";
import { itemsText } from "./form.js";
import { query } from "./query.js";
import { spanOf } from "./span.js";
import { table } from "./table.js";
import { at, badge, instanceName } from "./ui.js";
import { has, term, w } from "./words.js";

/** @typedef {import("./types/api").EventInfo} Event */
/** @typedef {import("./dom.js").View} View */

/** Kinds that one looks for together. @type {[() => string, string[]][]} */
const groups = [
  [() => w("history.missed"), ["made up", "skipped"]],
  [() => w("history.failovers"), ["recovered"]],
  [() => w("history.faults"), ["fault", "missed"]],
  [() => w("history.members"), ["joined", "left", "session", "leads"]],
  [() => w("history.assigns"), ["items"]],
  [() => w("history.settings"), ["configured"]],
  [() => w("history.operators"), ["operated", "paused", "commanded", "due"]],
];
const first = groups.slice(0, 3).flatMap(([, kinds]) => kinds);
/** @type {Record<string, "good" | "bad" | "warn" | "busy">} */
const looks = { "made up": "warn", "skipped": "warn", recovered: "warn", fault: "bad", missed: "bad", joined: "good" };

/** Those that the address names; failures of all kinds if it names none. */
const kindsOf = () => listOf(query().kinds || first.join());

/** @param {(change: Record<string, string>) => void} change */
export function kindChips(change) {
  const chosen = kindsOf();
  return chips(w("history.kinds"), groups.map(([text, kinds]) => [text(), kinds.every((k) => chosen.includes(k)), (isOn) => {
    const next = groups.flatMap(([, all]) => all).filter((k) => (kinds.includes(k) ? isOn : chosen.includes(k)));
    change({ kinds: next.join() === first.join() ? "" : next.join() });
  }]));
}

/** @returns {Growing<Event>} */
export const events = () => new Growing((after, limit) => {
  const { job, instance, by } = query();
  return ask("GET /namespaces/{namespace}/history/events", { namespace, job, instance, by, kinds: kindsOf(), ...spanOf(query()), after, limit });
});

/** @param {Event[]} rows */
export function eventTable(rows) {
  return table({
    label: w("history.events"), rows, key: (e) => e.id,
    columns: [
      { name: "time", text: w("history.time"), cell: (e) => at(e.time) },
      { name: "kind", text: w("history.happened"), cell: happened },
      { name: "job", text: w("history.job"), cell: (e) => (e.job ? h("a", { href: inNamespace(["jobs", e.job]), class: "name" }, e.job) : "–") },
      { name: "items", text: w("history.items"), cell: (e) => (e.items?.length ? itemsText(e.items) : e.item ?? "–") },
      { name: "who", text: w("history.who"), cell: (e) => [e.by ?? null, e.by && e.instance ? " · " : null, e.instance ? instanceName(e.instance) : e.by ? null : "–"] },
      { name: "detail", text: w("history.detail"), cell: detail, wide: true },
    ],
  });
}

/** @param {Event} e */
function happened(e) {
  const text = e.kind === "operated" ? term("action", e.what)
    : e.kind === "skipped" || e.kind === "made up" ? term("missed", e.kind === "made up" ? e.kind : e.what)
      : e.kind === "recovered" && e.what === "failover" ? w("history.failover")
        : e.kind === "fault" ? w("history.fault", { kind: term("fault", e.what) }) : term("event", e.kind);
  const shown = badge(e.over ? "good" : looks[e.kind] ?? "off", [text, e.over ? " " + w("history.over") : null]);
  return e.kind === "fault" && e.what ? h("a", manual("reference/faults", e.what), shown) : shown;
}

/** @param {Event} e */
function detail(e) {
  /** @type {View[]} */
  const parts = [
    e.tick ? [w("history.tickOf"), " ", at(e.tick)] : null,
    e.ticks && e.ticks > 1 ? w(e.kind === "missed" ? "history.dropped" : "history.ticks", { n: e.ticks }) : null,
    e.kind === "recovered" && e.from ? [w("history.fromInstance"), " ", instanceName(e.from)] : null,
    ["session", "commanded", "configured"].includes(e.kind) && e.what ? (has("event", e.what) ? term("event", e.what) : e.what) : null,
    e.detail?.slice(0, 300), e.error?.slice(0, 300), e.why ? "“" + e.why + "”" : null,
    [e.before, e.after].some((t) => t && t.length <= 120) ? [e.before?.slice(0, 120), e.after ? " → " + e.after.slice(0, 120) : null] : null,
  ].filter(Boolean);
  return parts.map((p) => h("span", { class: "history-part" }, p));
}
