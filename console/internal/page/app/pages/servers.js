// The servers of a namespace; with ?server= one of them, and the jobs that know it.
import { all, ask } from "../api.js";
import { h } from "../dom.js";
import { inNamespace, namespace } from "../facts.js";
import { crumbs, heading, page, start, tools } from "../frame.js";
import { chips, searchField } from "../filters.js";
import { keep, Kept } from "../poll.js";
import { onWayBack, query, setQuery } from "../query.js";
import { mayAll } from "../rights.js";
import { kinds, narrowed, orders, serverActions, serversTable } from "../servers-list.js";
import { serverView } from "../servers-one.js";
import { button, empty, menu, note } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../types/api").ServerInfo} ServerInfo */
/** @typedef {import("../types/api").JobServer} JobServer */
/** @typedef {{rows: ServerInfo[], more: boolean, jobs: JobServer[]}} Found jobs are those of the one server */

const most = 10000; // servers that are asked for
const step = 200; // of them are drawn at first
const server = query().server ?? "";
const mayAct = mayAll("operator");

const found = new Kept(/** @type {Found} */ ({ rows: [], more: false, jobs: [] }), read, () => again());
let { search = "", only = "" } = query();
let order = { by: "server", down: false };
let bound = step;
let again = () => {};

/** @returns {Promise<Found>} */
async function read() {
  const [servers, jobs] = await Promise.all([
    all("GET /namespaces/{namespace}/servers", { namespace }, most),
    server ? ask("GET /namespaces/{namespace}/servers/{address}/jobs", { namespace, address: server }) : undefined,
  ]);
  return { ...servers, jobs: jobs?.rows ?? [] };
}

const done = () => void found.refresh();

void start(read, (first) => {
  found.now = first;
  if (server) {
    heading(server);
    crumbs([namespace, inNamespace([])], [w("title.servers"), inNamespace(["servers"])]);
  }
  again = page(() => (server ? one() : list()));
  keep(found.load, 5);
  onWayBack(() => {
    ({ search = "", only = "" } = query());
    again();
  });
});

/** @param {{search?: string, only?: string}} some */
function change(some) {
  search = some.search ?? search;
  only = some.only ?? only;
  bound = step;
  setQuery({ search, only });
  again();
}

function list() {
  tools(h("a", { href: inNamespace(["instances"]) }, w("servers.allInstances")));
  const now = found.now;
  const hits = narrowed(now.rows, search, only);
  const rows = hits.toSorted((a, b) => (order.down ? -1 : 1) * orders[order.by](a, b)).slice(0, bound);
  const isFiltered = !!(search || only);
  return h("div", { class: "block instances" },
    h("form", { class: "narrow", role: "search", "aria-label": w("servers.filter"), onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
      searchField(search, w("servers.searchHint"), (text) => change({ search: text })),
      chips(w("servers.filter"), kinds.map((k) => ({ name: k.name, text: k.text(), n: now.rows.filter(k.is).length, isOn: only === k.name })), (name, on) => change({ only: on ? name : "" }))),
    h("p", { class: "hits soft", role: "status" }, w("servers.count", { n: hits.length }),
      isFiltered ? [" ", button(w("servers.showAll"), () => change({ search: "", only: "" }), { kind: "quiet" })] : null),
    now.more ? note("info", w("servers.first", { n: now.rows.length })) : null,
    serversTable(rows, {
      order, mayAct, done, empty: isFiltered ? empty(w("servers.noHits")) : empty(w("servers.none"), w("servers.noneNext")),
      turn: (o) => {
        order = o.by !== order.by && o.by !== "server" ? { by: o.by, down: o.by !== "state" } : o; // one looks for the greatest
        again();
      },
    }),
    hits.length > bound ? h("p", null, button(w("ui.more"), () => {
      bound += 5 * step;
      again();
    })) : null);
}

function one() {
  const { jobs, rows } = found.now;
  const info = rows.find((s) => s.server === server);
  if (!info) {
    tools();
    return h("div", { class: "block" }, empty(w("servers.unknown", { server }), h("a", { href: inNamespace(["servers"]) }, w("servers.toAll"))));
  }
  const [first, ...more] = serverActions(info, done).filter((a) => !!a);
  tools(mayAct ? [button(first.text, first.act), menu(w("ui.menu"), more)] : null);
  return serverView({ info, jobs }, { again, done });
}
