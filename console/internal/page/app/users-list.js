// The list of users, and who is logged in.
import { ask as confirm, run } from "./actions.js";
import { ask, reasonOf } from "./api.js";
import { h } from "./dom.js";
import { link } from "./facts.js";
import { field } from "./form.js";
import { page, start, tools } from "./frame.js";
import { grantForm, grantList, grantsOf, rowsOf } from "./grants.js";
import { poll } from "./poll.js";
import { query, setQuery } from "./query.js";
import { sessionTable } from "./sessions.js";
import { by, table } from "./table.js";
import { at, badge, button, empty, problem, section } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").UserInfo} User */
/** @typedef {import("./types/api").SessionInfo} Session */
/** @typedef {{users: User[], sessions: Session[]}} Loaded */

const shown = 200; // rows that are drawn at once

export function showUsers() {
  void start(load, (loaded) => {
    /** @type {Loaded & {search: string, most: number, mostSessions: number, order: import("./table.js").Order, error: unknown}} */
    const state = { ...loaded, search: query().search ?? "", most: shown, mostSessions: shown, order: { by: "name", down: false }, error: undefined };
    const reload = async () => {
      try {
        Object.assign(state, await load(), { error: undefined });
      } catch (e) {
        state.error = e;
        throw e;
      } finally {
        again();
      }
    };
    const again = page(() => [
      state.error ? problem(state.error, () => location.reload()) : null,
      users(state, () => again()),
      sessions(state, () => again(), () => reload().catch(() => {})), // reload has shown what is wrong
    ]);
    tools(button(w("users.add"), () => addUser(), { kind: "first" }));
    poll(reload, 15);
  });
}

/** @returns {Promise<Loaded>} */
async function load() {
  const [users, sessions] = await Promise.all([ask("GET /users", {}), ask("GET /sessions", {})]);
  return { users: users.rows, sessions: sessions.rows };
}

/** @param {string} name */
const userLink = (name) => link(["users"], { user: name });

/** @param {{users: User[], search: string, most: number, order: import("./table.js").Order}} state @param {() => void} again */
function users(state, again) {
  const search = state.search.toLowerCase();
  const hits = state.users.filter((u) => u.name.toLowerCase().includes(search));
  /** @type {import("./table.js").Column<User>[]} */
  const columns = [
    { name: "name", text: w("users.name"), sort: by((u) => u.name), cell: (u) => h("a", { href: userLink(u.name) }, u.name) },
    { name: "state", text: w("users.state"), sort: by((u) => Number(u.disabled) * 2 + Number(!u.hasPassword)), cell: (u) => stateOf(u) },
    { name: "grants", text: w("users.may"), cell: (u) => grantList(u.grants, 3) },
    { name: "tokens", text: w("users.tokens"), num: true, sort: by((u) => u.tokens.length), cell: (u) => number(u.tokens.length) },
    { name: "sessions", text: w("users.sessions"), num: true, sort: by((u) => u.sessions), cell: (u) => number(u.sessions) },
    { name: "created", text: w("users.created"), sort: by((u) => u.created), cell: (u) => at(u.created) },
  ];
  const compare = columns.find((c) => c.name === state.order.by)?.sort ?? by((/** @type {User} */ u) => u.name);
  const rows = hits.toSorted((a, b) => (state.order.down ? compare(b, a) : compare(a, b))).slice(0, state.most);
  return section(w("users.title"), {
    tools: field({
      id: "search", label: w("ui.search"), type: "search", value: state.search,
      change: (v) => {
        state.search = v;
        state.most = shown;
        setQuery({ search: v });
        again();
      },
    }),
  },
  h("p", { class: "soft", role: "status" }, w("users.count", { n: hits.length })),
  table({
    label: w("users.title"), rows, columns, key: (u) => u.name, order: state.order, empty: empty(w("users.none")),
    turn: (order) => {
      state.order = order;
      again();
    },
  }),
  hits.length > rows.length ? button(w("ui.more"), () => {
    state.most += shown;
    again();
  }) : null);
}

/** How it stands with a user. @param {User} u */
export function stateOf(u) {
  if (u.disabled) return badge("off", w("users.disabled"));
  return u.hasPassword ? badge("good", w("users.active")) : badge("off", w("users.noPassword"));
}

/** @param {{users: User[], sessions: Session[], mostSessions: number}} state @param {() => void} again @param {() => unknown} reload */
function sessions(state, again, reload) {
  const known = new Set(state.users.map((u) => u.name));
  return section(w("users.loggedIn"), {},
    h("p", { class: "soft" }, w("users.loggedInText", { n: state.sessions.length })),
    sessionTable(state.sessions.slice(0, state.mostSessions), {
      label: w("users.loggedIn"), users: (name) => (known.has(name) ? h("a", { href: userLink(name) }, name) : name), end: (s) => endSession(s, reload),
    }),
    state.sessions.length > state.mostSessions ? button(w("ui.more"), () => {
      state.mostSessions += shown;
      again();
    }) : null);
}

/** Ends a session of somebody. @param {Session} s @param {() => unknown} reload */
export async function endSession(s, reload) {
  const done = await run({ title: w("users.endSession", { user: s.user }), does: w("sessions.end"), run: () => ask("DELETE /sessions/{session}", { session: s.key }) });
  if (done) await reload();
}

async function addUser() {
  const typed = { name: "", password: "", grants: rowsOf([{ role: "viewer" }]) };
  const done = await confirm({
    title: w("users.add"), does: w("ui.add"), quiet: true, valid: () => typed.name !== "",
    form: (again, error) => {
      const set = (/** @type {"name" | "password"} */ name) => (/** @type {string} */ value) => {
        typed[name] = value;
        again();
      };
      return [
        field({ id: "name", label: w("users.name"), value: typed.name, change: set("name"), required: true, autofocus: true, hint: w("users.nameHint"), error: reasonOf(error, "name") }),
        field({ id: "password", label: w("users.password"), type: "password", value: typed.password, change: set("password"), hint: w("users.passwordHint"), autocomplete: "new-password", error: reasonOf(error, "password") }),
        grantForm(typed.grants, again, error),
      ];
    },
    run: async () => {
      await ask("POST /users", {}, { name: typed.name, ...(typed.password ? { password: typed.password } : {}), grants: grantsOf(typed.grants) });
    },
  });
  if (done) location.assign(userLink(typed.name));
}
