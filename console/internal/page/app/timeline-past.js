// Loads what a timeline shows: executions of the span that somebody looks at, and missed ticks. New ones are told by the live
// view of the job, and asked for every two seconds, since short ones come and go between two of its changes.
import { all, ask } from "./api.js";
import { hostNow } from "./hosttime.js";
import { namespace } from "./facts.js";
import { poll } from "./poll.js";

/**
 * @typedef {import("./timeline-runs.js").Runs} Runs
 * @typedef {import("./timeline-scale.js").Span} Span
 * @typedef {import("./timeline-draw.js").Missed} Missed
 * @typedef {import("./types/api").JobView} JobView
 */

const most = 300000;
/** How much later than it begins an execution may come into the history. */
const slow = 10000;
/** How much later than the console's an instance's clock may be. */
const apart = 3600000;

export class Past {
  isLoading = false;
  /** Whether there are too many executions for all of the span. */
  isShort = false;
  /** @type {unknown} */ error;
  /** @type {Map<number, Missed[]>} */ missed = new Map();
  /** What is there: all that began in this span. @type {Span | undefined} */ known;
  /** @type {Set<string>} */ #events = new Set();
  #deep = 0;

  /** @param {string} job @param {Runs} runs @param {() => Span} wanted what is looked at @param {() => void} changed */
  constructor(job, runs, wanted, changed) {
    this.job = job;
    this.runs = runs;
    this.wanted = wanted;
    this.changed = changed;
    this.polling = poll(() => this.#follow(), 2);
  }

  /** Sees to it that the executions of what is looked at are there. */
  async need() {
    if (this.isLoading) return;
    this.isLoading = true;
    this.isShort = false;
    this.error = undefined;
    try {
      let asked;
      let isMore = true;
      for (let steps = 0; steps < 20 && (isMore || asked !== this.wanted()); steps++) {
        asked = this.wanted();
        isMore = await this.#step(asked);
        this.changed();
      }
    } catch (e) {
      this.error = e;
    }
    this.isLoading = false;
    this.changed();
  }

  /** Loads one part of what is missing, and says whether more may be. @param {Span} span */
  async #step(span) {
    const now = hostNow();
    const length = span.to - span.from;
    const k = this.known;
    if (!k || span.to < k.from - length || span.from > k.to + length || (span.from < k.from && this.runs.count > most && k.to - k.from > 2 * length)) {
      this.runs.clear();
      this.missed.clear();
      this.#events.clear();
      const to = span.to >= now ? now + apart : span.to + length / 2;
      this.known = { from: await this.#load(span.from - length / 4, to), to: Math.min(to, now) };
      return this.known.from > span.from;
    }
    if (span.from < k.from) {
      this.isShort = this.runs.count > most;
      if (this.isShort) return false;
      this.known = { from: await this.#load(span.from - length / 2, k.from), to: k.to };
      return this.known.from > span.from;
    }
    if (Math.min(span.to, now) > k.to + 4000) {
      await this.#newer(now);
      return true;
    }
    return false;
  }

  /** @param {number} now @param {number} [since] */
  async #newer(now, since = Infinity) {
    const k = this.known;
    if (!k) return;
    const from = Math.min(k.to - slow, since);
    const begin = await this.#load(from, now + apart);
    if (this.known !== k) return; // meanwhile another time is looked at
    this.known = { from: begin > from ? begin : k.from, to: now };
  }

  /** Asks for what is new, as long as somebody looks at it. */
  async #follow() {
    const now = hostNow();
    if (this.isLoading || !this.known || this.wanted().to < this.known.to) return;
    if (this.#isMuch()) {
      this.known = undefined;
      return this.need();
    }
    // Of some that run nobody may have told the end, or it came late.
    const oldest = this.#deep++ % 10 === 0 ? this.#oldestOpen(now) : Infinity;
    await this.#newer(now, oldest);
    this.error = undefined;
    this.changed();
  }

  /** Whether a page that is open for long has gathered so much that it is better loaded anew. */
  #isMuch() {
    const { from, to } = this.wanted();
    const isWide = this.known && this.known.to - this.known.from > 2 * (to - from);
    return this.runs.count > (isWide ? most : 2 * most);
  }

  /** @param {number} now */
  #oldestOpen(now) {
    let oldest = now - 60000;
    for (const lane of this.runs.lanes.values()) {
      const row = lane.rows[lane.count - 1];
      if (this.runs.end[row] === Infinity && this.runs.begin[row] > now - 3600000) oldest = Math.min(oldest, this.runs.begin[row]);
    }
    return oldest;
  }

  /** Loads what began in a span, and returns since when it is complete. @param {number} from @param {number} to */
  async #load(from, to) {
    const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    const [columns, events] = await Promise.all([
      ask("GET /namespaces/{namespace}/history/columns", { namespace, job: this.job, ...span }),
      all("GET /namespaces/{namespace}/history/events", { namespace, job: this.job, ...span, kinds: ["made up", "skipped"], limit: 200 }, 1000),
    ]);
    this.runs.addColumns(columns);
    for (const e of events.rows) {
      if (this.#events.has(e.id) || e.item === undefined || !e.tick) continue;
      this.#events.add(e.id);
      const of = this.missed.get(e.item) ?? [];
      of.push({ item: e.item, tick: Date.parse(e.tick), ticks: e.ticks ?? 1, why: e.kind === "made up" ? "made up" : (e.what ?? "") });
      this.missed.set(e.item, of);
    }
    if (!columns.more) return from;
    const i = columns.begun.findIndex((t) => t >= 0);
    return i < 0 ? from : Date.parse(columns.begin) + columns.begun[i];
  }
}

/**
 * What the live view of the job tells of its executions: those that run, and the last one of each item.
 * @param {Runs} runs @param {JobView} view @returns {boolean} whether one has ended of which the history knows more
 */
export function addLive(runs, view) {
  const now = hostNow();
  const told = [];
  let hasEnded = false;
  for (const item of view.items) {
    const { run, last } = item;
    if (last?.taskId && last.begun && last.ended) {
      const row = runs.rows.get(last.taskId);
      if (row === undefined || runs.end[row] === Infinity) {
        hasEnded = true;
        told.push({
          id: last.taskId, item: last.item, tick: time(last.tick), begin: time(last.begun), end: time(last.ended), outcome: last.outcome,
          source: last.source ?? "", owner: "",
        });
      }
    }
    if (!run?.taskId || runs.rows.has(run.taskId)) continue;
    const tick = time(run.tick);
    // A stream does not tell when it began: the history will.
    const begin = run.begun ? time(run.begun) : tick > now - 3000 && tick <= now ? tick : now;
    told.push({ id: run.taskId, item: item.item, tick, begin, end: Infinity, outcome: "RUNNING", source: "", owner: run.instance });
    hasEnded = true;
  }
  if (told.length) runs.addRuns(told);
  return hasEnded;
}

/** @param {string | undefined} t */
const time = (t) => (t ? Date.parse(t) : NaN);
