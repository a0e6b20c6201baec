// What of the last day did not run as it should: executions that failed, and ticks that were missed, by hour and job.
import { ask, Problem } from "./api.js";
import { failures, isFailure } from "./execution.js";
import { namespace } from "./facts.js";
import { midnight, zoneNow } from "./time.js";

/** @typedef {import("./types/api").CountInfo} CountInfo */
/** @typedef {import("./types/api").MissedInfo} MissedInfo */
/** @typedef {{executions: number, failed: number, missed: number}} Hour */
/** @typedef {{job: string, hours: Hour[], executions: number, failed: number, missed: number}} Row job is empty for all of them */
/**
 * @typedef {{starts: number[], rows: Row[], bad: number, more: boolean}} Day
 * bad is how many jobs are known to have failures or missed ticks; more that there may be others
 */

const hour = 3600e3;
export const hours = 24;
const maxRows = 10;
const maxFailures = 1000;
const maxEvents = 200;


/** Ticks that were missed because of an operator are none to worry about. */
const wanted = ["item disabled", "servers disabled"];

/** The beginnings of the last hours, in the zone of the page. @param {number} now */
function startsOf(now) {
  const last = now - ((now - midnight(now)) % hour);
  return Array.from({ length: hours }, (_, i) => last - (hours - 1 - i) * hour);
}

/**
 * A row of the strip.
 * @param {string} job
 * @param {number[]} starts
 * @param {CountInfo[]} counts
 * @param {MissedInfo[]} missed
 * @returns {Row}
 */
function rowOf(job, starts, counts, missed) {
  /** @type {Hour[]} */
  const cells = starts.map(() => ({ executions: 0, failed: 0, missed: 0 }));
  const at = (/** @type {string} */ start) => cells[Math.floor((Date.parse(start) - starts[0]) / hour)];
  for (const c of counts) {
    const cell = at(c.start);
    if (!cell) continue;
    for (const [outcome, n] of Object.entries(c.executions)) {
      if (outcome !== "RUNNING") cell.executions += n;
      if (isFailure(outcome)) cell.failed += n;
    }
  }
  for (const m of missed) {
    const cell = at(m.start);
    if (!cell) continue;
    cell.missed += m.madeUp;
    for (const [reason, n] of Object.entries(m.skipped)) if (!wanted.includes(reason)) cell.missed += n;
  }
  const sum = (/** @type {keyof Hour} */ what) => cells.reduce((s, c) => s + c[what], 0);
  return { job, hours: cells, executions: sum("executions"), failed: sum("failed"), missed: sum("missed") };
}

/**
 * Loads the last day: all jobs together, and the worst ones. Who may see only some of the jobs in the database is told
 * about those that he names.
 * @param {boolean} seesAll
 * @param {() => string[]} candidates jobs that may have failed, the likeliest first
 * @returns {Promise<Day>}
 */
export async function loadDay(seesAll, candidates) {
  const starts = startsOf(Date.now());
  const from = new Date(starts[0]).toISOString();
  const timeZone = zoneNow();
  const row = async (/** @type {string} */ job) => {
    const q = { namespace, job, from, timeZone };
    const [counts, missed] = await Promise.all([ask("GET /namespaces/{namespace}/history/counts", q), ask("GET /namespaces/{namespace}/history/missed", q)]);
    return rowOf(job, starts, counts.rows, missed.rows);
  };
  const all = seesAll ? await row("").catch(denied) : undefined; // another namespace may have its history there, too
  const { jobs, more } = all ? await worst(from) : some(candidates());
  const found = await Promise.all(jobs.slice(0, maxRows).map((job) => row(job).catch(denied)));
  const rows = found.filter((r) => !!r).filter((r) => r.failed + r.missed > 0).sort((a, b) => b.failed + b.missed - a.failed - a.missed);
  return { starts, rows: all ? [all, ...rows] : rows, bad: jobs.length, more };
}

/** @param {string[]} jobs */
const some = (jobs) => ({ jobs, more: jobs.length > maxRows });

/** What the history of others keeps back is left out: a database knows jobs by their names only. @param {unknown} e */
function denied(e) {
  if (!(e instanceof Problem) || e.status !== 403) throw e;
  return undefined;
}

/** The jobs with the most failures and missed ticks, as far as the newest of these tell. @param {string} from */
async function worst(from) {
  const [failed, events] = await Promise.all([
    ask("GET /namespaces/{namespace}/history/executions", { namespace, from, outcomes: failures, limit: maxFailures }),
    ask("GET /namespaces/{namespace}/history/events", { namespace, from, kinds: ["made up", "skipped"], limit: maxEvents }),
  ]);
  /** @type {Map<string, number>} */
  const points = new Map();
  const add = (/** @type {string} */ job, /** @type {number} */ n) => points.set(job, (points.get(job) ?? 0) + n);
  for (const x of failed.rows) add(x.job, 1);
  for (const e of events.rows) if (e.job && !wanted.includes(e.what ?? "")) add(e.job, e.ticks ?? 1);
  const jobs = [...points].sort((a, b) => b[1] - a[1]).map(([job]) => job);
  return { jobs, more: !!failed.next || !!events.next };
}
