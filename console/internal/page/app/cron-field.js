// A field for a cron expression: it can be built of choices, is explained in words, and shows its next ticks.
import { ask, Problem } from "./api.js";
import { expressionOf, formOf, kinds, steps, weekdays } from "./cron-form.js";
import { h } from "./dom.js";
import { facts } from "./facts.js";
import { field } from "./form.js";
import { tickList } from "./ticks.js";
import { w } from "./words.js";

/** @typedef {import("./dom.js").View} View */
/** @typedef {import("./cron-form.js").Form} Form */
/** @typedef {(part: (now: Form) => Partial<Form>) => void} Choose */
/** @typedef {{value: string, zone?: string, change: (value: string) => void, error?: View, disabled?: boolean, isAlone?: boolean}} Cron isAlone (default true): nothing but the expression says when it runs, so its ticks are told */

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
// The fifth of January 2026 was a Monday.
const dayName = new Intl.DateTimeFormat(facts.language, { weekday: "short", timeZone: "UTC" });

/**
 * Makes a field; its view is drawn with the value of now. An empty value is a job that only runs when somebody triggers it.
 * @param {string} id
 * @param {() => void} again draws the page
 * @returns {{view: (c: Cron) => View}}
 */
export function cronField(id, again) {
  /** Whether the user wants to write the expression himself, though a form could. */
  let isOwn = false;
  /** The expression of now, also before it is drawn. */
  let now = "";
  let asked = "";
  /** @type {import("./types/api").CronInfo | undefined} */
  let info;
  /** @type {{field: string, text: string} | undefined} */
  let wrong;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** Asks what the expression means, once it has stood still for a moment. @param {string} expression @param {string} timeZone */
  const explain = (expression, timeZone) => {
    const question = timeZone + " " + expression;
    if (question === asked) return;
    const wait = asked === "" ? 0 : 300;
    asked = question;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      try {
        const answer = expression.trim() === "" ? undefined : await ask("GET /cron", { expression, timeZone, language: facts.language, count: 5 });
        if (question !== asked) return;
        info = answer;
        wrong = undefined;
      } catch (e) {
        if (question !== asked) return;
        info = undefined;
        const first = e instanceof Problem ? e.errors[0] : undefined;
        wrong = { field: first?.field ?? "", text: first?.reason ?? String(e instanceof Error ? e.message : e) };
        if (!first) asked = ""; // it was not the expression: the next draw asks again
      }
      again();
    }, wait);
  };

  /** @param {Cron} c */
  const view = (c) => {
    const zone = c.zone || browserZone;
    explain(c.value, zone);
    now = c.value;
    const form = formOf(now);
    if (isOwn) form.kind = "other";
    /** @type {Choose} */
    const choose = (part) => {
      const was = formOf(now);
      const change = part(was);
      const next = { ...was, ...change };
      isOwn = next.kind === "other";
      if (change.kind && change.kind in steps) next.every = change.kind === "hours" ? 2 : 5;
      if (!isOwn) c.change((now = expressionOf(next)));
      again();
    };
    const isZone = wrong?.field === "query.timeZone";
    return h("div", { class: "cron", key: id },
      c.disabled ? null : h("div", { class: "cron-form", role: "group", "aria-label": w("cron.build") }, choices(id, form, choose)),
      field({
        id, label: w("cron.expression"), value: c.value, change: (v) => {
          isOwn = formOf(v).kind === "other";
          c.change((now = v));
          again();
        }, code: true, disabled: c.disabled, placeholder: "0 0 3 * * ?", error: (wrong && !isZone && wrong.text) || c.error,
      }),
      h("div", { class: "cron-means", role: "status" },
        c.value.trim() === "" ? h("p", { class: "soft" }, w("cron.never")) : null,
        isZone ? h("p", { class: "soft" }, w("cron.zoneUnknown", { zone })) : null,
        info ? meaning(info, c) : null));
  };
  return { view };
}

/** What an expression means, and its next ticks. @param {import("./types/api").CronInfo} info @param {Cron} c */
function meaning(info, { zone, isAlone = true }) {
  const text = h("p", { class: "cron-text" }, info.explanation);
  if (!isAlone) return text;
  if (!info.ticks.length) return [text, h("p", { class: "soft" }, w("cron.noTick"))];
  return [text, h("p", { class: "soft" }, zone ? w("cron.next", { zone }) : w("cron.nextHere", { zone: browserZone })), tickList(info.ticks, zone)];
}

/**
 * Choices that write the expression.
 * @param {string} id
 * @param {Form} f
 * @param {Choose} choose
 */
function choices(id, f, choose) {
  /** @param {Event} e */
  const value = (e) => /** @type {HTMLInputElement} */ (e.target).value;
  const time = () => h("label", null, w("cron.at"), h("input", { type: "time", id: id + "-time", value: f.time, required: true, onchange: (/** @type {Event} */ e) => value(e) && choose(() => ({ time: value(e).slice(0, 5) })) }));
  /** @param {"seconds" | "minutes" | "hours"} kind */
  const every = (kind) => h("label", null, w("cron.every"), h("select", { id: id + "-every", value: String(f.every), onchange: (/** @type {Event} */ e) => choose(() => ({ every: Number(value(e)) })) },
    steps[kind].map((n) => h("option", { value: n, key: kind + n }, { seconds: w("cron.nSeconds", { n }), minutes: w("cron.nMinutes", { n }), hours: w("cron.nHours", { n }) }[kind]))));
  return [
    h("label", null, w("cron.runs"), h("select", { id: id + "-kind", value: f.kind, onchange: (/** @type {Event} */ e) => choose(() => ({ kind: /** @type {Form["kind"]} */ (value(e)) })) },
      kinds.map((kind) => h("option", { value: kind, key: kind }, w(`cron.${kind}`))))),
    f.kind === "seconds" || f.kind === "minutes" || f.kind === "hours" ? every(f.kind) : null,
    f.kind === "hours" ? h("label", null, w("cron.minute"), h("input", {
      type: "number", id: id + "-minute", min: 0, max: 59, value: String(f.minute), required: true,
      onchange: (/** @type {Event} */ e) => choose(() => ({ minute: Math.min(59, Math.max(0, Math.floor(Number(value(e))))) })),
    })) : null,
    f.kind === "week" ? weekdayChoices(id, f, choose) : null,
    f.kind === "month" ? h("label", null, w("cron.on"), h("select", { id: id + "-day", value: f.day, onchange: (/** @type {Event} */ e) => choose(() => ({ day: value(e) })) },
      Array.from({ length: 31 }, (_, i) => h("option", { value: i + 1, key: i + 1 }, w("cron.dayOfMonth", { day: String(i + 1) }))), h("option", { value: "L", key: "L" }, w("cron.lastDay")))) : null,
    f.kind === "day" || f.kind === "week" || f.kind === "month" ? time() : null,
  ];
}

/**
 * One day of the week stays chosen at least.
 * @param {string} id
 * @param {Form} f
 * @param {Choose} choose
 */
function weekdayChoices(id, f, choose) {
  return h("fieldset", { class: "weekdays" }, h("legend", null, w("cron.on")), weekdays.map((day, i) => {
    const isOn = f.days.includes(day);
    return h("label", { key: day }, h("input", {
      type: "checkbox", id: `${id}-${day}`, checked: isOn, disabled: isOn && f.days.length === 1,
      onchange: () => choose((now) => ({ days: weekdays.filter((d) => (d === day ? !isOn : now.days.includes(d))) })),
    }), " ", dayName.format(new Date(Date.UTC(2026, 0, 5 + i))));
  }));
}
