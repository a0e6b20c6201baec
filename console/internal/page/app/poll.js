// Asks again and again for what no stream tells.

/** How many seconds a page waits at most until it finds out that what failed is there again, unless it always asks less often. */
const longest = 30;

/**
 * Calls load every so many seconds while somebody looks, one after the other, and less often after failures.
 * @param {() => Promise<unknown>} load
 * @param {number} seconds
 * @returns {{now: () => void}} now asks at once
 */
export function poll(load, seconds) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let failures = 0;
  let busy = false;
  const run = async () => {
    clearTimeout(timer);
    if (busy) return;
    busy = true;
    try {
      await load();
      failures = 0;
    } catch {
      failures++; // load shows what is wrong
    }
    busy = false;
    if (!document.hidden) timer = setTimeout(run, 1000 * Math.min(seconds * 2 ** failures, Math.max(seconds, longest)));
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (!document.hidden) void run();
  });
  timer = setTimeout(run, seconds * 1000);
  return { now: () => void run() };
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
