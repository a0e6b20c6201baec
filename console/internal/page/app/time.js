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
  if (formatOf(known(name))) zone = known(name);
}

/** ElasticJob writes offsets as GMT+8, browsers as +8. @param {string | undefined} name */
const known = (name) => (name ?? "").replace(/^GMT(?=[+-])/, "");

/** @type {Map<string, Intl.DateTimeFormat | undefined>} */
const formats = new Map();

/** What tells the offset of a zone; undefined for one that browsers do not know. @param {string} timeZone */
function formatOf(timeZone) {
  if (!formats.has(timeZone)) {
    try {
      formats.set(timeZone, timeZone ? new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }) : undefined);
    } catch {
      formats.set(timeZone, undefined);
    }
  }
  return formats.get(timeZone);
}

/** Offsets that were told, as that takes long. They change at full quarters of an hour. @type {Map<string, number>} */
const offsets = new Map();

/** How many milliseconds the clocks of a zone are before UTC; of one that browsers do not know, those of the page. @param {number} t @param {string} [of] @returns {number} */
function ahead(t, of = zone) {
  const format = formatOf(of);
  if (!format) return ahead(t, zone);
  const key = of + Math.floor(t / 900e3);
  let found = offsets.get(key);
  if (found === undefined) {
    const [, sign, hours, minutes] = /GMT([+-])(\d+):(\d+)/.exec(format.format(t)) ?? ["", "+", "0", "0"];
    found = Number(sign + "1") * (Number(hours) * 60 + Number(minutes)) * 60e3;
    if (offsets.size > 10000) offsets.clear();
    offsets.set(key, found);
  }
  return found;
}

/** @param {Time} t */
const ms = (t) => (t instanceof Date ? t : new Date(t)).getTime();

/** A time as clocks show it: 2026-11-30T14:28:56.123Z, where Z means nothing. @param {Time} t @param {string} [of] a zone */
const shown = (t, of) => new Date(ms(t) + ahead(ms(t), of)).toISOString();

/** The time of day: 14:28, with 8 signs 14:28:56, with 12 14:28:56.123. @param {Time} t @param {5 | 8 | 12} [signs] */
export const clock = (t, signs = 5) => shown(t).slice(11, 11 + signs);

/** The day without its year: 11-30. @param {Time} t */
export const dayOf = (t) => shown(t).slice(5, 10);

/** How a zone stands to UTC: UTC+1, UTC+5:45. @param {Time} t @param {string} [of] */
export function offset(t, of) {
  const minutes = ahead(ms(t), of) / 60e3;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return "UTC" + (minutes ? `${minutes < 0 ? "-" : "+"}${hours}${rest ? ":" + String(rest).padStart(2, "0") : ""}` : "");
}

/** Whether it is today. @param {Time} t */
export const isToday = (t) => shown(t).slice(0, 10) === shown(Date.now()).slice(0, 10);

/** The time of day; with the day if it is not today's. @param {Time | undefined} t */
export function when(t) {
  if (t === undefined || t === "") return "";
  return isToday(t) ? clock(t, 8) : shown(t).slice(0, 19).replace("T", " ");
}

/** Day, time and zone, whatever day it is. @param {Time | undefined} t @param {string} [of] a zone; default that of the page */
export function whenFull(t, of) {
  if (t === undefined || t === "") return "";
  return `${shown(t, of).slice(0, 19).replace("T", " ")} ${offset(t, of)}`;
}

const weekday = new Intl.DateTimeFormat(facts.language, { weekday: "short", timeZone: "UTC" });

/** As whenFull, in another zone and with the day of the week: as schedules say it. @param {Time} t @param {string | undefined} of */
export function whenIn(t, of) {
  const there = known(of) || zone;
  return `${weekday.format(ms(shown(t, there)))} ${whenFull(t, there)}`;
}

/** A time as a datetime-local control has it: to the minute; empty if it is none. @param {Time | undefined} t */
export function local(t) {
  return Number.isNaN(ms(t ?? "")) ? "" : shown(/** @type {Time} */ (t)).slice(0, 16);
}

/** The time that local has written; of one that a clock leaves out, a later one. @param {string} text */
export function unlocal(text) {
  const asUTC = Date.parse(text + "Z");
  if (Number.isNaN(asUTC)) return NaN;
  const near = asUTC - ahead(asUTC);
  const found = asUTC - ahead(near); // the clock may have been turned between the two
  return [found, near].find((t) => local(t) === text) ?? Math.max(near, found);
}

/** The beginning of the day, or of that so many days later: days may be an hour longer or shorter. @param {number} t */
export function midnight(t, days = 0) {
  return unlocal(new Date(Date.parse(shown(t).slice(0, 10)) + days * 86400e3).toISOString().slice(0, 16));
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
  const seconds = (at - ms(t)) / 1000;
  if (seconds < 0 && blindSince() !== undefined) return when(t);
  if (Math.abs(seconds) < 1) return w("time.now");
  const text = lasting(Math.abs(seconds) < 60 ? Math.round(Math.abs(seconds)) : Math.abs(seconds));
  return seconds > 0 ? w("time.ago", { time: text }) : w("time.in", { time: text });
}
