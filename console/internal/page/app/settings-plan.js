// What a configuration would change: fields, lines of the document, ticks, and what else comes of it.
import { diffView } from "./diff-view.js";
import { h } from "./dom.js";
import { fieldName } from "./settings-fields.js";
import { tickList } from "./ticks.js";
import { note } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").Plan} Plan */

/**
 * @param {Plan} plan
 * @param {string | undefined} before zone of the job now
 * @param {string | undefined} after zone that it would have
 */
export function planView(plan, before, after) {
  const changes = plan.changes;
  return h("div", { class: "plan" },
    (plan.warnings ?? []).map((text) => note("warn", h("p", { class: "detail" }, text))),
    changes.length ? h("ul", { class: "changes" }, changes.slice(0, 40).map((c) => h("li", { key: c.field },
      h("strong", null, fieldName(c.field)), ": ", value("del", c.before), " → ", value("ins", c.after),
      c.goOnly ? h("span", { class: "soft" }, " ", w("settings.goOnly")) : null))) : null,
    changes.length > 40 ? h("p", { class: "hint" }, w("settings.moreChanges", { n: changes.length - 40 })) : null,
    h("h3", null, w("settings.document")),
    diffView(plan.before ?? "", plan.after),
    sameTicks(plan) ? h("p", { class: "hint" }, w("settings.sameTicks")) : h("div", { class: "fields" },
      ticks(w("settings.ticksBefore"), plan.ticksBefore, before), ticks(w("settings.ticksAfter"), plan.ticksAfter, after)));
}

/** @param {"del" | "ins"} tag @param {string} text */
function value(tag, text) {
  if (text === "") return h("span", { class: "soft" }, w("settings.nothing"));
  return h(tag, { class: "code" }, text.length > 200 ? text.slice(0, 200) + "…" : text);
}

/** @param {Plan} plan */
function sameTicks(plan) {
  const times = (/** @type {string[] | undefined} */ list) => (list ?? []).map((t) => Date.parse(t)).join();
  return times(plan.ticksBefore) === times(plan.ticksAfter);
}

/**
 * The next ticks in a zone.
 * @param {string} title
 * @param {string[] | undefined} list
 * @param {string | undefined} zone
 */
export function ticks(title, list, zone) {
  return h("div", null, h("h3", null, title), list?.length ? tickList(list, zone) : h("p", { class: "hint" }, w("cron.noTick")));
}
