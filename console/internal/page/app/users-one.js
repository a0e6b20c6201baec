// One user: what he may do, whether he may log in, his tokens and sessions.
import { askAbout, isConflict, run } from "./actions.js";
import { answer, ask } from "./api.js";
import { h } from "./dom.js";
import { facts, link } from "./facts.js";
import { crumbs, heading, page, start, tools } from "./frame.js";
import { grantForm, grantList, grantsOf, rowsOf } from "./grants.js";
import { newPassword } from "./password.js";
import { keep } from "./poll.js";
import { sessionTable } from "./sessions.js";
import { newToken, revokeToken, tokenTable } from "./tokens.js";
import { at, button, note, pairs, refusal, section } from "./ui.js";
import { endSession, stateOf } from "./users-list.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").UserInfo} User */
/** @typedef {{user: User, etag: string, sessions: import("./types/api").SessionInfo[]}} Loaded */
/**
 * @typedef {{
 *   name: string, loaded: Loaded, grants: import("./grants.js").Row[], isChanged: boolean, refused: unknown,
 *   draw: () => void, reload: () => Promise<void>,
 * }} One
 * grants as they are typed, isChanged since they were read; refused is why they were not saved
 */

/** @param {string} name @returns {Promise<Loaded>} */
async function load(name) {
  const [user, sessions] = await Promise.all([answer("GET /users/{user}", { user: name }), ask("GET /sessions", { user: name })]);
  return { user: user.value, etag: user.etag, sessions: sessions.rows };
}

/** @param {string} name */
export function showUser(name) {
  heading(name);
  crumbs([w("users.title"), link(["users"])]);
  void start(() => load(name), (loaded) => {
    /** @type {One} */
    const one = { name, loaded, grants: rowsOf(loaded.user.grants), isChanged: false, refused: undefined, draw: () => {}, reload: () => reload(one) };
    one.draw = page(() => {
      tools(actions(one));
      return [
        section(w("users.logIn"), {}, pairs([[w("users.state"), stateOf(one.loaded.user)], [w("users.created"), at(one.loaded.user.created)]])),
        rights(one),
        tokens(one),
        section(w("sessions.title"), {}, sessionTable(one.loaded.sessions, { label: w("sessions.title"), end: (s) => endSession(s, () => after(one)) })),
      ];
    });
    keep(one.reload, 8);
    addEventListener("beforeunload", (e) => one.isChanged && e.preventDefault());
  });
}

/** @param {One} one */
async function reload(one) {
  try {
    const now = await load(one.name);
    // What is being typed stays, with the version that it was read with: who saves it learns what has changed.
    one.loaded = one.isChanged ? { ...now, etag: one.loaded.etag } : now;
    if (!one.isChanged && !editing()) one.grants = rowsOf(now.user.grants);
  } finally {
    one.draw();
  }
}

/** Whether somebody is in the form of grants: its rows are not made anew then. */
const editing = () => document.activeElement?.closest(".grantform") !== null;

/** Shows what has changed. @param {One} one */
const after = (one) => one.reload().catch(() => {}); // it is asked for again soon

/** @param {One} one */
function rights(one) {
  const save = async (/** @type {string} */ etag) => {
    try {
      await ask("PUT /users/{user}", { user: one.name, "If-Match": etag }, { grants: grantsOf(one.grants), disabled: one.loaded.user.disabled });
      one.isChanged = false;
      one.refused = undefined;
    } catch (e) {
      one.refused = e;
    }
    await after(one);
  };
  const changed = () => {
    one.isChanged = true;
    one.draw();
  };
  const leave = () => {
    one.isChanged = false;
    one.refused = undefined;
    one.grants = rowsOf(one.loaded.user.grants);
    return after(one);
  };
  return section(w("users.may"), {},
    grantForm(one.grants, changed, one.refused, true),
    isConflict(one.refused) ? conflict(one, save, leave) : one.isChanged
      ? h("div", { class: "ends" }, refusal(one.refused), button(w("users.undo"), leave), button(w("ui.save"), () => save(one.loaded.etag), { kind: "first" })) : null);
}

/** @param {One} one @param {(etag: string) => Promise<void>} save @param {() => unknown} leave */
function conflict(one, save, leave) {
  const overwrite = async () => {
    const now = await load(one.name);
    one.loaded = now;
    await save(now.etag);
  };
  return note("warn", h("p", null, h("strong", null, w("users.conflict"))), grantList(one.loaded.user.grants),
    h("div", { class: "ends" }, button(w("users.theirs"), leave), button(w("users.mine"), overwrite, { kind: "danger" })));
}

/** @param {One} one */
function tokens(one) {
  const make = button(w("tokens.new"), async () => {
    if (await newToken((body) => ask("POST /users/{user}/tokens", { user: one.name }, body))) await after(one);
  });
  const revoke = async (/** @type {import("./types/api").TokenInfo} */ t) => {
    if (await revokeToken(t, () => ask("DELETE /users/{user}/tokens/{token}", { user: one.name, token: t.name }))) await after(one);
  };
  return section(w("tokens.title"), { tools: make }, tokenTable(one.loaded.user.tokens, revoke));
}

/** @param {One} one */
function actions(one) {
  const { user } = one.loaded;
  const isMe = user.name === facts.user;
  const values = { user: user.name };
  const setPassword = async () => {
    const done = await newPassword({
      title: w("users.setPasswordOf", values), text: w("users.setPasswordText"), isOwn: false,
      set: (p) => ask("PUT /users/{user}/password", { user: user.name }, { new: p.new }),
    });
    if (done) await after(one);
  };
  const disable = async () => {
    const done = await askAbout({ title: w("users.disableAsk", values), text: w("users.disableText"), does: w("users.disable"), danger: true, run: () => setDisabled(one, true) });
    if (done) await after(one);
  };
  const enable = async () => {
    if (await run({ title: w("users.enableOf", values), does: w("users.enable"), run: () => setDisabled(one, false) })) await after(one);
  };
  const remove = async () => {
    const done = await askAbout({
      title: w("users.removeAsk", values), text: w("users.removeText"), does: w("ui.remove"), danger: true, quiet: true,
      run: () => ask("DELETE /users/{user}", { user: user.name }),
    });
    if (!done) return;
    one.isChanged = false; // nobody is asked whether to leave
    location.assign(link(["users"]));
  };
  return [
    isMe ? h("a", { class: "button", href: link(["account"]) }, w("users.account")) : button(w("users.setPassword"), setPassword),
    user.disabled ? button(w("users.enable"), enable) : isMe ? null : button(w("users.disable"), disable),
    isMe ? null : button(w("ui.remove"), remove, { kind: "danger" }),
  ];
}

/** @param {One} one @param {boolean} disabled */
async function setDisabled(one, disabled) {
  const now = await answer("GET /users/{user}", { user: one.name });
  await ask("PUT /users/{user}", { user: one.name, "If-Match": now.etag }, { grants: now.value.grants, disabled });
}
