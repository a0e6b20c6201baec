// Asks again and again for what no stream tells.
import { Problem } from "./api.js";
import { hostNow, stand } from "./hosttime.js";
import { has, term } from "./words.js";

/** How many seconds a page waits at most until it finds out that what failed is there again, unless it always asks less often. */
const longest = 30;

/**
 * Calls load every so many seconds while somebody looks, one after the other, and less often after failures.
 * @param {() => Promise<unknown>} load
 * @param {number} seconds
 * @returns {{now: () => void}} now asks at once, or when the load that is under way has ended: it may have begun too early
 */
export function poll(load, seconds) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let failures = 0;
  let busy = false;
  let again = false;
  const run = async () => {
    clearTimeout(timer);
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      await load();
      failures = 0;
    } catch {
      failures++; // load shows what is wrong
    }
    busy = false;
    if (again) {
      again = false;
      void run();
    } else if (!document.hidden) timer = setTimeout(run, 1000 * Math.min(seconds * 2 ** failures, Math.max(seconds, longest)));
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (!document.hidden) void run();
  });
  timer = setTimeout(run, seconds * 1000);
  return { now: () => void run() };
}

/** How long an answer may take, in milliseconds, before what the page shows counts as old. */
const patience = 5000;

/**
 * Calls load as poll does, for what the page is about, and says how it stands: while that fails, or takes long, the page is
 * blind since it was loaded last. Who has lost the right to see it is shown that.
 * @param {() => Promise<unknown>} load resolves to false if it need not ask, because nothing changes any more
 * @param {number} seconds
 * @param {boolean} [isLoaded] whether it was loaded before
 */
export function keep(load, seconds, isLoaded = true) {
  /** @type {number | undefined} */
  let last = isLoaded ? hostNow() : undefined;
  const fail = (/** @type {unknown} */ e) => {
    if (last && e instanceof Problem && e.status === 403) location.reload();
    const why = e instanceof Problem && has("problem", e.code) ? term("problem", e.code) : undefined;
    if (last) stand({ now: e instanceof Problem && e.status === 0 ? "away" : "doubt", since: last, why });
    else stand(); // the page has nothing, and says why
  };
  stand({ now: isLoaded ? "live" : "connecting" });
  return poll(async () => {
    const slow = setTimeout(fail, patience);
    try {
      stand((await load()) === false ? undefined : { now: "live" });
      last = hostNow();
    } catch (e) {
      fail(e);
      throw e;
    } finally {
      clearTimeout(slow);
    }
  }, seconds);
}

/**
 * What a page shows and loads again and again. If that fails, what was there stays, and error says why.
 * @template T
 */
export class Kept {
  /** @type {unknown} */ error;
  #read;
  #changed;

  /** @param {T} now @param {() => Promise<T>} read @param {() => void} changed */
  constructor(now, read, changed) {
    this.now = now;
    this.#read = read;
    this.#changed = changed;
  }

  /** Loads it anew: for poll, which is told of failures. */
  load = async () => {
    try {
      this.now = await this.#read();
      this.error = undefined;
    } catch (e) {
      this.error = e;
      throw e;
    } finally {
      this.#changed();
    }
  };

  /** Loads it at once, as after a change. */
  refresh = () => this.load().catch(() => {}); // the page shows error
}

/**
 * Returns a function that has f called soon, and not again before a pause is over: drawing thousands of rows at each event
 * takes the time of who reads.
 * @param {() => void} f
 * @param {() => number} pause in milliseconds
 */
export function paced(f, pause) {
  let last = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    timer ??= setTimeout(() => {
      last = Date.now();
      timer = undefined;
      f();
    }, Math.max(0, last + pause() - Date.now()));
  };
}
