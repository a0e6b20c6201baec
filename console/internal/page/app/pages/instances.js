// Who runs the jobs of a namespace: instances by process or by job, with what each has, runs, and suffers from.
import { all } from "../api.js";
import { h } from "../dom.js";
import { inNamespace, namespace } from "../facts.js";
import { page, start, tools } from "../frame.js";
import { chips, searchField } from "../filters.js";
import { countsOf, filterOfQuery, groupsOf } from "../instances-groups.js";
import { states } from "../instances-states.js";
import { instancesTable } from "../instances-table.js";
import { keep, Kept } from "../poll.js";
import { onWayBack, query, setQuery } from "../query.js";
import { mayAll } from "../rights.js";
import { button, empty, note } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../types/api").InstanceInfo} InstanceInfo */
/** @typedef {import("../types/api").ProcessInfo} ProcessInfo */
/** @typedef {import("../instances-groups.js").Filter} Filter */
/** @typedef {import("../instances-groups.js").Group} Group */
/** @typedef {{instances: InstanceInfo[], more: boolean, processes: ProcessInfo[], counts: Record<string, number>}} Found counts are of instances by their states */

const most = 20000; // instances that are asked for
const many = 2000; // more than these are asked for less often
const step = 100; // groups, and instances of a group, that are drawn at first

const found = new Kept(/** @type {Found} */ ({ instances: [], more: false, processes: [], counts: {} }), read, () => again());
let filter = filterOfQuery();
let way = wayOfQuery();
let order = { by: "name", down: false };
let bound = step;
/** Groups that somebody has opened or shut. @type {Map<string, boolean>} */
const opened = new Map();
/** How many instances of a group are drawn. @type {Map<string, number>} */
const room = new Map();
let again = () => {};

function wayOfQuery() {
  return query().by === "job" ? /** @type {const} */ ("job") : /** @type {const} */ ("process");
}

/** @returns {Promise<Found>} */
async function read() {
  const [instances, processes] = await Promise.all([
    all("GET /namespaces/{namespace}/instances", { namespace }, most),
    mayAll("viewer") ? all("GET /namespaces/{namespace}/processes", { namespace }, most) : undefined, // others see those that have a job of theirs
  ]);
  return { instances: instances.rows, more: instances.more, processes: processes?.rows ?? [], counts: countsOf(instances.rows) };
}

/** @param {Partial<Filter>} some */
function change(some) {
  filter = { ...filter, ...some };
  bound = step;
  opened.clear();
  setQuery(filter);
  again();
}

/** @param {"process" | "job"} wanted */
function turnTo(wanted) {
  way = wanted;
  bound = step;
  opened.clear();
  setQuery({ by: wanted === "job" ? "job" : "" });
  again();
}

const isFiltered = () => !!(filter.search || filter.server || filter.state);

/** @type {import("../instances-table.js").Acts} */
const acts = {
  open: (g, open) => {
    opened.set(g.key, open);
    again();
  },
  more: (g) => {
    room.set(g.key, (room.get(g.key) ?? step) + 5 * step);
    again();
  },
  turn: (o) => {
    const isNew = o.by !== order.by && ["count", "items", "running"].includes(o.by); // one looks for the greatest
    order = isNew ? { by: o.by, down: true } : o;
    again();
  },
  done: () => void found.refresh(),
};

void start(read, (first) => {
  found.now = first;
  again = page(view);
  keep(found.load, first.instances.length > many ? 10 : 3);
  onWayBack(() => {
    filter = filterOfQuery();
    way = wayOfQuery();
    again();
  });
});

function view() {
  const { instances, processes, more, counts } = found.now;
  const groups = groupsOf(instances, processes, way, filter);
  const hits = groups.reduce((n, g) => n + g.hits.length, 0);
  // Who looks for something sees it at once, unless it is too much.
  const isFound = isFiltered() && hits <= step;
  /** @param {Group} g */
  const isOpen = (g) => opened.get(g.key) ?? isFound;
  tools(h("a", { href: inNamespace(["servers"]) }, w("instances.servers")));
  return [
    h("div", { class: "block instances" },
      h("form", { class: "narrow", role: "search", "aria-label": w("instances.filter"), onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
        searchField(filter.search, w("instances.searchHint"), (search) => change({ search })),
        h("div", { class: "chips", role: "group", "aria-label": w("instances.way") }, wayChip("process", w("instances.byProcess")), wayChip("job", w("instances.byJob"))),
        chips(w("instances.only"), states.map((s) => ({ name: s.name, text: s.text(), n: counts[s.name] ?? 0, isOn: filter.state === s.name })), (name, on) => change({ state: on ? name : "" }))),
      h("p", { class: "hits soft", role: "status" },
        way === "process" ? w("instances.inProcesses", { n: groups.length, instances: hits }) : w("instances.inJobs", { n: groups.length, instances: hits }),
        filter.server ? [" · ", w("instances.ofServer", { server: filter.server })] : null,
        isFiltered() ? [" ", button(w("instances.showAll"), () => change({ search: "", server: "", state: "" }), { kind: "quiet" })] : null),
      more ? note("info", h("p", null, w("instances.first", { n: instances.length })), h("p", null, h("a", { href: inNamespace(["jobs"]) }, w("instances.firstNext")))) : null,
      instancesTable(groups, bound, { way, order, isOpen, room: (g) => room.get(g.key) ?? step }, acts, nothing()),
      groups.length > bound ? h("p", null, button(w("ui.more"), () => {
        bound += 5 * step;
        again();
      })) : null),
  ];
}

/** @param {"process" | "job"} wanted @param {string} text */
function wayChip(wanted, text) {
  return h("button", { type: "button", class: "chip", "aria-pressed": String(way === wanted), onclick: () => turnTo(wanted) }, text);
}

function nothing() {
  return isFiltered() ? empty(w("instances.noHits")) : empty(w("instances.none"), w("instances.noneNext"));
}
