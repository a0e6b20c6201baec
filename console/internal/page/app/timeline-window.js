// Which time a timeline shows. It stands in the address, so that it can be sent to others.
import { hostNow } from "./hosttime.js";
import { query, setQuery } from "./query.js";
import { around, following, moved, spans, zoomed } from "./timeline-scale.js";

/** @typedef {import("./timeline-scale.js").Span} Span */

export class Window {
  /** Whether it goes with the clock. */
  follows = true;
  /** Whether somebody has chosen it. */
  isChosen = false;

  /** @param {number} length if the address has none @param {() => void} changed */
  constructor(length, changed) {
    const q = query();
    const asked = spans[q.span] ?? Number(q.span) * 1000;
    const until = Date.parse(q.until ?? "");
    this.isChosen = asked > 0;
    const span = zoomed({ from: 0, to: this.isChosen ? asked : length }, 1, 0);
    this.follows = Number.isNaN(until);
    this.span = this.follows ? following(span.to, hostNow()) : { from: until - span.to, to: until };
    this.changed = changed;
  }

  get length() {
    return this.span.to - this.span.from;
  }

  /** Goes on with the clock. @param {number} now */
  goOn(now) {
    if (this.follows) this.span = following(this.length, now);
  }

  /** @param {Span} span @param {boolean} [follows] */
  go(span, follows = this.follows) {
    this.span = span;
    this.follows = follows;
    this.isChosen = true;
    const name = Object.entries(spans).find(([, length]) => Math.abs(length - this.length) < 1)?.[0];
    setQuery({ span: name ?? String(Math.round(this.length / 1000)), until: follows ? undefined : new Date(span.to).toISOString() });
    this.changed();
  }

  /** A length, without anybody having chosen it. @param {number} length */
  begin(length) {
    this.span = following(length, hostNow());
    this.changed();
  }

  /** @param {number} length */
  ofLength(length) {
    this.zoom(length / this.length);
  }

  /** @param {number} factor @param {number} [at] the part of the span that stays where it is */
  zoom(factor, at = 0.5) {
    const span = zoomed(this.span, factor, this.span.from + this.length * at);
    this.#goTo(this.follows ? following(span.to - span.from, hostNow()) : span);
  }

  /** By a part of its length; not beyond now. @param {number} part */
  pan(part) {
    this.#goTo(moved(this.span, part));
  }

  /** Sees to it that a time is in it. @param {number} t */
  show(t) {
    if (t < this.span.from || t > this.span.to) this.#goTo(around(this.span, t));
  }

  /** @param {Span} span */
  #goTo(span) {
    const latest = following(span.to - span.from, hostNow());
    const isLatest = span.to >= latest.to;
    this.go(isLatest ? latest : span, isLatest);
  }

  now() {
    this.go(following(this.length, hostNow()), true);
  }
}
