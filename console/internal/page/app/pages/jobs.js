// All jobs of a namespace: found, filtered, sorted, live; and what may be done with one of them or with many.
import { h } from "../dom.js";
import { inNamespace } from "../facts.js";
import { page, tools } from "../frame.js";
import { choiceOfJobs } from "../jobs-choice.js";
import { filterView, orderView } from "../jobs-filter.js";
import { grouped, isGroup, withGroups } from "../jobs-groups.js";
import { countsOf, filterFields, filterOf, lister, orderOf, orderText } from "../jobs-list.js";
import * as row from "../jobs-row.js";
import { removedJobs } from "../jobs-removed.js";
import { savedFilters } from "../jobs-saved.js";
import { followJobs } from "../jobs-store.js";
import { onWayBack, query, setQuery } from "../query.js";
import { maySome } from "../rights.js";
import { button, empty, note, problem } from "../ui.js";
import { windowTable } from "../window-table.js";
import { number, w } from "../words.js";

/** @typedef {import("../types/api").JobInfo} JobInfo */

let filter = filterOf(query());
let order = orderOf(query().sort);
let isGrouped = query().group === "label";
/** @type {JobInfo[]} */
let rows = [];
/** What is drawn: rows, and their groups. @type {import("../jobs-groups.js").Row[]} */
let shown = [];
const list = lister();

/** What there is: it is counted when jobs have changed, not when they are drawn. */
let counts = countsOf(new Map());

const store = followJobs(() => listAgain());
const removed = removedJobs(() => again());
const isSteering = maySome("operator");
const choice = choiceOfJobs(() => rows, () => again());

/** Columns whose greatest comes first, as that is what one looks for. */
const greatest = ["last", "running", "failing"];

/** @type {import("../window-table.js").WindowColumn<JobInfo>[]} */
const columns = [
  { name: "name", text: w("jobs.name"), cell: row.name, sort: true },
  { name: "status", text: w("jobs.status"), cell: row.status, sort: true },
  { name: "schedule", text: w("jobs.schedule"), cell: row.schedule },
  { name: "next", text: w("jobs.next"), cell: row.next, sort: true },
  { name: "last", text: w("jobs.last"), cell: row.last, sort: true },
  { name: "running", text: w("jobs.running"), cell: row.running, sort: true, num: true },
  { name: "failing", text: w("jobs.failing"), cell: row.failing, sort: true, num: true },
  { name: "instances", text: w("jobs.instances"), cell: (job) => number(job.instances), sort: true, num: true },
  { name: "menu", text: "", head: h("span", { class: "unseen" }, w("ui.menu")), cell: row.actions },
];
if (isSteering) columns.unshift({ name: "choose", text: "", head: choice.boxOfAll, cell: choice.box });

const table = windowTable({
  label: w("jobs.list"), columns: withGroups(columns), key: (r) => (isGroup(r) ? "label " + r.group : r.name), again: () => again(), order: () => order, turn,
  extend: (from, to) => isGroup(from) || isGroup(to) || choice.extend(from, to),
  rowClass: (r) => (isGroup(r) ? "group" : choice.has(r.name) ? "chosen" : null),
});

/** @param {import("../table.js").Order} wanted */
function turn(wanted) {
  order = wanted.by !== order.by && greatest.includes(wanted.by) ? { by: wanted.by, down: true } : wanted;
  setQuery({ sort: orderText(order) });
  listAgain();
}

/** @param {Partial<import("../jobs-list.js").Filter>} some */
function change(some) {
  filter = { ...filter, ...some };
  setQuery(some);
  listAgain();
}

function group() {
  isGrouped = !isGrouped;
  setQuery({ group: isGrouped ? "label" : "" });
  listAgain();
}

/** A button that stays pressed, where there are labels. */
function groupView() {
  if (!counts.labels.length && !isGrouped) return null;
  return h("button", { type: "button", class: "chip", "aria-pressed": String(isGrouped), onclick: group }, w("jobs.group"));
}

function listAgain() {
  choice.keep(store.jobs);
  counts = countsOf(store.jobs);
  rows = list(store.jobs, filter, order);
  shown = isGrouped ? grouped(rows) : rows;
  again();
}

function nothing() {
  if (store.jobs.size) return empty(w("jobs.noHits"), button(w("jobs.clear"), () => change(filterOf({}))));
  if (!store.whole) return h("p", { class: "waiting" }, w("ui.loading"));
  return empty(w("jobs.none"), maySome("admin") ? [w("jobs.noneAdmin"), " ", h("a", { href: inNamespace(["create"]) }, w("jobs.create"))] : w("jobs.noneViewer"));
}

function view() {
  if (store.error && !store.jobs.size) return problem(store.error, () => location.reload());
  const orders = columns.filter((c) => c.sort).map((c) => /** @type {[string, string]} */ ([c.name, c.text]));
  const isFiltered = filterFields.some((name) => filter[name]);
  return [
    store.gone ? note("warn", w("jobs.gone"), " ", store.gone) : null,
    h("section", { class: "block jobs" + (isSteering ? " steering" : ""), "aria-label": w("jobs.list") },
      filterView(counts, filter, change, [orderView(orders, order, turn), groupView(), savedFilters(filter, change, () => again())]),
      h("p", { class: "hits", role: "status" }, isFiltered ? w("jobs.hits", { n: rows.length, all: store.jobs.size }) : w("jobs.count", { n: rows.length }),
        store.whole ? "" : " " + w("ui.loading")),
      rows.length ? table(shown) : nothing()),
    removed(),
    choice.bar(),
  ];
}

tools(h("a", { class: "button", href: inNamespace(["timeline"]) }, w("jobs.timeline")), maySome("admin") && h("a", { class: "button first", href: inNamespace(["create"]) }, w("jobs.create")));
const again = page(view);
onWayBack(() => {
  filter = filterOf(query());
  order = orderOf(query().sort);
  isGrouped = query().group === "label";
  listAgain();
});
// What stands there as "in 12 s" goes on.
setInterval(() => document.hidden || again(), 1000);
