// Charts of the history: how many have run, how long they took, and how late they began.
import { Charts, hatch } from "./chart.js";
import { durationMarks, linear, logarithmic, numberMarks, powerMarks, timeMarks } from "./chart-scale.js";
import { byTime, histogram, quantile } from "./chart-stats.js";
import { h } from "./dom.js";
import { inNamespace } from "./facts.js";
import { check } from "./form.js";
import { figures, load } from "./history-data.js";
import { query, setQuery } from "./query.js";
import { lasting, whenFull } from "./time.js";
import { at, empty, note, pairs, section } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./dom.js").View} View */
/** @typedef {import("./history-data.js").Data} Data */
/** @typedef {import("./history-data.js").Values} Values */

const shares = /** @type {const} */ (["p50", "p95", "p99"]);
const time = (/** @type {number} */ ms) => lasting(ms / 1000);

/** Where the executions of a time are listed. @param {number} from @param {number} to */
const listOf = (from, to) => inNamespace(["history"], { ...query(), tab: "", span: "", log: "", from: new Date(from).toISOString(), to: new Date(to).toISOString() });

export class HistoryCharts {
  /** @type {Data | undefined} */ data;
  /** Charts that were made of the data, by their names. @type {Map<string, import("./chart.js").Chart>} */ #made = new Map();

  /** @param {() => void} again */
  constructor(again) {
    this.again = again;
    this.charts = new Charts(again);
  }

  async load() {
    const address = location.search;
    const data = await load(query());
    if (address !== location.search) return;
    this.data = data;
    this.#made.clear();
  }

  clear() {
    this.data = undefined;
    this.#made.clear();
  }

  /** It is drawn whenever somebody points at something else, so it is made of the data once. @param {string} name @param {() => import("./chart.js").Chart} make */
  #chart(name, make) {
    const chart = this.#made.get(name) ?? make();
    this.#made.set(name, chart);
    return this.charts.view(chart);
  }

  /** @returns {View} */
  view() {
    const d = this.data;
    if (!d) return h("p", { class: "waiting" }, w("ui.loading"));
    const names = d.ignored.map((name) => ({ items: w("history.items"), source: w("history.source"), instance: w("history.instance"), address: w("history.address"), request: w("history.request") })[name]);
    return [
      names.length ? note("warn", w("history.ignored", { names: names.join(", ") })) : null,
      section(perStep(d), {}, this.#chart("counts", () => counts(d))),
      d.durations && d.lateness ? [
        this.#values("durations", w("history.durations"), d, d.durations, true),
        this.#values("lateness", w("history.lateness"), d, d.lateness, false),
      ].flat() : ofAll(d),
    ].flat();
  }

  /** @param {string} name @param {string} title @param {Data} d @param {Values} v @param {boolean} hasChoice */
  #values(name, title, d, v, hasChoice) {
    const isLog = query().log === "1";
    const turn = (/** @type {boolean} */ on) => {
      setQuery({ log: on ? "1" : "" });
      this.#made.clear();
      this.again();
    };
    const f = figures(v);
    return section(title, { class: "chart-figures", tools: hasChoice ? check({ id: "log", label: w("history.log"), value: isLog, change: turn }) : null },
      v.sorted.length ? [
        pairs([[w("history.runs"), number(f.n)], ...shares.map((s) => /** @type {[View, View]} */ ([s, time(f[s])])), [w("history.longest"), time(f.max)]]),
        h("div", { class: "chart-row" }, this.#chart(name + "-time", () => overTime(name, title, d, v, isLog)), this.#chart(name + "-often", () => howOften(name, title, v))),
        d.left && hasChoice ? h("p", { class: "hint" }, w("history.left", { n: f.n, since: whenFull(d.from) })) : null,
      ] : empty(w("history.noValues")));
  }
}

/** @param {Data} d */
function ofAll(d) {
  const a = d.all;
  if (!a) return null;
  const s = (/** @type {number} */ seconds) => lasting(seconds);
  return section(w("history.durations"), { class: "chart-figures" },
    a.executions ? pairs([[w("history.runs"), number(a.executions)], ["p50", s(a.p50Seconds)], ["p95", s(a.p95Seconds)], ["p99", s(a.p99Seconds)], [w("history.longest"), s(a.maxSeconds)], [w("history.since"), at(a.since)]]) : empty(w("history.noValues")),
    h("p", { class: "hint" }, a.all ? null : w("history.newest", { n: a.executions }) + " ", w("history.jobForCharts")));
}

const kinds = /** @type {const} */ (["ok", "other", "failed", "missed"]);
/** @type {Record<typeof kinds[number], () => string>} */
const kindTexts = { ok: () => w("history.ok"), other: () => w("history.other"), failed: () => w("history.failures"), missed: () => w("history.missed") };

/** @param {Data} d */
function perStep(d) {
  return d.length > 3600e3 ? w("history.perDay") : d.length === 3600e3 ? w("history.perHour") : d.length === 60e3 ? w("history.perMinute") : w("history.perMinutes", { n: d.length / 60e3 });
}

/** @param {Data} d @returns {import("./chart.js").Chart} */
function counts(d) {
  const sum = (/** @type {typeof kinds[number]} */ kind) => d.steps.reduce((n, s) => n + s[kind], 0);
  const there = kinds.filter((kind) => kind === "ok" || sum(kind) > 0);
  const textOf = (/** @type {Record<typeof kinds[number], number>} */ s) => there.map((kind) => `${kindTexts[kind]()}: ${number(s[kind])}`).join(", ");
  const label = perStep(d);
  return {
    name: "counts", label, from: d.steps[0].from, to: d.steps[d.steps.length - 1].to,
    summary: textOf({ ok: sum("ok"), other: sum("other"), failed: sum("failed"), missed: sum("missed") }),
    marks: (n) => timeMarks(d.steps[0].from, d.to, n), sides: numberMarks(Math.max(...d.steps.map((s) => s.ok + s.other + s.failed + s.missed)), 4),
    heads: [w("history.begun"), ...there.map((kind) => kindTexts[kind]())],
    slots: d.steps.map((s) => ({ from: s.from, to: s.to, text: `${whenFull(s.from)} · ${textOf(s)}`, cells: [whenFull(s.from), ...there.map((kind) => number(s[kind]))], href: listOf(s.from, s.to) })),
    legend: there.map((kind) => h("span", null, h("span", { class: "key " + kind }), kindTexts[kind]())),
    draw: (x, y) => [hatch("hatch-failed", "failed"), d.steps.map((s) => {
      const width = x(s.to) - x(s.from);
      const gap = width > 8 ? 2 : width > 3 ? 1 : 0;
      let below = 0;
      return there.filter((kind) => s[kind]).map((kind) => {
        const [from, to] = [below, (below += s[kind])];
        return h("rect", { class: "bar " + kind, fill: kind === "failed" ? "url(#hatch-failed)" : null, x: x(s.from) + gap / 2, width: width - gap, y: y(to), height: Math.max(1, y(from) - y(to)) });
      });
    })].flat(2),
  };
}

/** @param {string} name @param {string} title @param {Data} d @param {Values} v @param {boolean} isLog @returns {import("./chart.js").Chart} */
function overTime(name, title, d, v, isLog) {
  const { from, to } = d;
  const slots = byTime(v.points, from, Math.max(to, from + 1000), Math.max(12, Math.min(96, Math.round(v.points.length / 5))));
  const there = slots.filter((s) => s.n);
  const max = Math.max(...there.map((s) => s.p99), 1);
  const label = w("history.overTime", { what: title });
  return {
    name: name + "-time", label, from, to: slots[slots.length - 1].to, marks: (n) => timeMarks(from, to, n),
    sides: isLog ? powerMarks(Math.min(...there.map((s) => s.p50)), max) : durationMarks(max, 4), scale: isLog ? logarithmic : linear,
    summary: shares.map((s) => `${s} ${time(quantile(v.sorted, Number(s.slice(1)) / 100))}`).join(", "),
    heads: [w("history.begun"), w("history.runs"), ...shares, w("history.longest")],
    slots: slots.map((s) => ({
      from: s.from, to: s.to, href: s.n ? listOf(s.from, s.to) : undefined,
      text: s.n ? w("history.slot", { time: whenFull(s.from), n: s.n, p50: time(s.p50), p95: time(s.p95), p99: time(s.p99), max: time(s.max) }) : `${whenFull(s.from)} · ${w("history.noRuns")}`,
      cells: [whenFull(s.from), number(s.n), ...(s.n ? [s.p50, s.p95, s.p99, s.max].map(time) : ["–", "–", "–", "–"])],
    })),
    legend: shares.map((s) => h("span", null, h("span", { class: "key line " + s }), s)),
    draw: (x, y) => shares.map((share) => {
      const places = there.map((s) => [x((s.from + s.to) / 2).toFixed(1), y(s[share]).toFixed(1)]);
      return [
        h("polyline", { class: "curve " + share, points: places.map((p) => p.join()).join(" ") }),
        ...(there.length <= 40 ? places.map(([cx, cy]) => h("circle", { class: "dot " + share, cx, cy, r: 2.5 })) : []),
      ];
    }).flat(),
  };
}

/** @param {string} name @param {string} title @param {Values} v @returns {import("./chart.js").Chart} */
function howOften(name, title, v) {
  const count = 24;
  const { bins, isLogarithmic } = histogram(v.sorted, count);
  const [low, high] = [bins[0].to, bins[count - 1].to];
  // Places on the axis are numbers of bins.
  const inLog = (/** @type {number} */ value) => 1 + ((count - 1) * Math.log(Math.max(value, low) / low)) / Math.log(high / low);
  const place = (/** @type {number} */ value) => (isLogarithmic ? (value <= low ? value / low : inLog(value)) : (value / high) * count);
  return {
    name: name + "-often", label: w("history.howOften", { what: title }), from: 0, to: count,
    marks: (n) => (isLogarithmic ? powerMarks(low, high) : durationMarks(high, Math.min(n, 4))).map((m) => ({ at: place(m.at), text: m.text })).filter((m) => m.at <= count),
    sides: numberMarks(Math.max(...bins.map((b) => b.n)), 4), heads: [w("history.upTo"), w("history.runs")],
    summary: shares.map((s) => `${s} ${time(quantile(v.sorted, Number(s.slice(1)) / 100))}`).join(", "),
    slots: bins.map((b, i) => ({ from: i, to: i + 1, text: w("history.bin", { from: time(b.from), to: time(b.to), n: b.n }), cells: [time(b.to), number(b.n)] })),
    legend: shares.map((s) => h("span", null, h("span", { class: "key line " + s }), s)),
    draw: (x, y) => [
      ...bins.map((b, i) => (b.n ? h("rect", { class: "bar ok", x: x(i) + 1, width: x(i + 1) - x(i) - 2, y: y(b.n), height: Math.max(1, y(0) - y(b.n)) }) : null)),
      ...shares.map((s) => {
        const at = x(place(quantile(v.sorted, Number(s.slice(1)) / 100)));
        return h("line", { class: "curve " + s, x1: at, x2: at, y1: 8, y2: y(0) });
      }),
    ],
  };
}
