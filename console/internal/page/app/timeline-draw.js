// Draws a timeline on a canvas: axis, lanes with their names, bars, links of failovers, signs of missed ticks, now.
import { visible } from "./dom.js";
import { drawStrip, shade } from "./timeline-causes.js";
import { Bars, layout } from "./timeline-layout.js";
import { has, hatching } from "./timeline-paint.js";
import { axis } from "./timeline-scale.js";

/**
 * @typedef {import("./timeline-runs.js").Runs} Runs
 * @typedef {{item: number, name: string, isOff: boolean, isAlone: boolean, info?: import("./types/api").ItemInfo, due?: number}} LaneName
 * @typedef {{item: number, tick: number, ticks: number, why: string}} Missed
 * due is the tick that should have begun already.
 * @typedef {{
 *   runs: Runs, kinds: Uint8Array, lanes: LaneName[], missed: Map<number, Missed[]>, span: import("./timeline-scale.js").Span, now: number,
 *   bands: import("./timeline-causes.js").Band[], ticks: number[], known: number, colours: import("./timeline-paint.js").Colours,
 *   width: number, height: number, gutter: number, axis: number, head: number, laneHeight: number, scroll: number,
 * }} Scene axis is how tall the axis is, and head that with the strip of causes; known is since when the executions are there; scroll is how much of the lanes is above
 */

const bars = new Bars();

/** @param {CanvasRenderingContext2D} c @param {Scene} s */
export function drawScene(c, s) {
  const { span, gutter } = s;
  const width = s.width - gutter;
  const x = (/** @type {number} */ t) => gutter + ((t - span.from) / (span.to - span.from)) * width;
  const marks = axis(span, width / 75);
  const font = getComputedStyle(c.canvas).fontFamily;
  const hatch = hatching(c, s.colours.ground);
  c.clearRect(0, 0, s.width, s.height);
  const first = Math.max(Math.floor(s.scroll / s.laneHeight), 0);
  const last = Math.min(Math.ceil((s.scroll + s.height - s.head) / s.laneHeight), s.lanes.length);
  const top = (/** @type {number} */ lane) => s.head + lane * s.laneHeight - s.scroll;

  c.save();
  c.beginPath();
  c.rect(0, s.head, s.width, s.height - s.head);
  c.clip();
  c.fillStyle = s.colours.alternate;
  for (let lane = first + (first % 2); lane < last; lane += 2) c.fillRect(0, top(lane), s.width, s.laneHeight);
  c.beginPath();
  c.rect(gutter, s.head, width, s.height - s.head);
  c.clip();
  shade(c, s, x, first, last, top);
  grid(c, s, marks, x);
  for (let lane = first; lane < last; lane++) drawLane(c, s, s.lanes[lane], top(lane), x, hatch);
  if (s.known > span.from) unknown(c, s, Math.min(x(s.known), s.width));
  c.restore();
  names(c, s, font, first, last, top);
  head(c, s, font, marks, x);
  drawStrip(c, s, font, x);
}

/** @param {CanvasRenderingContext2D} c @param {Scene} s @param {ReturnType<typeof axis>} marks @param {(t: number) => number} x */
function grid(c, s, marks, x) {
  for (const m of marks) {
    c.fillStyle = m.isDay ? s.colours.soft : s.colours.line;
    c.fillRect(Math.round(x(m.time)), s.head, 1, s.height);
  }
  // Ticks to come, and now.
  c.fillStyle = s.colours.soft;
  for (const tick of s.ticks) {
    if (tick < s.now || tick > s.span.to) continue;
    for (let y = s.head; y < s.height; y += 6) c.fillRect(Math.round(x(tick)), y, 1, 2);
  }
  if (s.now < s.span.to) {
    c.fillStyle = s.colours.accent;
    c.fillRect(Math.round(x(s.now)), s.head, 1.5, s.height);
  }
}

/**
 * @param {CanvasRenderingContext2D} c @param {Scene} s @param {LaneName} name @param {number} top
 * @param {(t: number) => number} x @param {CanvasPattern | string} hatch
 */
function drawLane(c, s, name, top, x, hatch) {
  const { item, due } = name;
  const lane = s.runs.lanes.get(item);
  const pad = s.laneHeight >= 16 ? 4 : s.laneHeight >= 10 ? 2 : 1;
  const [y, height] = [top + pad, s.laneHeight - 2 * pad];
  if (lane) {
    const { runs, gutter, colours } = s;
    layout(bars, runs, lane, s.span, s.width - gutter, s.now, s.kinds);
    for (let i = 0; i < bars.count; i++) {
      // Whole pixels are sharp, and drawn in half the time.
      const left = Math.round(gutter + bars.x[i]);
      const width = Math.max(Math.round(gutter + bars.x[i] + bars.width[i]) - left, 1);
      const kind = bars.kind[i];
      const isFailed = (kind & has.failed) !== 0;
      // What has failed is taller; where its pattern has no room it has the colour of failures, whatever colours mean.
      c.fillStyle = isFailed && width < 4 ? colours.bad : colours.bars[kind & 15];
      // Late: from the tick to the beginning.
      const tick = runs.tick[bars.row[i]];
      if (width > 2 && !(kind & has.failover) && runs.begin[bars.row[i]] - tick < 3600000) late(c, x(tick), left, y + height / 2);
      if (kind & has.torn) torn(c, left, y, width, height);
      else if (isFailed) c.fillRect(left, y - pad / 2, width, height + pad);
      else c.fillRect(left, y, width, height);
      if (isFailed && width >= 4) {
        c.fillStyle = hatch;
        c.fillRect(left, y, width, height);
      }
      if (kind & has.failover) again(c, s, lane, bars.row[i], left, y, width, height, x);
      if (kind & has.running && width > 3) {
        c.fillStyle = colours.ink;
        c.fillRect(left + width - 2, y - 1, 2, height + 2);
      }
    }
  }
  if (due !== undefined) overdue(c, s, x(due), x(s.now), y, height);
  for (const m of s.missed.get(item) ?? []) {
    if (m.tick >= s.span.from && m.tick <= s.span.to) missedSign(c, s, x(m.tick), top);
  }
}

/** @param {CanvasRenderingContext2D} c @param {number} from @param {number} to @param {number} y */
function late(c, from, to, y) {
  if (to - from >= 3) c.fillRect(from, y - 0.75, to - from, 1.5);
}

/** What was cut short, or lost: nobody knows for certain how long it ran. @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} width @param {number} height */
function torn(c, x, y, width, height) {
  const depth = Math.min(width / 2, 4);
  c.beginPath();
  c.moveTo(x, y);
  const steps = 4;
  for (let i = 0; i <= steps; i++) c.lineTo(x + width - (i % 2 ? depth : 0), y + (height * i) / steps);
  c.lineTo(x, y + height);
  c.globalAlpha = 0.6;
  c.fill();
  c.globalAlpha = 1;
}

/**
 * A failover has an outline, and a link from the execution before it for the same tick.
 * @param {CanvasRenderingContext2D} c @param {Scene} s @param {import("./timeline-runs.js").Lane} lane @param {number} row
 * @param {number} left @param {number} y @param {number} width @param {number} height @param {(t: number) => number} x
 */
function again(c, s, lane, row, left, y, width, height, x) {
  const { runs } = s;
  c.strokeStyle = c.fillStyle = s.colours.ink;
  c.lineWidth = 1.5;
  if (width >= 4) c.strokeRect(left + 0.75, y + 0.75, width - 1.5, height - 1.5);
  else c.fillRect(left, y + height, Math.max(width, 2), 2);
  const [low] = runs.within(lane, runs.begin[row], Infinity);
  const at = lane.rows.indexOf(row, low);
  for (let i = at - 1; i >= Math.max(at - 8, 0); i--) {
    const before = lane.rows[i];
    if (runs.tick[before] !== runs.tick[row]) continue;
    const from = Math.min(x(Math.min(lane.until[i], runs.begin[row])), left);
    const middle = y + height / 2;
    c.fillRect(from, middle - 1, left - from, 2);
    c.beginPath();
    c.moveTo(left + 3, middle);
    c.lineTo(left - 4, middle - 4);
    c.lineTo(left - 4, middle + 4);
    c.fill();
    return;
  }
}

/**
 * What should have begun already: a frame that grows.
 * @param {CanvasRenderingContext2D} c @param {Scene} s @param {number} from @param {number} to @param {number} y @param {number} height
 */
function overdue(c, s, from, to, y, height) {
  c.strokeStyle = s.colours.warn;
  c.lineWidth = 2;
  c.setLineDash([4, 3]);
  c.strokeRect(from, y + 1, Math.max(to - from, 4), height - 2);
  c.setLineDash([]);
}

/** @param {CanvasRenderingContext2D} c @param {Pick<Scene, "laneHeight" | "colours">} s @param {number} x @param {number} top */
export function missedSign(c, s, x, top) {
  const size = Math.min(s.laneHeight / 2 - 1, 6);
  const middle = top + s.laneHeight / 2;
  c.beginPath();
  c.moveTo(x, middle - size);
  c.lineTo(x + size, middle);
  c.lineTo(x, middle + size);
  c.lineTo(x - size, middle);
  c.closePath();
  c.fillStyle = s.colours.ground;
  c.fill();
  c.strokeStyle = s.colours.warn;
  c.lineWidth = 2;
  c.stroke();
}

/** The time for which the executions are not there. @param {CanvasRenderingContext2D} c @param {Scene} s @param {number} to */
function unknown(c, s, to) {
  c.fillStyle = s.colours.line;
  c.globalAlpha = 0.6;
  c.fillRect(s.gutter, s.head, to - s.gutter, s.height);
  c.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} c @param {Scene} s @param {string} font @param {number} first @param {number} last @param {(lane: number) => number} top */
function names(c, s, font, first, last, top) {
  c.save();
  c.beginPath();
  c.rect(0, s.head, s.gutter - 4, s.height);
  c.clip();
  const every = Math.ceil(13 / s.laneHeight);
  c.textBaseline = "middle";
  for (let lane = first; lane < last; lane++) {
    if (lane % every) continue;
    const n = s.lanes[lane];
    const y = top(lane) + (s.laneHeight * Math.min(every, last - lane)) / 2 + 0.5;
    c.font = "600 12px " + font;
    c.fillStyle = n.isAlone ? s.colours.warn : n.isOff ? s.colours.soft : s.colours.ink;
    const number = n.item + (n.isAlone ? " !" : n.isOff ? " ⊘" : "");
    c.fillText(number, 6, y);
    if (s.gutter < 60 || !n.name) continue;
    const left = 12 + Math.max(c.measureText(number).width, 16);
    c.font = "12px " + font;
    c.fillStyle = s.colours.soft;
    c.fillText(visible(n.name), left, y);
  }
  c.restore();
}

/** @param {CanvasRenderingContext2D} c @param {Scene} s @param {string} font @param {ReturnType<typeof axis>} marks @param {(t: number) => number} x */
function head(c, s, font, marks, x) {
  c.textBaseline = "middle";
  for (const m of marks) {
    c.font = (m.isDay ? "600 " : "") + "12px " + font;
    c.fillStyle = m.isDay ? s.colours.ink : s.colours.soft;
    const at = x(m.time);
    const width = c.measureText(m.text).width;
    if (at + width + 4 < s.width) c.fillText(m.text, at + 4, s.axis / 2);
    c.fillRect(Math.round(at), s.axis - 6, 1, 6);
  }
  c.fillStyle = s.colours.line;
  c.fillRect(0, s.head - 1, s.width, 1);
}
