// Somebody else has saved meanwhile: what he has changed, what you have changed, and how to go on with both.
import { h } from "./dom.js";
import { fieldName } from "./settings-fields.js";
import { at, button, note } from "./ui.js";
import { w } from "./words.js";

/**
 * @typedef {{
 *   base: import("./settings-model.js").Flat, mine: import("./settings-model.js").Flat, theirs: import("./settings-model.js").Flat,
 *   merged: ReturnType<typeof import("./settings-model.js").merge>, entries: import("./types/api").AuditEntry[], taken: Set<string>, text?: string,
 * }} Conflict
 * taken are the keys of both for which theirs is taken; text is what was written here if that cannot be read: it is kept as a whole.
 */

/**
 * @param {Conflict} c
 * @param {{draw: () => void, goOn: () => unknown, drop: () => unknown}} o
 */
export function conflictView(c, o) {
  const keys = [...new Set([...c.merged.theirs, ...c.merged.mine])].sort();
  return h("section", { class: "block conflict", "aria-labelledby": "conflict" },
    note("warn",
      h("h2", { id: "conflict" }, w("settings.conflict")),
      c.entries.map((e) => h("p", { key: e.id }, h("strong", null, e.by ?? ""), " · ", at(e.at), e.why ? " · " + e.why : null)),
      c.entries.length ? null : h("p", null, w("settings.conflictProgram")),
      h("p", null, c.merged.both.length ? w("settings.conflictBoth", { n: c.merged.both.length }) : w("settings.conflictApart"))),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": w("settings.conflict") }, h("table", { class: "cards" },
      h("thead", null, h("tr", null, [w("settings.field"), w("settings.was"), w("settings.theirs"), w("settings.mine")].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", null, keys.map((key) => row(c, key, o.draw))))),
    h("div", { class: "tools" },
      button(w("settings.goOn"), o.goOn, { kind: "first" }),
      button(w("settings.drop"), o.drop)));
}

/** @param {Conflict} c @param {string} key @param {() => void} draw */
function row(c, key, draw) {
  const isBoth = c.merged.both.includes(key);
  const isTaken = c.taken.has(key);
  /** @param {boolean} take @param {string} text */
  const pick = (take, text) => h("label", null, h("input", {
    type: "radio", name: "take-" + key, checked: isTaken === take,
    onchange: () => {
      if (take) c.taken.add(key);
      else c.taken.delete(key);
      draw();
    },
  }), " ", shown(text));
  const theirs = c.merged.theirs.includes(key);
  const mine = c.merged.mine.includes(key);
  return h("tr", { key },
    h("td", null, h("strong", null, fieldName(key))),
    h("td", { "data-name": w("settings.was") }, shown(c.base[key])),
    h("td", { "data-name": w("settings.theirs") }, isBoth ? pick(true, c.theirs[key]) : theirs ? shown(c.theirs[key]) : h("span", { class: "soft" }, w("settings.untouched"))),
    h("td", { "data-name": w("settings.mine") }, isBoth ? pick(false, c.mine[key]) : mine ? shown(c.mine[key]) : h("span", { class: "soft" }, w("settings.untouched"))));
}

/** @param {string | undefined} text */
function shown(text) {
  if (!text) return h("span", { class: "soft" }, w("settings.nothing"));
  return h("span", { class: "code" }, text.length > 200 ? text.slice(0, 200) + "…" : text);
}
