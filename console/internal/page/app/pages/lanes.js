// The timeline of all jobs: a lane for each, with its runs, failures and missed ticks; those with such first.
import { ask } from "../api.js";
import { h } from "../dom.js";
import { facts, inNamespace, namespace } from "../facts.js";
import { choice } from "../form.js";
import { page } from "../frame.js";
import { hostNow } from "../hosttime.js";
import { filterView } from "../jobs-filter.js";
import { countsOf, filterOf, lister } from "../jobs-list.js";
import { status } from "../jobs-row.js";
import { followJobs } from "../jobs-store.js";
import { drawCells, forgetColours } from "../lanes-draw.js";
import { arrange, groups } from "../lanes-list.js";
import { poll } from "../poll.js";
import { onWayBack, query, setQuery } from "../query.js";
import { onColours } from "../timeline-paint.js";
import { spanButtons } from "../timeline-parts.js";
import { axis, spans } from "../timeline-scale.js";
import { lasting, whenFull } from "../time.js";
import { empty, note, problem } from "../ui.js";
import { windowTable } from "../window-table.js";
import { number, w } from "../words.js";

/**
 * @typedef {import("../types/api").LanesInfo} LanesInfo
 * @typedef {import("../lanes-list.js").Lane} Lane
 * @typedef {import("../lanes-list.js").Group} Group
 */

/** Those with failures and gaps first. @type {import("../table.js").Order} */
const worst = { by: "bad", down: true };

let order = worst;
let filter = filterOf(query());
/** @type {LanesInfo | undefined} */ let lanes;
/** @type {Map<string, import("../types/api").LaneInfo>} */ let known = new Map();
/** @type {unknown} */ let error;
const list = lister();
let counts = countsOf(new Map());
const store = followJobs(() => {
  counts = countsOf(store.jobs);
  again();
});

/** @returns {[string, number]} the name and length of the time that is shown */
function span() {
  const name = query().span in spans && query().span !== "15m" ? query().span : "24h";
  return [name, spans[name]];
}

async function load() {
  const [name, length] = span();
  const to = hostNow();
  try {
    const found = await ask("GET /namespaces/{namespace}/history/lanes", { namespace, from: new Date(to - length).toISOString(), to: new Date(to).toISOString() });
    if (name !== span()[0]) return; // polling asks for another time as soon as this is over
    lanes = found;
    known = new Map(found.jobs.map((j) => [j.job, j]));
    error = undefined;
  } catch (e) {
    error = e;
  }
  again();
  paint();
  if (error) throw error;
}
const polling = poll(load, 60);

/** The time that the lanes show. */
function shown() {
  const from = Date.parse(lanes?.from ?? "") || 0;
  return { from, to: from + (lanes?.jobs[0]?.cells.length ?? 0) * (lanes?.step ?? 0) * 1000 };
}

/** The timeline of a job around a time; without one, where it last failed or missed a tick. @param {Lane} l @param {number} [at] */
function there(l, at) {
  const last = Math.max(...["f", "m", "x"].map((letter) => l.cells.lastIndexOf(letter)));
  const { from, to } = shown();
  const time = at ?? (last < 0 ? undefined : from + ((last + 0.5) / l.cells.length) * (to - from));
  const [name, length] = span()[1] > spans["1h"] ? ["1h", spans["1h"]] : ["15m", spans["15m"]];
  const until = time === undefined ? Infinity : time + length / 2;
  return inNamespace(["jobs", l.name], { span: name, until: until < hostNow() ? new Date(until).toISOString() : undefined });
}

/** @param {Lane} l */
function lane(l) {
  const text = w("lanes.lane", { job: l.name, n: l.executions, failed: l.failed, missed: l.missed });
  return h("a", {
    href: there(l), class: "lane", "aria-label": text, title: text,
    onclick: (/** @type {MouseEvent} */ e) => {
      if (e.detail === 0) return; // by a key
      const a = /** @type {HTMLAnchorElement} */ (e.currentTarget);
      const { left, width } = a.getBoundingClientRect();
      const { from, to } = shown();
      a.href = there(l, from + ((e.clientX - left) / width) * (to - from));
    },
  }, h("canvas", { "aria-hidden": "true", "data-job": l.name, made: (/** @type {HTMLCanvasElement} */ el) => queueMicrotask(() => drawCells(el, known.get(l.name)?.cells ?? "")) }));
}

function paint() {
  for (const el of document.querySelectorAll("canvas[data-job]")) {
    const canvas = /** @type {HTMLCanvasElement} */ (el);
    drawCells(canvas, known.get(canvas.dataset.job ?? "")?.cells ?? "");
  }
}

/** The hours above the lanes. */
function hours() {
  const { from, to } = shown();
  return [
    h("span", { class: "unseen" }, w("lanes.time", { from: whenFull(from), to: whenFull(to) })),
    h("span", { class: "hours", "aria-hidden": "true" }, axis({ from, to: Math.max(to, from + 1) }, 8).filter((m) => m.time < to - (to - from) / 16).map((m) => h("span", { key: m.time, style: { left: ((m.time - from) / (to - from)) * 100 + "%" } }, m.text))),
  ];
}

/** What a group is called, with the way to its jobs. @param {Group} g */
function groupName(g) {
  const filter = groupBy() === "label" ? { label: g.group } : { search: g.group };
  return h("a", { href: inNamespace(["jobs"], filter), class: "name", title: g.group }, g.group || w("lanes.noGroup"), " ", h("span", { class: "soft" }, w("lanes.jobs", { n: g.lanes.length })));
}

/** By what jobs are grouped: by labels, if there are any and nobody wants something else. */
function groupBy() {
  return query().group ?? (counts.labels.length ? "label" : "");
}

const isGroup = (/** @type {Lane | Group} */ row) => "group" in row;
/** @type {import("../window-table.js").WindowColumn<Lane | Group>[]} */
const columns = [
  {
    name: "name", text: w("jobs.name"), sort: true,
    cell: (row) => ("group" in row ? groupName(row) : h("a", { href: inNamespace(["jobs", row.name]), class: "name", title: row.name }, row.name)),
  },
  { name: "lane", text: w("lanes.runs"), head: hours, cell: (row) => ("group" in row ? null : lane(row)) },
  { name: "failed", text: w("overview.failed"), num: true, sort: true, cell: (row) => h("span", { class: row.failed ? "bad" : "soft" }, number(row.failed)) },
  { name: "missed", text: w("overview.missed"), num: true, sort: true, cell: (row) => h("span", { class: row.missed ? "warn" : "soft" }, number(row.missed)) },
  { name: "status", text: w("jobs.status"), cell: (row) => ("group" in row ? null : status(row.job)) },
];
const table = windowTable({
  label: w("lanes.list"), columns, key: (row) => ("group" in row ? "group " + row.group : "job " + row.name), again: () => again(), order: () => order,
  turn: (wanted) => {
    order = wanted.by !== order.by ? { by: wanted.by, down: wanted.by !== "name" } : wanted.down === (wanted.by === "name") ? wanted : worst;
    again();
  },
  rowClass: (row) => (isGroup(row) ? "group" : null),
});

/** @param {Record<string, string>} some */
function change(some) {
  filter = filterOf({ ...filter, ...some });
  setQuery(some);
  again();
}

function legend() {
  const [o, f, m] = [["ran", w("lanes.ran")], ["failed", w("lanes.failed")], ["missed", w("timeline.missed")]].map(([sign, text]) => h("li", null, h("span", { class: "timeline-sign sign-" + sign }), text));
  const step = lanes?.step ?? 0;
  return h("ul", { class: "timeline-legend", "aria-label": w("timeline.legend") }, o, f, m, lanes ? h("li", null, w("lanes.cell", { time: lasting(step) }), step >= 900 ? " " + w("lanes.counted") : "") : null);
}

function view() {
  if (!facts.databases?.[namespace]) return empty(w("lanes.noHistory"), h("a", { href: inNamespace(["jobs"]) }, w("nav.jobs")));
  if (error && !lanes) return problem(error, () => polling.now());
  const by = groupBy();
  const rows = lanes ? arrange(list(store.jobs, filter, { by: "name", down: false }), known, order, by) : [];
  return h("section", { class: "block jobs lanes", "aria-label": w("lanes.list") },
    h("div", { class: "timeline-tools" }, spanButtons(span()[1], Object.keys(spans).slice(1), (name) => {
      setQuery({ span: name });
      polling.now();
      again();
    }), choice({
      id: "group", label: w("lanes.group"), value: by in groups ? by : "", options: [["", w("lanes.noGroups")], ["label", w("lanes.label")], ["prefix", w("lanes.prefix")]],
      change: (group) => {
        setQuery({ group: group || "none" });
        again();
      },
    })),
    filterView(counts, filter, change, null),
    error ? problem(error) : null,
    lanes?.more ? note("warn", w("lanes.more")) : null,
    !lanes || !store.whole ? h("p", { class: "waiting" }, w("ui.loading")) : rows.length ? table(rows) : empty(w("jobs.noHits")),
    legend());
}

const again = page(view);
onWayBack(() => {
  filter = filterOf(query());
  polling.now();
  again();
});
onColours(() => {
  forgetColours();
  paint();
});
addEventListener("resize", paint);
if (facts.databases?.[namespace]) polling.now();
