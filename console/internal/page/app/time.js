// Times and durations as people read them: in one format, and in the zone that the user has chosen.
import { blindSince, hostNow } from "./hosttime.js";
import { facts } from "./facts.js";
import { w } from "./words.js";

/** @typedef {string | number | Date} Time */

let zone = facts.zone === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zone in which the page tells times. */
export const zoneNow = () => zone;

/** Tells times in the zone of a job. That of the browser stays if the job has none, or one that browsers do not know. @param {string | undefined} name */
export function useZone(name) {
  if (formatOf(known(name)) !== formatOf(zone)) zone = known(name);
}

/** ElasticJob writes offsets as GMT+8, browsers as +8. @param {string | undefined} name */
const known = (name) => (name ?? "").replace(/^GMT(?=[+-])/, "");

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** The format of a zone; of one that browsers do not know, that of the page. @param {string} timeZone @returns {Intl.DateTimeFormat} */
function formatOf(timeZone) {
  let format = formats.get(timeZone);
  try {
    format ??= new Intl.DateTimeFormat(facts.language, {
      weekday: "short", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3,
      hourCycle: "h23", timeZone, timeZoneName: "shortOffset",
    });
  } catch {
    format = formatOf(zone);
  }
  formats.set(timeZone, format);
  return format;
}

/** @param {Time} t */
const date = (t) => (t instanceof Date ? t : new Date(t));

/** @param {Time} t */
function partsOf(t, timeZone = zone) {
  const p = Object.fromEntries(formatOf(timeZone).formatToParts(date(t)).map(({ type, value }) => [type, value]));
  return {
    weekday: p.weekday, day: `${p.year}-${p.month}-${p.day}`, clock: `${p.hour}:${p.minute}:${p.second}.${p.fractionalSecond}`,
    offset: p.timeZoneName.replace("GMT", "UTC").replace(/\+0$/, ""),
  };
}

/** The time of day: 14:28, with 8 signs 14:28:56, with 12 14:28:56.123. @param {Time} t @param {5 | 8 | 12} [signs] */
export const clock = (t, signs = 5) => partsOf(t).clock.slice(0, signs);

/** The day without its year: 11-30. @param {Time} t */
export const dayOf = (t) => partsOf(t).day.slice(5);

/** How the zone of the page stands to UTC: UTC+1. @param {Time} t */
export const offset = (t) => partsOf(t).offset;

/** Whether it is today. @param {Time} t */
export const isToday = (t) => partsOf(t).day === partsOf(Date.now()).day;

/** The time of day; with the day if it is not today's. @param {Time | undefined} t */
export function when(t) {
  if (t === undefined || t === "") return "";
  const p = partsOf(t);
  return (isToday(t) ? "" : p.day + " ") + p.clock.slice(0, 8);
}

/** Day, time and zone, whatever day it is. @param {Time | undefined} t */
export function whenFull(t) {
  if (t === undefined || t === "") return "";
  const p = partsOf(t);
  return `${p.day} ${p.clock.slice(0, 8)} ${p.offset}`;
}

/** As whenFull, in another zone and with the day of the week: as schedules say it. @param {Time} t @param {string | undefined} of */
export function whenIn(t, of) {
  const p = partsOf(t, known(of) || zone);
  return `${p.weekday} ${p.day} ${p.clock.slice(0, 8)} ${p.offset}`;
}

/** A time as a datetime-local control has it: to the minute; empty if it is none. @param {Time | undefined} t */
export function local(t) {
  const d = new Date(t ?? "");
  return Number.isNaN(d.getTime()) ? "" : `${partsOf(d).day}T${clock(d)}`;
}

/** The time that local has written; of one that a clock leaves out, a later one. @param {string} text */
export function unlocal(text) {
  const asUTC = Date.parse(text + "Z");
  if (Number.isNaN(asUTC)) return NaN;
  const shifted = (/** @type {number} */ t) => asUTC - (Date.parse(local(t) + "Z") - Math.floor(t / 60e3) * 60e3);
  const [near, found] = [shifted(asUTC), shifted(shifted(asUTC))]; // the clock may have been turned between the two
  return [found, near].find((t) => local(t) === text) ?? Math.max(near, found);
}

/** The beginning of the day, or of that so many days later: days may be an hour longer or shorter. @param {number} t */
export function midnight(t, days = 0) {
  return unlocal(new Date(Date.parse(local(t).slice(0, 10)) + days * 86400e3).toISOString().slice(0, 16));
}

/** How long, in at most two units: 350 ms, 1.5 s, 2 min 5 s, 3 h. @param {number} seconds @returns {string} */
export function lasting(seconds) {
  if (seconds < 0) return "−" + lasting(-seconds);
  if (seconds < 0.9995) return Math.round(seconds * 1000) + " ms";
  if (seconds < 59.95) return (seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)) + " s";
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  let left = Math.round(seconds);
  const out = [];
  for (const [size, unit] of /** @type {[number, string][]} */ (parts)) {
    const n = Math.floor(left / size);
    left -= n * size;
    if (n > 0) out.push(`${n} ${unit}`);
    else if (out.length) break;
    if (out.length === 2) break;
  }
  return out.join(" ");
}

/** How long ago, or how long until; while the page is blind, when, as nobody knows whether that still comes. @param {string | number | Date | undefined} t */
export function ago(t, at = hostNow()) {
  if (t === undefined || t === "") return "";
  const seconds = (at - date(t).getTime()) / 1000;
  if (seconds < 0 && blindSince() !== undefined) return when(t);
  if (Math.abs(seconds) < 1) return w("time.now");
  const text = lasting(Math.abs(seconds) < 60 ? Math.round(Math.abs(seconds)) : Math.abs(seconds));
  return seconds > 0 ? w("time.ago", { time: text }) : w("time.in", { time: text });
}
