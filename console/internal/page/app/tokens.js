// API tokens: a list, a form for a new one, and the new one, which is shown once.
import { askAbout } from "./actions.js";
import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { check, choice, field } from "./form.js";
import { grantForm, grantList, grantsOf, newRow } from "./grants.js";
import { reasonOf } from "./api.js";
import { table } from "./table.js";
import { at, badge, button, copy, empty, note, since } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").TokenInfo} Token */
/** @typedef {import("./types/api").NewToken} NewToken */
/** @typedef {import("./types/api").MadeToken} MadeToken */

/**
 * @param {Token[]} rows
 * @param {(token: Token) => unknown} revoke
 */
export function tokenTable(rows, revoke) {
  return table({
    label: w("tokens.title"), rows, key: (t) => t.name, empty: empty(w("tokens.none")),
    columns: [
      { name: "name", text: w("tokens.name"), cell: (t) => h("strong", null, t.name) },
      { name: "grants", text: w("tokens.may"), cell: (t) => (t.grants.length ? grantList(t.grants, 3) : w("tokens.asUser")) },
      { name: "created", text: w("tokens.created"), cell: (t) => at(t.created) },
      { name: "used", text: w("tokens.used"), cell: (t) => (t.used ? since(t.used) : w("tokens.never")) },
      { name: "expires", text: w("tokens.expires"), cell: (t) => (t.expired ? badge("bad", w("tokens.expired")) : t.expires ? since(t.expires) : w("tokens.never")) },
      { name: "revoke", text: w("ui.menu"), unseen: true, cell: (t) => button(w("tokens.revoke"), () => revoke(t), { kind: "quiet", label: w("tokens.revokeOf", { name: t.name }) }) },
    ],
  });
}

/**
 * Asks whether a token is to be revoked, and does it.
 * @param {Token} token
 * @param {() => Promise<void>} revoke
 */
export function revokeToken(token, revoke) {
  return askAbout({ title: w("tokens.revokeAsk", { name: token.name }), text: w("tokens.revokeText"), does: w("tokens.revoke"), danger: true, run: revoke });
}

/**
 * Asks for a new token, makes it, and shows it.
 * @param {(body: NewToken) => Promise<MadeToken>} make
 */
export async function newToken(make) {
  const typed = { name: "", days: "90", narrow: false, grants: [newRow()] };
  /** @type {MadeToken | undefined} */
  let made;
  const done = await askAbout({
    title: w("tokens.new"), does: w("tokens.make"), quiet: true, valid: () => typed.name !== "" && (!typed.narrow || typed.grants.length > 0),
    form: (again, error) => [
      field({
        id: "token-name", label: w("tokens.name"), value: typed.name, required: true, autofocus: true, hint: w("tokens.nameHint"), error: reasonOf(error, "name"),
        change: (v) => {
          typed.name = v;
          again();
        },
      }),
      choice({
        id: "token-days", label: w("tokens.counts"), value: typed.days, change: (v) => (typed.days = v),
        options: [...["7", "30", "90", "365"].map((d) => /** @type {[string, string]} */ ([d, w("tokens.days", { n: Number(d) })])), ["", w("tokens.untilRevoked")]],
      }),
      check({
        id: "token-narrow", label: w("tokens.narrow"), value: typed.narrow, hint: w("tokens.narrowHint"),
        change: (v) => {
          typed.narrow = v;
          again();
        },
      }),
      typed.narrow ? grantForm(typed.grants, again, error) : null,
    ],
    run: async () => {
      made = await make({
        name: typed.name, ...(typed.days ? { days: Number(typed.days) } : { neverExpires: true }), ...(typed.narrow ? { grants: grantsOf(typed.grants) } : {}),
      });
    },
  });
  // Only who says that he has it leaves: Escape, or a click beside, would lose it for ever.
  while (done && made && !(await show(made)));
  return done;
}

/** @param {MadeToken} made @returns {Promise<true | undefined>} */
function show(made) {
  return dialog(w("tokens.made", { name: made.info.name }), (close) => h("div", { class: "formrows" },
    note("warn", w("tokens.once")),
    h("p", { class: "secret" }, h("code", { id: "token" }, made.token), copy(made.token)),
    h("p", { class: "hint" }, w("tokens.header")),
    h("pre", null, `Authorization: Bearer ${made.token.slice(0, 8)}…`),
    h("div", { class: "ends" }, h("button", { type: "button", class: "first", onclick: () => close(true) }, w("tokens.kept")))));
}
