// The span of time that a timeline shows.
import { clock, dayOf, midnight } from "./time.js";

/** @typedef {{from: number, to: number}} Span in milliseconds since 1970 */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Spans that can be chosen, by their names in the address. @type {Record<string, number>} */
export const spans = { "15m": 15 * minute, "1h": hour, "6h": 6 * hour, "24h": day, "7d": 7 * day };

const shortest = 5 * second;
const longest = 31 * day;

/** How much of a span that follows the clock is the time to come. */
const ahead = 0.04;

/** The span of a length that ends a little after now. @param {number} length @param {number} now @returns {Span} */
export function following(length, now) {
  const to = now + length * ahead;
  return { from: to - length, to };
}

/** @param {Span} s @param {number} part of its length; negative: to the past @returns {Span} */
export function moved(s, part) {
  const by = (s.to - s.from) * part;
  return { from: s.from + by, to: s.to + by };
}

/**
 * A longer or shorter span in which a time stays where it is.
 * @param {Span} s @param {number} factor @param {number} around @returns {Span}
 */
export function zoomed(s, factor, around) {
  const length = Math.min(Math.max((s.to - s.from) * factor, shortest), longest);
  const from = around - ((around - s.from) / (s.to - s.from)) * length;
  return { from, to: from + length };
}

/** A span of the same length around a time. @param {Span} s @param {number} t @returns {Span} */
export function around(s, t) {
  const half = (s.to - s.from) / 2;
  return { from: t - half, to: t + half };
}

const steps = [
  second, 2 * second, 5 * second, 10 * second, 15 * second, 30 * second, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
  hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day,
];

/**
 * Where the axis has lines, and what stands at them: round times of the page's zone, at most so many.
 * @param {Span} s @param {number} most @returns {{time: number, text: string, isDay: boolean}[]}
 */
export function axis(s, most) {
  const step = steps.find((x) => (s.to - s.from) / x <= Math.max(most, 1)) ?? 7 * day;
  const offset = midnight(s.from) % day;
  const out = [];
  for (let time = Math.ceil((s.from - offset) / step) * step + offset; time < s.to; time += step) {
    const isDay = (time - offset) % day === 0;
    out.push({ time, isDay, text: isDay ? dayOf(time) : clock(time, step < minute ? 8 : 5) });
  }
  return out;
}
