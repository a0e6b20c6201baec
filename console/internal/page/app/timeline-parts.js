// What stands around the drawing of a timeline: its tools, the legend, the facts of an execution, and all of it as a table.
import { h } from "./dom.js";
import { punctual } from "./execution.js";
import { inNamespace } from "./facts.js";
import { choice } from "./form.js";
import { ownerName } from "./owner.js";
import { causeLegend } from "./timeline-causes.js";
import { spans } from "./timeline-scale.js";
import { table } from "./table.js";
import { lasting, whenFull } from "./time.js";
import { at, button, state } from "./ui.js";
import { term, w } from "./words.js";

/**
 * @typedef {import("./timeline-runs.js").Run} Run
 * @typedef {import("./timeline-paint.js").By} By
 * @typedef {import("./dom.js").View} View
 */

/** The link to an execution. @param {string} id */
export const runLink = (id) => inNamespace(["history", id]);

/**
 * @param {{
 *   length: number, isNow: boolean, by: By, asTable: boolean,
 *   span: (name: string) => void, zoom: (factor: number) => void, pan: (part: number) => void, now: () => void, colour: (by: By) => void, turn: () => void,
 * }} o
 */
export function toolbar(o) {
  return h("div", { class: "timeline-tools" },
    spanButtons(o.length, Object.keys(spans), o.span),
    h("div", { class: "joined" },
      button("−", () => o.zoom(2), { label: w("timeline.out"), title: w("timeline.out") }), button("+", () => o.zoom(0.5), { label: w("timeline.in"), title: w("timeline.in") })),
    h("div", { class: "joined" },
      button("‹", () => o.pan(-0.5), { label: w("timeline.earlier"), title: w("timeline.earlier") }),
      h("button", { type: "button", "aria-pressed": String(o.isNow), onclick: o.now }, w("timeline.now")),
      button("›", () => o.pan(0.5), { label: w("timeline.later"), title: w("timeline.later") })),
    h("div", { class: "colour" }, choice({
      label: w("timeline.colour"), id: "timeline-colour", value: o.by, change: (v) => o.colour(/** @type {By} */ (v)),
      options: [["owner", w("timeline.owner")], ["outcome", w("timeline.outcome")], ["source", w("timeline.source")]],
    })),
    h("button", { type: "button", "aria-pressed": String(o.asTable), onclick: o.turn }, w("timeline.asTable")));
}

/** @param {number} length that is shown @param {string[]} names of spans @param {(name: string) => void} choose */
export function spanButtons(length, names, choose) {
  return h("div", { class: "joined", role: "group", "aria-label": w("timeline.span") }, names.map((name) => h("button", {
    type: "button", key: name, "aria-pressed": String(Math.abs(length - spans[name]) < 1), onclick: () => choose(name),
  }, lasting(spans[name] / 1000))));
}

/** @param {Map<string, string>} colours by the names of what has them @param {import("./timeline-draw.js").LaneName[]} lanes @param {import("./timeline-causes.js").Band[]} bands */
export function legend(colours, lanes, bands) {
  const shown = [...colours].slice(0, 12);
  return h("ul", { class: "timeline-legend", "aria-label": w("timeline.legend") },
    shown.map(([name, colour]) => h("li", { key: name }, h("span", { class: "timeline-sign", style: { background: colour } }), name)),
    colours.size > shown.length ? h("li", { key: "more" }, w("timeline.moreColours", { n: colours.size - shown.length })) : null,
    [["failed", w("timeline.failed")], ["again", term("source", "FAILOVER")], ["late", w("timeline.late")], ["missed", w("timeline.missed")], ["overdue", w("timeline.overdue")], ["next", w("timeline.next")]].map(([sign, text]) =>
      h("li", { key: "sign " + sign }, h("span", { class: "timeline-sign sign-" + sign }), text)),
    causeLegend(bands),
    lanes.some((l) => l.isOff) ? h("li", { key: "off" }, "⊘ ", term("status", "DISABLED")) : null,
    lanes.some((l) => l.isAlone) ? h("li", { key: "alone" }, h("strong", null, "!"), " ", w("timeline.alone")) : null);
}

/** How late an execution began, in seconds, where that says something. @param {Run} r */
export function lateness(r) {
  return punctual.includes(r.source) && !Number.isNaN(r.tick) ? (r.begin - r.tick) / 1000 : undefined;
}

/** @param {Run} r @param {number} now */
const took = (r, now) => (r.end < Infinity ? lasting((r.end - r.begin) / 1000) : r.outcome === "RUNNING" ? lasting(Math.max(now - r.begin, 0) / 1000) : "–");

/** The facts of an execution. @param {Run} r @param {number} others @param {string | undefined} error @param {number} now */
export function runFacts(r, others, error, now) {
  const late = lateness(r);
  /** @type {[string, View][]} */
  const rows = [
    [w("timeline.tick"), Number.isNaN(r.tick) ? "–" : whenFull(r.tick)],
    [w("timeline.begun"), whenFull(r.begin) + (late !== undefined && late >= 0.5 ? ` (${w("timeline.lateBy", { time: lasting(late) })})` : "")],
    [w("timeline.took"), took(r, now)],
    [w("timeline.source"), r.source ? term("source", r.source) : "–"],
    [w("timeline.owner"), ownerName(r.owner)],
  ];
  return [
    h("p", { class: "head" }, h("strong", null, w("timeline.itemN", { n: r.item })), " ", state("outcome", r.outcome)),
    h("dl", null, rows.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
    error ? h("p", { class: "error" }, error.slice(0, 200)) : null,
    others > 0 ? h("p", { class: "hint" }, w("timeline.others", { n: others })) : null,
  ];
}

/** The same in one line, for who hears it. @param {Run} r @param {number} now */
export function runText(r, now) {
  const parts = [w("timeline.itemN", { n: r.item }), term("outcome", r.outcome), whenFull(r.begin), took(r, now), r.source ? term("source", r.source) : "", ownerName(r.owner)];
  return parts.filter(Boolean).join(", ");
}

/** The facts of missed ticks. @param {import("./timeline-draw.js").Missed} m */
export function missedFacts(m) {
  return [
    h("p", { class: "head" }, h("strong", null, w("timeline.itemN", { n: m.item })), " ", m.ticks ? w("timeline.missedN", { n: m.ticks }) : w("timeline.overdue")),
    h("p", null, whenFull(m.tick)),
    m.why ? h("p", { class: "hint" }, term("missed", m.why)) : null,
  ];
}

/**
 * The executions of the span as a table, the newest first.
 * @param {Run[]} runs the newest first, not more than are to be seen @param {number} count how many there are @param {() => void} more @param {number} now
 */
export function runTable(runs, count, more, now) {
  return h("div", null,
    table({
      label: w("timeline.table"), rows: runs, key: (r) => r.id, empty: h("p", { class: "empty" }, w("timeline.none")),
      columns: [
        { name: "item", text: w("timeline.item"), cell: (r) => h("a", { href: runLink(r.id) }, w("timeline.itemN", { n: r.item })) },
        { name: "outcome", text: w("timeline.outcome"), cell: (r) => state("outcome", r.outcome) },
        { name: "tick", text: w("timeline.tick"), cell: (r) => (Number.isNaN(r.tick) ? "–" : at(new Date(r.tick).toISOString())) },
        { name: "begun", text: w("timeline.begun"), cell: (r) => at(new Date(r.begin).toISOString()) },
        { name: "late", text: w("timeline.lateness"), num: true, cell: (r) => { const late = lateness(r); return late === undefined ? "–" : lasting(late); } },
        { name: "took", text: w("timeline.took"), num: true, cell: (r) => took(r, now) },
        { name: "source", text: w("timeline.source"), cell: (r) => (r.source ? term("source", r.source) : "–") },
        { name: "owner", text: w("timeline.owner"), cell: (r) => ownerName(r.owner) },
      ],
    }),
    count > runs.length ? h("p", null, button(w("ui.more"), more), " ", h("span", { class: "soft" }, w("timeline.ofAll", { shown: runs.length, n: count }))) : null);
}
