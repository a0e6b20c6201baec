// The fields of a configuration, in groups, and the control of each.
import { h } from "./dom.js";
import { inNamespace, manual } from "./facts.js";
import { area, check, choice, field } from "./form.js";
import { namesOf } from "./settings-model.js";
import { has, term, w } from "./words.js";

/** @typedef {import("./dom.js").View} View */
/**
 * @typedef {{
 *   key: string, kind: "text" | "number" | "flag" | "lines" | "area" | "zone" | "choice" | "cron" | "calendars",
 *   unit?: "ms" | "s" | "min", usual?: string, list?: string[],
 * }} Field
 * usual is what an empty one means.
 */

const strategies = ["AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN", "SINGLE_SHARDING_BALANCE", "STICKY", "WEIGHTED", "LEAST_LOADED"];

/** @type {{name: "schedule" | "sharding" | "failure" | "missed" | "more", fields: Field[]}[]} */
export const groups = [
  { name: "schedule", fields: [
    { key: "cron", kind: "cron" },
    { key: "timeZone", kind: "zone" },
    { key: "props: cron.more", kind: "lines" },
    { key: "props: schedule.calendars", kind: "calendars" },
  ] },
  { name: "sharding", fields: [
    { key: "shardingTotalCount", kind: "number" },
    { key: "jobShardingStrategyType", kind: "text", usual: "AVG_ALLOCATION", list: strategies },
    { key: "shardingItemParameters", kind: "area" },
    { key: "jobParameter", kind: "area" },
    { key: "label", kind: "text" },
    { key: "props: sharding.items.max", kind: "number", usual: "0" },
    { key: "staticSharding", kind: "flag" },
    { key: "props: broadcast", kind: "flag" },
  ] },
  { name: "missed", fields: [
    { key: "misfire", kind: "flag" },
    { key: "props: overlap", kind: "choice", list: ["WAIT", "SKIP"] },
    { key: "props: misfire.tolerance.milliseconds", kind: "number", unit: "ms", usual: "1000" },
    { key: "props: misfire.window.seconds", kind: "number", unit: "s", usual: "0" },
  ] },
  { name: "failure", fields: [
    { key: "failover", kind: "flag" },
    { key: "props: execution.timeout.seconds", kind: "number", unit: "s", usual: "0" },
    { key: "props: retry.attempts", kind: "number", usual: "0" },
    { key: "props: retry.backoff.initial.milliseconds", kind: "number", unit: "ms", usual: "1000" },
    { key: "props: retry.backoff.max.milliseconds", kind: "number", unit: "ms", usual: "60000" },
    { key: "jobErrorHandlerType", kind: "text", usual: "LOG", list: ["LOG", "IGNORE", "THROW"] },
  ] },
  { name: "more", fields: [
    { key: "monitorExecution", kind: "flag" },
    { key: "disabled", kind: "flag" },
    { key: "overwrite", kind: "flag" },
    { key: "props: expiry.remove", kind: "flag" },
    { key: "props: expiry.at", kind: "text", usual: "" },
    { key: "props: expiry.ticks", kind: "number", usual: "0" },
    { key: "props: schedule.jitter.milliseconds", kind: "number", unit: "ms", usual: "0" },
    { key: "jobExecutorThreadPoolSizeProviderType", kind: "choice", list: ["CPU", "SINGLE_THREAD"] },
    { key: "props: executor.threads", kind: "number", usual: "0" },
    { key: "jobListenerTypes", kind: "text" },
    { key: "maxTimeDiffSeconds", kind: "number", unit: "s", usual: "-1" },
    { key: "reconcileIntervalMinutes", kind: "number", unit: "min", usual: "10" },
    { key: "props: revision", kind: "number", usual: "0" },
  ] },
];

const keys = new Set(["jobName", "description", ...groups.flatMap((g) => g.fields.map((f) => f.key))]);

/** Whether the form has a field for a key. @param {string} key */
export const isField = (key) => keys.has(key);

/** The name of a field for people. @param {string} key */
export const fieldName = (key) => term("setting", key);

/** @typedef {{value: (key: string) => string, change: (key: string, value: string) => void, error: (key: string) => string | undefined, disabled: boolean, calendars: string[]}} Form */

/**
 * The control of a field; that for the expression is the page's.
 * @param {Field} f
 * @param {Form} form
 */
export function control(f, form) {
  const hint = [
    has("settinghint", f.key) ? term("settinghint", f.key) + " " : null,
    f.unit ? w("settings.unit", { unit: term("unit", f.unit) }) + " " : null,
    h("a", manual("reference/configuration", f.key), h("code", { class: "key" }, f.key.replace("props: ", ""))),
  ];
  const common = {
    id: idOf(f.key), label: fieldName(f.key), value: form.value(f.key), change: (/** @type {string} */ v) => form.change(f.key, v),
    error: form.error(f.key), hint, disabled: form.disabled, placeholder: f.usual, key: f.key,
  };
  switch (f.kind) {
    case "flag":
      return [
        check({ ...common, value: common.value === "true", change: (v) => form.change(f.key, v ? "true" : f.key.startsWith("props: ") ? "" : "false") }),
        common.error ? h("p", { class: "error" }, common.error) : null,
      ];
    case "choice":
      return choice({ ...common, options: [["", w("settings.usual", { value: term("settingvalue", (f.list ?? [])[0]) })], .../** @type {[string, string][]} */ ((f.list ?? []).map((v) => [v, term("settingvalue", v)]))] });
    case "area":
    case "lines":
      return area({ ...common, rows: Math.min(8, Math.max(2, common.value.split("\n").length, Math.ceil(common.value.length / 60))), code: true });
    case "zone":
      return field({ ...common, list: Intl.supportedValuesOf("timeZone"), placeholder: "Asia/Shanghai" });
    case "number":
      return field({ ...common, type: "number" });
    case "calendars":
      return calendars(common, form);
    default:
      return field({ ...common, list: f.list });
  }
}

/** The id of a control. @param {string} key */
export const idOf = (key) => "setting-" + key.replace(/[^\w.]+/g, "-");

/**
 * Calendars: those that there are, and those that are named without being there.
 * @param {{id: string, label: string, value: string, change: (v: string) => void, error?: string, hint: View}} c
 * @param {Form} form
 */
function calendars(c, form) {
  const chosen = namesOf(c.value);
  const names = [...new Set([...form.calendars, ...chosen])].slice(0, 50);
  return h("fieldset", { class: "field choices" + (c.error ? " wrong" : "") }, h("legend", null, c.label),
    names.map((name) => h("label", { key: name }, h("input", {
      type: "checkbox", id: c.id + "-" + name, checked: chosen.includes(name), disabled: form.disabled,
      onchange: () => {
        const now = namesOf(form.value("props: schedule.calendars"));
        c.change((now.includes(name) ? now.filter((n) => n !== name) : [...now, name]).join(","));
      },
    }), " ", name, form.calendars.includes(name) ? null : h("span", { class: "soft" }, w("settings.noCalendar")))),
    c.error ? h("p", { class: "error" }, c.error) : null,
    h("p", { class: "hint" }, c.hint, " ", h("a", { href: inNamespace(["calendars"]) }, w("settings.calendars"))));
}
