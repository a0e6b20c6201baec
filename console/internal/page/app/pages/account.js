// The user's own account: what he may do, his password, his API tokens, and where he is logged in.
import { askAbout, run } from "../actions.js";
import { ask } from "../api.js";
import { h } from "../dom.js";
import { facts } from "../facts.js";
import { page, start } from "../frame.js";
import { grantList } from "../grants.js";
import { newPassword } from "../password.js";
import { keep, Kept } from "../poll.js";
import { sessionTable } from "../sessions.js";
import { newToken, revokeToken, tokenTable } from "../tokens.js";
import { button, note, pairs, section } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../types/api").Me} Me */
/** @typedef {{me: Me, tokens: import("../types/api").TokenInfo[], sessions: import("../types/api").SessionInfo[]}} Account */

/** Whether somebody has tokens and a password here: a user of the console himself. @param {Me} me */
const isUser = (me) => facts.users && !!me.user && !me.token;

/** @returns {Promise<Account>} */
async function load() {
  const me = await ask("GET /me", {});
  const [tokens, sessions] = await Promise.all([
    isUser(me) ? ask("GET /me/tokens", {}) : undefined,
    facts.users && (isUser(me) || me.session) ? ask("GET /me/sessions", {}) : undefined,
  ]);
  return { me, tokens: tokens?.rows ?? [], sessions: sessions?.rows ?? [] };
}

void start(load, (loaded) => {
  const account = new Kept(loaded, load, () => again());
  const after = (/** @type {Promise<boolean>} */ done) => done.then((was) => (was ? account.refresh() : undefined));
  const again = page(() => [
    aboutMe(account.now.me),
    isUser(account.now.me) ? tokens(account.now, after) : null,
    account.now.sessions.length ? sessions(account.now, after) : null,
  ]);
  keep(account.load, 8);
});

/** @param {Me} me */
function aboutMe(me) {
  const change = isUser(me) && me.hasPassword ? button(w("account.changePassword"), () => changePassword()) : null;
  return section(w("account.rights"), { tools: change },
    pairs([
      [w("account.name"), me.name],
      [w("account.address"), me.address],
      [w("account.password"), me.hasPassword ? w("account.hasPassword") : me.user ? w("account.noPassword") : w("account.elsewhere")],
    ]),
    me.grants.length ? h("div", { class: "several" }, h("h3", null, w("account.may")), grantList(me.grants)) : note("warn", h("p", null, w("account.noGrants"))),
    me.within ? h("div", { class: "several" }, h("h3", null, w("account.within")), grantList(me.within)) : null);
}

async function changePassword() {
  const done = await newPassword({
    title: w("account.changePassword"), text: w("account.changeText"), isOwn: true, set: (password) => ask("PUT /me/password", {}, password),
  });
  if (done) location.reload(); // all sessions are over: the log-in comes at this address
}

/** @param {Account} account @param {(done: Promise<boolean>) => unknown} after */
function tokens(account, after) {
  const make = button(w("tokens.new"), () => after(newToken((body) => ask("POST /me/tokens", {}, body))));
  return section(w("tokens.title"), { tools: make },
    h("p", { class: "soft" }, w("account.tokensText")),
    tokenTable(account.tokens, (t) => after(revokeToken(t, () => ask("DELETE /me/tokens/{token}", { token: t.name })))));
}

/** @param {Account} account @param {(done: Promise<boolean>) => unknown} after */
function sessions(account, after) {
  const end = (/** @type {string} */ session) => ask("DELETE /me/sessions/{session}", { session });
  const others = account.sessions.filter((s) => !s.mine);
  const all = others.length > 1 && button(w("account.endOthers"), () => after(askAbout({
    title: w("account.endOthersAsk"), text: w("account.endOthersText", { n: others.length }), does: w("account.endOthers"), danger: true,
    run: async () => {
      for (const s of others) await end(s.key);
    },
  })));
  return section(w("sessions.title"), { tools: all },
    h("p", { class: "soft" }, w("account.sessionsText")),
    sessionTable(account.sessions, { label: w("sessions.title"), end: (s) => after(run({ title: w("sessions.endOf", { address: s.address || s.key }), does: w("sessions.end"), run: () => end(s.key) })) }));
}
