// Where the bars of a lane are. Executions that are narrower than a pixel or two become one bar, so that there are never
// more bars than a screen has room for.
import { has } from "./timeline-paint.js";

/**
 * @typedef {import("./timeline-runs.js").Runs} Runs
 * @typedef {import("./timeline-runs.js").Lane} Lane
 * @typedef {import("./timeline-scale.js").Span} Span
 */

/** Bars of one lane, for use again and again. */
export class Bars {
  count = 0;
  x = new Float32Array(4096);
  width = new Float32Array(4096);
  kind = new Uint8Array(4096);
  /** The execution; of several, the last one. */
  row = new Int32Array(4096);

  /** @param {number} x @param {number} width @param {number} kind @param {number} row */
  add(x, width, kind, row) {
    const i = this.count < this.x.length ? this.count++ : this.count - 1;
    this.x[i] = x;
    this.width[i] = width;
    this.kind[i] = kind;
    this.row[i] = row;
  }
}

/**
 * Fills bars with those of a lane, in pixels from the start of the span.
 * @param {Bars} bars @param {Runs} runs @param {Lane} lane @param {Span} span @param {number} width
 * @param {number} now @param {Uint8Array} kinds of each execution: see timeline-paint.js
 */
export function layout(bars, runs, lane, span, width, now, kinds) {
  bars.count = 0;
  const scale = width / (span.to - span.from);
  const [low, high] = runs.within(lane, span.from, span.to);
  const least = Math.min(Math.max(width / (high - low + 1) / 2, 1.5), 5);
  for (let i = low; i < high; i++) {
    const row = lane.rows[i];
    const kind = kinds[row];
    let x = (runs.begin[row] - span.from) * scale;
    let end = (lane.until[i] - span.from) * scale;
    if (end === Infinity) end = kind & has.running ? (now - span.from) * scale : x + 12;
    if (end < -8) continue;
    x = Math.max(x, -8);
    end = Math.min(Math.max(end, x + least), width + 8);
    const last = bars.count - 1;
    const lastEnd = last < 0 ? -Infinity : bars.x[last] + bars.width[last];
    if (end - x > least + 1 || x > lastEnd + 0.5) {
      bars.add(x, end - x, kind, row);
    } else if (kind === bars.kind[last]) {
      bars.width[last] = Math.max(lastEnd, end) - bars.x[last];
      bars.row[last] = row;
    } else if (kind & has.failed && !(bars.kind[last] & has.failed)) {
      // What has failed is seen, however many others are beside it.
      bars.width[last] = Math.max(x - bars.x[last], 0);
      bars.add(x, end - x, kind, row);
    } else if (end > lastEnd + 0.5) {
      bars.add(lastEnd, end - lastEnd, kind, row);
    }
  }
}

/**
 * The execution of a lane at a time, or the nearest one that is at most so far away; -1 if there is none. The second
 * number is how many others there are.
 * @param {Runs} runs @param {Lane} lane @param {number} time @param {number} near @param {number} now @returns {[number, number]}
 */
export function nearest(runs, lane, time, near, now) {
  const [low, high] = runs.within(lane, time - near, time + near);
  let found = -1;
  let best = near;
  for (let i = high - 1; i >= Math.max(low, high - 500); i--) {
    const row = lane.rows[i];
    const begin = runs.begin[row];
    const end = Math.min(lane.until[i], now);
    const far = time < begin ? begin - time : time > end ? time - end : 0;
    if (far < best || (found < 0 && far <= near)) {
      found = row;
      best = far;
    }
  }
  return [found, Math.max(high - low - 1, 0)];
}
