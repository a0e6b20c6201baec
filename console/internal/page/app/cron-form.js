// Quartz expressions as people choose them: every few minutes, daily, weekly … What none of these forms can write is "other".

/** @typedef {"seconds" | "minutes" | "hours" | "day" | "week" | "month" | "other" | "none"} Kind */
/**
 * @typedef {{kind: Kind, every: number, minute: number, time: string, days: string[], day: string}} Form
 * time is HH:MM; day is that of the month, L the last one.
 */

/** All forms, in the order in which they are offered. @type {Kind[]} */
export const kinds = ["seconds", "minutes", "hours", "day", "week", "month", "other", "none"];

/** Days of the week by their names in expressions, Monday first. */
export const weekdays = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];

/** After how many units a form can come again so that all distances are the same. */
export const steps = { seconds: [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30], minutes: [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30], hours: [1, 2, 3, 4, 6, 8, 12] };

/** @type {Form} */
const usual = { kind: "other", every: 5, minute: 0, time: "03:00", days: ["MON", "TUE", "WED", "THU", "FRI"], day: "1" };

/**
 * The form of an expression.
 * @param {string} expression
 * @returns {Form}
 */
export function formOf(expression) {
  const parts = expression.trim().toUpperCase().split(/\s+/);
  if (parts[0] === "") return { ...usual, kind: "none" };
  if (parts.length === 5) { // those of Unix cron, which writes * for ?, and knows neither L nor 0/5
    if (parts.some((part) => /[?L]|^\d+\//.test(part))) return usual;
    parts.unshift("0");
    if (parts[3] === "*" && parts[5] !== "*") parts[3] = "?";
    else if (parts[5] === "*" && parts[3] !== "*") parts[5] = "?";
  }
  if (parts.length !== 6) return usual;
  const [second, minute, hour, day, month, weekday] = parts;
  if (month !== "*") return usual;
  const isEveryDay = /^[*?]$/.test(day) && /^[*?]$/.test(weekday);
  /** @param {"seconds" | "minutes" | "hours"} kind @param {string} text @returns {number | undefined} */
  const step = (kind, text) => {
    const n = text === "*" ? 1 : Number(/^[0*]\/(\d{1,2})$/.exec(text)?.[1]);
    return steps[kind].includes(n) ? n : undefined;
  };
  const every = { seconds: step("seconds", second), minutes: step("minutes", minute), hours: step("hours", hour) };
  if (isEveryDay && hour === "*") {
    if (every.seconds && minute === "*") return { ...usual, kind: "seconds", every: every.seconds };
    if (every.minutes && second === "0") return { ...usual, kind: "minutes", every: every.minutes };
  }
  if (second !== "0" || !isNumber(minute, 59)) return usual;
  if (isEveryDay && every.hours) return { ...usual, kind: "hours", every: every.hours, minute: Number(minute) };
  if (!isNumber(hour, 23)) return usual;
  const time = hour.padStart(2, "0") + ":" + minute.padStart(2, "0");
  if (isEveryDay) return { ...usual, kind: "day", time };
  const days = daysOf(weekday);
  if (day === "?" && days.length) return { ...usual, kind: "week", time, days };
  if (weekday === "?" && (day === "L" || (isNumber(day, 31) && Number(day) > 0))) return { ...usual, kind: "month", time, day: day === "L" ? "L" : String(Number(day)) };
  return usual;
}

/**
 * The expression of a form; that of "other" cannot be written by it.
 * @param {Form} f
 */
export function expressionOf(f) {
  const [hour, minute] = f.time.split(":").map(Number);
  switch (f.kind) {
    case "seconds": return `${f.every === 1 ? "*" : "0/" + f.every} * * * * ?`;
    case "minutes": return `0 ${f.every === 1 ? "*" : "0/" + f.every} * * * ?`;
    case "hours": return `0 ${f.minute} ${f.every === 1 ? "*" : "0/" + f.every} * * ?`;
    case "day": return `0 ${minute} ${hour} * * ?`;
    case "week": return `0 ${minute} ${hour} ? * ${daysText(f.days)}`;
    case "month": return `0 ${minute} ${hour} ${f.day} * ?`;
    default: return "";
  }
}

/** @param {string} text @param {number} most */
function isNumber(text, most) {
  return /^\d{1,2}$/.test(text) && Number(text) <= most;
}

/** Names of days, and spans of them such as MON-FRI. @param {string} text @returns {string[]} none if it says something else */
function daysOf(text) {
  /** @type {Set<string>} */
  const found = new Set();
  for (const part of text.split(",")) {
    const [from, to = from] = part.split("-").map((name) => weekdays.indexOf(name));
    if (from < 0 || to < from) return [];
    for (let i = from; i <= to; i++) found.add(weekdays[i]);
  }
  return weekdays.filter((d) => found.has(d));
}

/** @param {string[]} days */
function daysText(days) {
  const from = weekdays.indexOf(days[0]);
  const isSpan = days.length > 2 && days.every((d, i) => weekdays[from + i] === d);
  return isSpan ? days[0] + "-" + days[days.length - 1] : days.join(",");
}
