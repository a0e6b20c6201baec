// The last day as a strip: a row for all jobs and for each of the worst, a cell for each hour.
import { h } from "./dom.js";
import { inNamespace } from "./facts.js";
import { failures } from "./execution.js";
import { clock } from "./time.js";
import { number, w } from "./words.js";

/** @typedef {import("./overview-day.js").Day} Day */
/** @typedef {import("./overview-day.js").Row} Row */
/** @typedef {import("./overview-day.js").Hour} Hour */

const hour = 3600e3;

/** How bad an hour is, by the share of its executions that failed: 0 to 4. @param {Hour} c */
function levelOf(c) {
  if (!c.failed) return 0;
  const share = c.failed / Math.max(c.executions, c.failed);
  return share < 0.05 ? 1 : share < 0.2 ? 2 : share < 0.5 ? 3 : 4;
}

/** @param {Day} d */
export function strip(d) {
  if (!d.rows.length) return about(d);
  const all = d.rows.find((r) => r.job === "");
  return h("div", { class: "strip-day" },
    h("table", { class: "strip", onkeydown: move },
      h("caption", { class: "unseen" }, all ? w("overview.dayText", { n: all.executions, failed: all.failed, missed: all.missed }) : w("overview.day"), " ", w("overview.dayKeys")),
      h("thead", null, h("tr", null,
        h("th", { scope: "col" }, w("overview.job")),
        d.starts.map((t, i) => h("th", { scope: "col", class: "hour" }, h("span", { class: i % 3 ? "unseen" : null }, clock(t)))),
        h("th", { scope: "col", class: "num" }, w("overview.failed")),
        h("th", { scope: "col", class: "num" }, w("overview.missed")))),
      h("tbody", null, d.rows.map((r, i) => row(r, d.starts, i === 0)))),
    h("p", { class: "hint strip-two" }, w("overview.twoRows", { first: clock(d.starts[0]), second: clock(d.starts[12]) })),
    about(d),
    legend());
}

/** What the rows are not. @param {Day} d */
function about(d) {
  const shown = d.rows.filter((r) => r.job).length;
  const hasAll = shown < d.rows.length;
  const text = hasAll && d.bad === 0 ? w("overview.dayGood")
    : !hasAll ? (d.more ? w("overview.daySome") : shown ? "" : w("overview.dayGoodSome"))
      : d.more ? w("overview.dayMoreAtLeast", { n: shown, all: d.bad })
        : d.bad > shown ? w("overview.dayMore", { n: shown, all: d.bad }) : "";
  return text ? h("p", { class: "hint" }, text) : null;
}

/** @param {Row} r @param {number[]} starts @param {boolean} isFirst */
function row(r, starts, isFirst) {
  const first = isFirst ? r.hours.findIndex((c) => c.executions + c.missed > 0) : -1;
  return h("tr", { key: r.job, class: r.job ? null : "all" },
    h("th", { scope: "row" }, r.job ? h("a", { href: inNamespace(["jobs", r.job]) }, r.job) : w("overview.allJobs")),
    r.hours.map((c, i) => h("td", { class: "cell" }, cell(r.job, c, starts[i], i === first))),
    h("td", { class: "num", "data-name": w("overview.failed") }, total(r, "failed", starts[0])),
    h("td", { class: "num", "data-name": w("overview.missed") }, total(r, "missed", starts[0])));
}

/** @param {string} job @param {Hour} c @param {number} start @param {boolean} isFirst one cell of all is on the way of Tab */
function cell(job, c, start, isFirst) {
  const values = { from: clock(start), to: clock(start + hour), n: c.executions, failed: c.failed, missed: c.missed };
  const text = c.executions + c.missed === 0 ? w("overview.hourNone", values) : w("overview.hour", values) + (c.missed ? " " + w("overview.hourMissed", values) : "");
  const kind = `${c.executions ? "l" + levelOf(c) : "none"}${c.missed ? " missed" : ""}`;
  if (c.executions + c.missed === 0) return h("span", { class: kind, title: text }, h("span", { class: "unseen" }, text));
  const shown = c.failed ? (c.failed < 1000 ? number(c.failed) : Math.floor(c.failed / 1000) + "k") : c.missed ? "!" : "";
  return h("a", { class: kind, href: there(job, c.failed > 0 ? "failed" : c.missed ? "missed" : "", start, start + hour), title: text, "aria-label": text, tabindex: isFirst ? 0 : -1 }, h("span", { "aria-hidden": "true" }, shown));
}

/** @param {Row} r @param {"failed" | "missed"} what @param {number} from */
function total(r, what, from) {
  if (!r[what]) return h("span", { class: "soft" }, "0");
  return h("a", { href: there(r.job, what, from), "aria-label": `${r.job || w("overview.allJobs")}: ${what === "failed" ? w("overview.failed") : w("overview.missed")} ${r[what]}` }, number(r[what]));
}

/**
 * The history of what a cell counts.
 * @param {string} job @param {string} what @param {number} from @param {number} [to]
 */
function there(job, what, from, to) {
  const time = { job, from: new Date(from).toISOString(), to: to && new Date(to).toISOString() };
  if (what === "missed") return inNamespace(["history"], { ...time, tab: "events", kinds: "made up,skipped" });
  return inNamespace(["history"], { ...time, outcomes: what ? failures.join(",") : "" });
}

function legend() {
  const sign = (/** @type {string} */ kind, /** @type {string} */ text, shown = "") => h("span", null, h("span", { class: "swatch " + kind, "aria-hidden": "true" }, shown), text);
  return h("p", { class: "strip-legend soft", "aria-hidden": "true" },
    sign("none", w("overview.keyNone")), sign("l0", w("overview.keyGood")),
    sign("l1", "< 5 %"), sign("l2", "< 20 %"), sign("l3", "< 50 %"), sign("l4", w("overview.keyBad")), sign("l0 missed", w("overview.keyMissed"), "!"));
}

/** Arrow keys go from hour to hour: the strip is one stop on the way of Tab. @param {KeyboardEvent} e */
function move(e) {
  const here = /** @type {HTMLElement} */ (e.target);
  const td = /** @type {HTMLTableCellElement | null} */ (here.closest("td.cell"));
  const table = /** @type {HTMLTableElement} */ (e.currentTarget);
  const steps = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] });
  const step = steps[e.key];
  if (!td || !step) return;
  e.preventDefault();
  const lines = [...table.tBodies[0].rows];
  let line = lines.indexOf(/** @type {HTMLTableRowElement} */ (td.parentElement));
  let column = td.cellIndex;
  for (;;) {
    line += step[0];
    column += step[1];
    const next = lines[line]?.cells[column];
    if (!next?.classList.contains("cell")) return;
    const link = /** @type {HTMLElement | null} */ (next.querySelector("a"));
    if (!link) continue;
    link.focus();
    return;
  }
}
