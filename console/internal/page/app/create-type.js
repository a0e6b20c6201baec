// What a new job runs: a script, an HTTP request, or what a program offers.
import { h } from "./dom.js";
import { field } from "./form.js";
import { typeFields } from "./type-fields.js";
import { note } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./create-state.js").Draft} Draft */

/** @type {{type: import("./create-state.js").Type, text: () => string, about: () => string}[]} */
const types = [
  { type: "SCRIPT", text: () => w("create.script"), about: () => w("create.scriptAbout") },
  { type: "HTTP", text: () => w("create.http"), about: () => w("create.httpAbout") },
  { type: "", text: () => w("create.program"), about: () => w("create.programAbout") },
];

/**
 * @param {Draft} draft
 * @param {string[] | undefined} offers what processes offer; undefined: that is not known
 */
export function typeView(draft, offers) {
  const what = draft.type || draft.implementation;
  return [
    h("fieldset", { class: "types" }, h("legend", { class: "unseen" }, w("create.what")), types.map((t) => h("label", { key: t.type },
      h("input", { type: "radio", name: "type", value: t.type, checked: draft.type === t.type, onchange: () => draft.edit("type", () => (draft.type = t.type)) }),
      h("span", null, h("strong", null, t.text()), h("span", { class: "hint" }, t.about()))))),
    draft.type ? null : program(draft, offers ?? []),
    typeFields({ props: draft.props, error: (key) => draft.error(key), edit: (key, act) => draft.edit(key, act) }),
    offers && what && !offers.includes(what) ? note("warn", w("create.notOffered", { what })) : null,
  ];
}

/** @param {Draft} draft @param {string[]} offers */
function program(draft, offers) {
  return field({
    id: "implementation", label: w("create.implementation"), hint: w("create.implementationHint"), required: true, code: true, list: offers.filter((o) => o !== "SCRIPT" && o !== "HTTP").slice(0, 500),
    value: draft.implementation, error: draft.error("implementation"), change: (v) => draft.edit("implementation", () => (draft.implementation = v.trim())),
  });
}
