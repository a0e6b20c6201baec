// The time that a list is about: today, last night, the last hours or days, or from one time to another. It stands in the address as span, or
// as from and to.
import { choice, field } from "./form.js";
import { local, midnight, offset, unlocal } from "./time.js";
import { w } from "./words.js";

const hour = 3600e3;
/** When a span begins. A map, as an address can name anything, and an object has more than what one puts into it. @type {Map<string, (now: number) => number>} */
const begins = new Map([
  ["today", (now) => midnight(now)], ["night", (now) => midnight(now) - 6 * hour],
  ...[["1h", 1], ["6h", 6], ["24h", 24], ["7d", 168], ["30d", 720]].map(([name, n]) => /** @type {[string, (now: number) => number]} */ ([name, (now) => now - Number(n) * hour])),
]);

/** What leaves the address when all time is wanted. */
export const anyTime = { span: "", from: "", to: "" };

/** @param {string | number | undefined} text */
function iso(text) {
  const t = new Date(text ?? "");
  return Number.isNaN(t.getTime()) ? undefined : t.toISOString();
}

/**
 * From when until when: what is left out has no bound.
 * @param {Record<string, string>} q
 * @returns {{from?: string, to?: string}}
 */
export function spanOf(q, now = Date.now()) {
  const begin = begins.get(q.span);
  return begin ? { from: new Date(begin(now)).toISOString() } : { from: iso(q.from), to: iso(q.to) };
}

/**
 * Controls for it.
 * @param {Record<string, string>} q
 * @param {(change: Record<string, string>) => void} change
 * @param {boolean} [isBounded] whether any time is too long
 */
export function spanFields(q, change, isBounded) {
  const isOwn = q.span === "own" || (!begins.has(q.span) && !!(q.from || q.to));
  /** @type {[string, string][]} */
  const options = [["today", w("span.today")], ["night", w("span.night")], ["1h", w("span.hour")], ["6h", w("span.hours", { n: 6 })], ["24h", w("span.hours", { n: 24 })], ["7d", w("span.days", { n: 7 })], ["30d", w("span.days", { n: 30 })], ["own", w("span.own")]];
  if (!isBounded) options.unshift(["", w("span.any")]);
  const zone = offset(iso(q.from) ?? Date.now());
  const turn = (/** @type {string} */ v) => change(v !== "own" ? { ...anyTime, span: v } : { span: "own", from: spanOf(q).from ?? new Date(Date.now() - 24 * hour).toISOString(), to: "" });
  return [
    choice({ id: "span", label: w("span.time"), value: isOwn ? "own" : begins.has(q.span) ? q.span : "", options, change: turn }),
    isOwn ? [
      field({ id: "from", label: w("span.from", { zone }), type: "datetime-local", value: local(q.from), change: (v) => change({ span: "own", from: iso(unlocal(v)) ?? "" }) }),
      field({ id: "to", label: w("span.to", { zone }), type: "datetime-local", value: local(q.to), change: (v) => change({ span: "own", to: iso(unlocal(v)) ?? "" }) }),
    ] : null,
  ];
}
