// Scales of charts: where values stand, and the round values at which there are marks.
import { facts } from "./facts.js";
import { clock, dayOf, lasting, midnight } from "./time.js";

/** @typedef {{at: number, text: string}} Mark */
/** @typedef {(value: number) => number} Scale a value's place in pixels */

/** @param {number} from @param {number} to @param {number} start @param {number} end @returns {Scale} */
export function linear(from, to, start, end) {
  const factor = (end - start) / (to - from || 1);
  return (v) => start + (v - from) * factor;
}

/** Powers of ten are equally far apart. @param {number} from @param {number} to @param {number} start @param {number} end @returns {Scale} */
export function logarithmic(from, to, start, end) {
  const place = linear(Math.log(from), Math.log(to), start, end);
  return (v) => place(Math.log(Math.max(v, from)));
}

/** @param {number} size @param {number[]} steps */
const stepFor = (size, steps) => steps.find((s) => s >= size) ?? steps[steps.length - 1];

/** @param {number} step @param {number} max */
const upTo = (step, max) => Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, i) => i * step);

/** Marks for numbers from 0 on; the last one is not below max. @param {number} max @param {number} count @returns {Mark[]} */
export function numberMarks(max, count) {
  const power = 10 ** Math.floor(Math.log10(Math.max(max, 1) / count));
  const step = Math.max(1, stepFor(max / count, [power, 2 * power, 5 * power, 10 * power]));
  const format = new Intl.NumberFormat(facts.language, { notation: max >= 10000 ? "compact" : "standard" });
  return upTo(step, Math.max(max, 1)).map((at) => ({ at, text: format.format(at) }));
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const durations = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat([1, 2, 5, 10, 15, 30].map((n) => n * second), [1, 2, 5, 10, 15, 30].map((n) => n * minute),
  [1, 2, 3, 6, 12].map((n) => n * hour), [1, 2, 5, 10, 20, 50, 100].map((n) => n * day));

/** As numberMarks, for durations in ms. @param {number} max @param {number} count @returns {Mark[]} */
export function durationMarks(max, count) {
  return upTo(stepFor(max / count, durations), Math.max(max, 1)).map((at) => ({ at, text: at ? lasting(at / 1000) : "0" }));
}

/** Powers of ten of a ms around some durations. @param {number} min @param {number} max @returns {Mark[]} */
export function powerMarks(min, max) {
  const first = Math.floor(Math.log10(Math.max(min, 1)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(max, 1)) - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i)).map((at) => ({ at, text: at < second ? `${at} ms` : `${at / second} s` }));
}

/**
 * Marks for times, at round ones of the page's zone: the time of day, or the day where one begins.
 * @param {number} from @param {number} to @param {number} count how many at most
 * @returns {Mark[]}
 */
export function timeMarks(from, to, count) {
  const step = stepFor((to - from) / count, durations.filter((d) => d >= second));
  /** @type {Mark[]} */
  const out = [];
  // The day may be an hour longer or shorter, so each begins by itself.
  for (let start = midnight(from); start <= to; start = midnight(start, Math.max(1, Math.round(step / day)))) {
    const end = midnight(start, 1);
    for (let t = start; t < end && t <= to; t += Math.min(step, 2 * day)) if (t >= from) out.push({ at: t, text: t === start ? dayOf(t) : clock(t, step < minute ? 8 : 5) });
  }
  return out;
}
