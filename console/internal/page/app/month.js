// A month as a sheet: days that a calendar leaves out, and hours of days.
import { h } from "./dom.js";
import { facts } from "./facts.js";
import { button } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").CalendarPlan} CalendarPlan */

const monthName = new Intl.DateTimeFormat(facts.language, { year: "numeric", month: "long", timeZone: "UTC" });
const dayName = new Intl.DateTimeFormat(facts.language, { weekday: "short", timeZone: "UTC" });
const dayFull = new Intl.DateTimeFormat(facts.language, { weekday: "long", month: "long", day: "numeric", timeZone: "UTC" });

/** The month of a day: YYYY-MM. @param {Date} [day] */
export function monthOf(day = new Date()) {
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}`;
}

/** How many days a month has. @param {string} month */
export function daysOf(month) {
  const [y, m] = month.split("-").map(Number);
  return new Date(Date.UTC(y, m, 0)).getUTCDate();
}

/** The month so many months later. @param {string} month @param {number} n */
function later(month, n) {
  const [y, m] = month.split("-").map(Number);
  return new Date(Date.UTC(y, m - 1 + n, 1)).toISOString().slice(0, 7);
}

/**
 * What is left out of each day of a month: "all", or hours as 18:00–24:00. Times are read as they are written: by the clock of the
 * calendar's zone.
 * @param {string} month
 * @param {CalendarPlan["rows"]} spans
 * @returns {Map<string, "all" | string[]>} by day, as YYYY-MM-DD
 */
export function leftOut(month, spans) {
  /** @type {Map<string, "all" | string[]>} */
  const days = new Map();
  for (const { from, to } of spans) {
    const [first, begin] = [from.slice(0, 10), from.slice(11, 16)];
    const [last, end] = [to.slice(0, 10), to.slice(11, 16)];
    for (let n = 1; n <= daysOf(month); n++) {
      const day = `${month}-${String(n).padStart(2, "0")}`;
      if (day < first || day > last || (day === last && end === "00:00")) continue;
      const a = day === first ? begin : "00:00";
      const b = day === last ? end : "24:00";
      const known = days.get(day);
      if (a === "00:00" && b === "24:00") days.set(day, "all");
      else if (known !== "all") days.set(day, [...(known ?? []), `${a}–${b}`]);
    }
  }
  return days;
}

/**
 * @param {string} month
 * @param {CalendarPlan | undefined} plan undefined while it is not known
 * @param {(month: string) => void} turn shows another month
 */
export function monthView(month, plan, turn) {
  const [y, m] = month.split("-").map(Number);
  const days = leftOut(month, plan?.rows ?? []);
  const lead = (new Date(Date.UTC(y, m - 1, 1)).getUTCDay() + 6) % 7; // a week begins with Monday
  /** @type {(string | undefined)[]} */
  const cells = [...Array.from({ length: lead }, () => undefined), ...Array.from({ length: daysOf(month) }, (_, i) => `${month}-${String(i + 1).padStart(2, "0")}`)];
  while (cells.length % 7) cells.push(undefined);
  const weeks = Array.from({ length: cells.length / 7 }, (_, i) => cells.slice(i * 7, i * 7 + 7));
  const title = monthName.format(new Date(Date.UTC(y, m - 1, 1)));
  return h("div", { class: "month" },
    h("div", { class: "month-head" },
      button("‹", () => turn(later(month, -1)), { label: w("calendar.before"), title: w("calendar.before") }),
      h("p", { class: "month-name", "aria-live": "polite" }, title),
      button("›", () => turn(later(month, 1)), { label: w("calendar.after"), title: w("calendar.after") }),
      month === monthOf() ? null : button(w("calendar.today"), () => turn(monthOf()), { kind: "quiet" })),
    h("table", null, h("caption", { class: "unseen" }, w("calendar.caption", { month: title })),
      h("thead", null, h("tr", null, Array.from({ length: 7 }, (_, i) => h("th", { scope: "col" }, dayName.format(new Date(Date.UTC(2026, 0, 5 + i))))))),
      h("tbody", null, weeks.map((week, i) => h("tr", { key: i }, week.map((day, j) => (day ? cell(day, days.get(day)) : h("td", { key: j, class: "none" }))))))),
    h("p", { class: "hint legend" }, h("span", { class: "whole" }, "✕"), " ", w("calendar.whole"), " ", h("span", { class: "part" }, "◐"), " ", w("calendar.part")));
}

/** @param {string} day @param {"all" | string[] | undefined} out */
function cell(day, out) {
  const whole = out === "all";
  const hours = Array.isArray(out) ? out : [];
  const text = whole ? w("calendar.whole") : hours.join(", ");
  const name = dayFull.format(new Date(day + "T00:00:00Z"));
  return h("td", { key: day, class: whole ? "whole" : hours.length ? "part" : null, title: out ? `${name}: ${text}` : name },
    h("span", { class: "num" }, String(Number(day.slice(8)))),
    out ? h("span", { class: "sign-of", "aria-hidden": "true" }, whole ? "✕" : "◐") : null,
    out ? h("span", { class: "unseen" }, text) : null,
    hours.length ? h("span", { class: "hours", "aria-hidden": "true" }, hours.slice(0, 2).map((t) => h("span", null, t)), hours.length > 2 ? h("span", null, "…") : null) : null);
}
