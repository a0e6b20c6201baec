// What is loaded by filters that stand in the address.
import { setQuery } from "./query.js";

export class Filtered {
  /** Why it could not be loaded; what was there stays. @type {unknown} */ error;
  /** Whether what the filters want was asked for, with or without success. */ isLoaded = false;
  #read;
  #clear;
  #changed;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #typing;

  /** @param {{read: () => Promise<void>, clear: () => void, changed: () => void}} o read loads what the address wants, clear forgets what it wanted before */
  constructor(o) {
    this.#read = o.read;
    this.#clear = o.clear;
    this.#changed = o.changed;
  }

  /** Loads it anew, or another part of it: for poll, which is told of failures. @param {() => Promise<void>} [read] */
  load = async (read = this.#read) => {
    const asked = location.search;
    try {
      await read();
      this.error = undefined;
    } catch (e) {
      if (asked === location.search) this.error = e;
      throw e;
    } finally {
      this.isLoaded ||= asked === location.search;
      this.#changed();
    }
  };

  /** Loads it at once. @param {() => Promise<void>} [read] */
  refresh = (read) => this.load(read).catch(() => {}); // the page shows error

  /** Takes other filters: what was loaded counts no longer. @param {Record<string, string>} some @param {boolean} [isTyped] whether more letters may come */
  change(some, isTyped) {
    setQuery(some);
    this.#clear();
    this.isLoaded = false;
    this.error = undefined;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => void this.refresh(), isTyped ? 300 : 0);
    this.#changed();
  }
}
