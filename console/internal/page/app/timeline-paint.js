// Colours of bars, by what the reader wants to see, and the signs that they have whatever the colour is.

import { ownerName } from "./owner.js";
import { term } from "./words.js";

/** @typedef {import("./timeline-runs.js").Runs} Runs */
/** @typedef {"owner" | "outcome" | "source"} By */

/** A kind of bar is the number of its colour with these. */
export const has = { failed: 16, failover: 32, running: 64, torn: 128 };

const names = [
  "--owner-0", "--owner-1", "--owner-2", "--owner-3", "--owner-4", "--owner-5", "--owner-6", "--owner-7",
  "--good", "--bad", "--warn", "--busy", "--off",
];
const [good, bad, warn, busy, off] = [8, 9, 10, 11, 12];

/** @type {Record<string, number>} */
const byOutcome = { OK: good, FAILED: bad, PANIC: bad, TIMEOUT: bad, CUT: warn, LOST: warn, RUNNING: busy, KILLED: off };
/** @type {Record<string, number>} */
const bySource = { NORMAL_TRIGGER: 0, MISFIRE: 1, FAILOVER: 5, MANUAL: 2, RETRY: 3, BACKFILL: 6 };
/** @type {Record<string, number>} */
const signs = { FAILED: has.failed, PANIC: has.failed, TIMEOUT: has.failed, RUNNING: has.running, CUT: has.torn, LOST: has.torn };

/** Says which colour each execution has. */
export class Paint {
  /** @type {By} */ by = "owner";
  kinds = new Uint8Array(1024);
  /** Colours of owners, by their names. @type {Map<string, number>} */ #owners = new Map();
  #isByHost = true;

  /**
   * Those that are there now have the first colours. If each has a host of its own, a host keeps its colour when its process is
   * another one.
   * @param {{id: string, server: string}[]} instances
   */
  know(instances) {
    this.#isByHost = new Set(instances.map((i) => i.server)).size === instances.length;
    this.#owners.clear();
    for (const i of instances) this.#owner(i.id);
  }

  /** Finds out the kind of each execution. @param {Runs} runs */
  look(runs) {
    if (this.kinds.length < runs.begin.length) this.kinds = new Uint8Array(runs.begin.length);
    const sign = runs.outcomes.list.map((word) => signs[word] ?? 0);
    const again = runs.sources.list.map((word) => (word === "FAILOVER" ? has.failover : 0));
    const { words, column } = this.#chosen(runs);
    const colours = words.map((word) => this.#colour(word));
    for (let row = 0; row < runs.count; row++) {
      this.kinds[row] = colours[column[row]] | sign[runs.outcome[row]] | again[runs.source[row]];
    }
  }

  /**
   * What the colours of some executions mean: names, and the colours as CSS has them.
   * @param {Runs} runs @param {number[]} rows @returns {Map<string, string>}
   */
  legend(runs, rows) {
    const { words, column } = this.#chosen(runs);
    const used = [...new Set(rows.map((row) => column[row]))].map((i) => words[i]);
    const colours = new Map(used.map((word) => [this.#name(word), this.#colour(word)]));
    return new Map([...colours].sort((a, b) => a[1] - b[1]).map(([name, colour]) => [name, `var(${names[colour]})`]));
  }

  /** @param {Runs} runs */
  #chosen(runs) {
    if (this.by === "owner") return { words: runs.owners.list, column: runs.owner };
    return this.by === "outcome" ? { words: runs.outcomes.list, column: runs.outcome } : { words: runs.sources.list, column: runs.source };
  }

  /** @param {string} word */
  #colour(word) {
    if (this.by === "owner") return word ? this.#owner(word) : off;
    return (this.by === "outcome" ? byOutcome : bySource)[word] ?? off;
  }

  /** @param {string} id */
  #owner(id) {
    const name = this.#name(id);
    const n = this.#owners.get(name) ?? this.#owners.size;
    this.#owners.set(name, n);
    return n % 8;
  }

  /** @param {string} word */
  #name(word) {
    if (this.by === "owner" || !word) return this.#isByHost && word ? word.split("@-@")[0] : ownerName(word);
    return term(this.by, word);
  }
}

/**
 * @typedef {{bars: string[], ground: string, line: string, ink: string, soft: string, bad: string, warn: string, accent: string, alternate: string}} Colours
 */

/** The colours of now as a canvas takes them. @param {HTMLElement} el @returns {Colours} */
export function coloursOf(el) {
  const probe = document.createElement("span");
  el.append(probe);
  const of = (/** @type {string} */ name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    bars: names.map(of), ground: of("--card"), line: of("--line"), ink: of("--ink"), soft: of("--soft"), bad: of("--bad"), warn: of("--warn"), accent: of("--accent"),
    alternate: of("--sunk"),
  };
  probe.remove();
  return colours;
}

/** Calls act when the colours may have changed. @param {() => void} act */
export function onColours(act) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", act);
  new MutationObserver(act).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

/** Thin lines across a bar, in the colour of the ground. @param {CanvasRenderingContext2D} to @param {string} ground */
export function hatching(to, ground) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const c = tile.getContext("2d");
  if (!c) return ground;
  c.strokeStyle = ground;
  c.lineWidth = 1.6;
  for (const x of [-6, 0, 6]) {
    c.moveTo(x, 6);
    c.lineTo(x + 6, 0);
  }
  c.stroke();
  return to.createPattern(tile, "repeat") ?? ground;
}
