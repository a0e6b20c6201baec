// The list of users, and who is logged in.
import { askAbout, run } from "./actions.js";
import { ask, reasonOf } from "./api.js";
import { h } from "./dom.js";
import { link } from "./facts.js";
import { field } from "./form.js";
import { page, start, tools } from "./frame.js";
import { grantForm, grantList, grantsOf, newRow } from "./grants.js";
import { keep, Kept } from "./poll.js";
import { query, setQuery } from "./query.js";
import { sessionTable } from "./sessions.js";
import { by, table } from "./table.js";
import { at, badge, button, empty, section } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").UserInfo} User */
/** @typedef {import("./types/api").SessionInfo} Session */
/** @typedef {{users: User[], sessions: Session[]}} Loaded */
/** @typedef {{search: string, most: number, mostSessions: number, order: import("./table.js").Order}} Look which users are shown, and how many of them and of the sessions */

const shown = 200; // rows that are drawn at once

export function showUsers() {
  void start(load, (loaded) => {
    const kept = new Kept(loaded, load, () => again());
    /** @type {Look} */
    const look = { search: query().search ?? "", most: shown, mostSessions: shown, order: { by: "name", down: false } };
    const again = page(() => [
      users(kept.now.users, look, () => again()),
      sessions(kept.now, look, () => again(), kept.refresh),
    ]);
    tools(button(w("users.add"), () => addUser(), { kind: "first" }));
    keep(kept.load, 8);
  });
}

/** @returns {Promise<Loaded>} */
async function load() {
  const [users, sessions] = await Promise.all([ask("GET /users", {}), ask("GET /sessions", {})]);
  return { users: users.rows, sessions: sessions.rows };
}

/** @param {string} name */
const userLink = (name) => link(["users"], { user: name });

/** @param {User[]} all @param {Look} look @param {() => void} again */
function users(all, look, again) {
  const search = look.search.toLowerCase();
  const hits = all.filter((u) => u.name.toLowerCase().includes(search));
  /** @type {import("./table.js").Column<User>[]} */
  const columns = [
    { name: "name", text: w("users.name"), sort: by((u) => u.name), cell: (u) => h("a", { href: userLink(u.name) }, u.name) },
    { name: "state", text: w("users.state"), sort: by((u) => Number(u.disabled) * 2 + Number(!u.hasPassword)), cell: (u) => stateOf(u) },
    { name: "grants", text: w("users.may"), cell: (u) => grantList(u.grants, 3) },
    { name: "tokens", text: w("users.tokens"), num: true, sort: by((u) => u.tokens.length), cell: (u) => number(u.tokens.length) },
    { name: "sessions", text: w("users.sessions"), num: true, sort: by((u) => u.sessions), cell: (u) => number(u.sessions) },
    { name: "created", text: w("users.created"), sort: by((u) => u.created), cell: (u) => at(u.created) },
  ];
  const compare = columns.find((c) => c.name === look.order.by)?.sort ?? by((/** @type {User} */ u) => u.name);
  const rows = hits.toSorted((a, b) => (look.order.down ? compare(b, a) : compare(a, b))).slice(0, look.most);
  return section(w("users.title"), {
    tools: field({
      id: "search", label: w("ui.search"), type: "search", value: look.search,
      change: (v) => {
        look.search = v;
        look.most = shown;
        setQuery({ search: v });
        again();
      },
    }),
  },
  h("p", { class: "soft", role: "status" }, w("users.count", { n: hits.length })),
  table({
    label: w("users.title"), rows, columns, key: (u) => u.name, order: look.order, empty: empty(w("users.none")),
    turn: (order) => {
      look.order = order;
      again();
    },
  }),
  hits.length > rows.length ? button(w("ui.more"), () => {
    look.most += shown;
    again();
  }) : null);
}

/** How it stands with a user. @param {User} u */
export function stateOf(u) {
  if (u.disabled) return badge("off", w("users.disabled"));
  return u.hasPassword ? badge("good", w("users.active")) : badge("off", w("users.noPassword"));
}

/** @param {Loaded} loaded @param {Look} look @param {() => void} again @param {() => unknown} reload */
function sessions(loaded, look, again, reload) {
  const known = new Set(loaded.users.map((u) => u.name));
  return section(w("users.loggedIn"), {},
    h("p", { class: "soft" }, w("users.loggedInText", { n: loaded.sessions.length })),
    sessionTable(loaded.sessions.slice(0, look.mostSessions), {
      label: w("users.loggedIn"), users: (name) => (known.has(name) ? h("a", { href: userLink(name) }, name) : name), end: (s) => endSession(s, reload),
    }),
    loaded.sessions.length > look.mostSessions ? button(w("ui.more"), () => {
      look.mostSessions += shown;
      again();
    }) : null);
}

/** Ends a session of somebody. @param {Session} s @param {() => unknown} reload */
export async function endSession(s, reload) {
  const done = await run({ title: w("users.endSession", { user: s.user }), does: w("sessions.end"), run: () => ask("DELETE /sessions/{session}", { session: s.key }) });
  if (done) await reload();
}

async function addUser() {
  const typed = { name: "", password: "", grants: [newRow()] };
  const done = await askAbout({
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
