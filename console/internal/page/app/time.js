// Times and durations as people read them.
import { blindSince, hostNow } from "./hosttime.js";
import { facts } from "./facts.js";
import { w } from "./words.js";

const day = new Intl.DateTimeFormat(facts.language, { year: "numeric", month: "2-digit", day: "2-digit" });
const clock = new Intl.DateTimeFormat(facts.language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

/** @param {string | number | Date} t */
const date = (t) => (t instanceof Date ? t : new Date(t));

/** The time of day; with the day if it is not today's. @param {string | number | Date | undefined} t */
export function when(t) {
  if (t === undefined || t === "") return "";
  const d = date(t);
  return day.format(d) === day.format(new Date()) ? clock.format(d) : day.format(d) + " " + clock.format(d);
}

/** Day and time, whatever day it is. @param {string | number | Date | undefined} t */
export function whenFull(t) {
  if (t === undefined || t === "") return "";
  return day.format(date(t)) + " " + clock.format(date(t));
}

/**
 * Day and time in a zone, with the day of the week. An unknown zone is that of the browser.
 * @param {string | number | Date} t
 * @param {string | undefined} zone
 */
export function whenIn(t, zone) {
  /** @param {string | undefined} timeZone */
  const parts = (timeZone) => new Intl.DateTimeFormat(facts.language, {
    weekday: "short", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit",
    hourCycle: "h23", timeZone, timeZoneName: "shortOffset",
  }).formatToParts(date(t));
  let found;
  try {
    found = parts((zone ?? "").replace(/^GMT(?=[+-])/, "") || undefined);
  } catch {
    found = parts(undefined); // ElasticJob knows zones that browsers do not
  }
  const p = Object.fromEntries(found.map(({ type, value }) => [type, value]));
  return `${p.weekday} ${p.year}-${p.month}-${p.day} ${p.hour}:${p.minute}:${p.second} ${p.timeZoneName}`;
}

/** A time as a datetime-local control has it: in the zone of the browser, to the minute; empty if it is none. @param {string | number | undefined} t */
export function local(t) {
  const d = new Date(t ?? "");
  return Number.isNaN(d.getTime()) ? "" : new Date(d.getTime() - d.getTimezoneOffset() * 60e3).toISOString().slice(0, 16);
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
