// What the charts of the history show, for the filters of the address.
import { ask } from "./api.js";
import { figuresOf } from "./chart-stats.js";
import { isFailure, punctual } from "./execution.js";
import { namespace } from "./facts.js";
import { executionsOf } from "./history-filter.js";
import { midnight, zoneNow } from "./time.js";

/** @typedef {{from: number, to: number, ok: number, failed: number, other: number, missed: number}} Step */
/** @typedef {{time: number, value: number}} Point */
/** @typedef {{points: Point[], sorted: number[]}} Values */
/**
 * @typedef {{
 *   steps: Step[], length: number, from: number, to: number, durations?: Values, lateness?: Values, left: boolean,
 *   all?: import("./types/api").DurationsInfo, ignored: string[],
 * }} Data length: of a step, in ms; left: older ones are left out; all: figures of all jobs, if none is chosen; ignored: filters that do not count
 */

const minute = 60e3;
const hour = 60 * minute;
const day = 24 * hour;
const most = 20000; // executions
const timeZone = zoneNow();
const special = ["items", "source", "instance", "address", "request"];

/**
 * @param {Record<string, string>} q
 * @returns {Promise<Data>}
 */
export async function load(q) {
  const wanted = executionsOf(q);
  const { job } = wanted;
  const until = wanted.to ? Date.parse(wanted.to) : Date.now();
  // The API counts 1,000 days at most.
  const since = Math.max(wanted.from ? Date.parse(wanted.from) : await firstDay(job, until), until - 990 * day);
  let length = until - since > 3 * day ? day : hour;
  let steps = stepsOf(since, until, length);
  const counted = { namespace, job, from: iso(steps[0].from), to: iso(until + hour / 4), step: /** @type {"day" | "hour"} */ (length === day ? "day" : "hour"), timeZone };
  const isShort = job && until - since <= 6 * hour;
  const [counts, missed, ticks, columns, all] = await Promise.all([
    ask("GET /namespaces/{namespace}/history/counts", counted), ask("GET /namespaces/{namespace}/history/missed", counted),
    isShort ? ask("GET /namespaces/{namespace}/history/events", { namespace, job, from: iso(since), to: iso(until), kinds: ["made up", "skipped"], limit: 200 }) : undefined,
    job ? ask("GET /namespaces/{namespace}/history/columns", { namespace, job, from: wanted.from ?? "2000-01-01T00:00:00Z", to: wanted.to ?? iso(until + hour), limit: most }) : undefined,
    job ? undefined : ask("GET /namespaces/{namespace}/history/durations", { namespace, from: wanted.from, to: wanted.to }),
  ]);
  // The API counts by hours and days; what is shorter is counted here, if all of it is here.
  const isFine = isShort && !columns?.more && !ticks?.next;
  if (isFine) {
    length = until - since <= hour ? minute : 5 * minute;
    steps = stepsOf(since, until, length);
  }
  const ignored = special.filter((name) => q[name] && (!job || ["address", "request"].includes(name)));
  /** @type {Data} */
  const data = { steps, length, from: since, to: until, left: columns?.more ?? false, all, ignored };
  const isSpecial = special.some((name) => q[name] && !ignored.includes(name));
  const chosen = wanted.outcomes ?? [];
  const add = (/** @type {number} */ time, /** @type {string} */ outcome, /** @type {number} */ n) => {
    const step = stepAt(steps, time);
    if (!step || outcome === "RUNNING" || (chosen.length && !chosen.some((o) => o === outcome))) return;
    step[outcome === "OK" ? "ok" : isFailure(outcome) ? "failed" : "other"] += n;
  };
  if (columns) {
    const { durations, lateness, ended } = pick(columns, wanted);
    if (isSpecial || isFine) for (const e of ended) add(e.time, e.outcome, 1);
    Object.assign(data, { durations: valuesOf(durations), lateness: valuesOf(lateness), from: wanted.from && !columns.more ? since : Math.min(durations[0]?.time ?? since, until) });
  }
  if (!isSpecial && isFine) {
    for (const e of chosen.length ? [] : ticks?.rows ?? []) {
      const step = stepAt(steps, Date.parse(e.time));
      if (step) step.missed += e.kind === "made up" ? 1 : e.ticks ?? 1;
    }
  } else if (!isSpecial) {
    for (const c of counts.rows) for (const [outcome, n] of Object.entries(c.executions)) add(Date.parse(c.start), outcome, n);
    for (const m of chosen.length ? [] : missed.rows) {
      const step = stepAt(steps, Date.parse(m.start));
      if (step) step.missed += m.madeUp + Object.values(m.skipped).reduce((sum, n) => sum + n, 0);
    }
  }
  return data;
}

/** The first day of the last 30 on which something has run. @param {string | undefined} job @param {number} until */
async function firstDay(job, until) {
  const { rows } = await ask("GET /namespaces/{namespace}/history/counts", { namespace, job, from: iso(until - 30 * day), to: iso(until + hour / 4), step: "day", timeZone });
  return rows.length ? Math.max(Date.parse(rows[0].start), until - 30 * day) : until - day;
}

/** @param {number} t */
const iso = (t) => new Date(t).toISOString();

/** Minutes, hours or days of the page's zone. @param {number} from @param {number} to @param {number} length @returns {Step[]} */
function stepsOf(from, to, length) {
  const out = [];
  const start = midnight(from);
  let t = length === day ? start : start + Math.floor((from - start) / length) * length;
  do {
    const end = length === day ? midnight(t, 1) : t + length;
    out.push({ from: t, to: end, ok: 0, failed: 0, other: 0, missed: 0 });
    t = end;
  } while (t < to);
  return out;
}

/** @param {Step[]} steps @param {number} t */
function stepAt(steps, t) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].to <= t) low = middle + 1;
    else high = middle;
  }
  return steps[low]?.from <= t ? steps[low] : undefined;
}

/**
 * Those of the columns that are wanted. JVMs do not tell ticks; requests have none that they are to begin at.
 * @param {import("./types/api").ColumnsInfo} c
 * @param {import("./history-filter.js").Asked} wanted
 */
function pick(c, wanted) {
  /** @type {Point[]} */
  const durations = [];
  /** @type {Point[]} */
  const lateness = [];
  /** @type {{time: number, outcome: string}[]} */
  const ended = [];
  const items = new Set(wanted.items);
  const begin = Date.parse(c.begin);
  for (let i = 0; i < c.ids.length; i++) {
    const outcome = c.outcomes[c.outcome[i]];
    const source = c.sources[c.source[i]];
    const isWanted = c.begun[i] >= 0 && (!items.size || items.has(c.items[i])) && (!wanted.source || source === wanted.source)
      && (!wanted.instance || c.instances[c.instance[i]] === wanted.instance) && (!wanted.outcomes?.length || wanted.outcomes.some((o) => o === outcome));
    if (!isWanted) continue;
    const time = begin + c.begun[i];
    ended.push({ time, outcome });
    if (c.duration[i] >= 0) durations.push({ time, value: c.duration[i] });
    if (c.ticks[i] >= 0 && punctual.includes(source)) lateness.push({ time, value: Math.max(0, c.begun[i] - c.ticks[i]) });
  }
  return { durations, lateness, ended };
}

/** @param {Point[]} points @returns {Values} */
const valuesOf = (points) => ({ points, sorted: points.map((p) => p.value).sort((a, b) => a - b) });

/** @param {Values} v */
export const figures = (v) => figuresOf(v.sorted);
