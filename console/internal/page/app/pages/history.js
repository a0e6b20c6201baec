// What has run and what has happened: a list, charts and events, for the filters that stand in the address.
import { address, Problem } from "../api.js";
import { h } from "../dom.js";
import { facts, inNamespace, namespace } from "../facts.js";
import { Filtered } from "../filtered.js";
import { page, tools } from "../frame.js";
import { eventTable, events, kindChips } from "../history-events.js";
import { HistoryCharts } from "../history-charts.js";
import { everything, executionsOf, filterView, outcomeChips, suggested } from "../history-filter.js";
import { runs, runTable } from "../history-list.js";
import { keep } from "../poll.js";
import { onWayBack, query } from "../query.js";
import { mayEverywhere } from "../rights.js";
import { spanOf } from "../span.js";
import { button, empty, problem, section, tabs } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../dom.js").View} View */

const tab = ["charts", "events"].includes(query().tab) ? query().tab : "runs";
const list = tab === "events" ? events() : runs();
const charts = new HistoryCharts(() => again());
let again = () => {};
const filtered = new Filtered({
  read: () => (tab === "charts" ? charts.load() : list.load()),
  clear: () => {
    list.clear();
    charts.clear();
  },
  changed: () => again(),
});
const typed = ["job", "items", "instance", "address", "request", "by"];

/** @param {Record<string, string>} some */
const change = (some) => filtered.change(some, Object.keys(some).some((name) => typed.includes(name)));

/** Whether nothing comes any more in the time that is wanted. */
const isOver = () => Date.parse(spanOf(query()).to ?? "") < Date.now();

/** @returns {View} */
function view() {
  const q = query();
  const { error } = filtered;
  const isEmpty = tab === "charts" ? !charts.data : !list.rows.length;
  const to = (/** @type {string} */ name) => inNamespace(["history"], { ...q, tab: name });
  tools(tab === "runs" && !isToChoose() ? h("a", { class: "button", href: csv(), download: true }, w("history.csv")) : null);
  return /** @type {View} */ ([
    tabs(w("history.views"), [[w("history.runs"), to(""), tab === "runs"], [w("history.charts"), to("charts"), tab === "charts"], [w("history.events"), to("events"), tab === "events"]]),
    section(w("history.filters"), {}, tab === "events"
      ? filterView(q, { change, again, isOfRuns: false, chips: kindChips(change), more: ["instance", "by"] })
      : filterView(q, { change, again, isOfRuns: true, chips: outcomeChips(q, change), more: ["items", "instance", "address", "request"] })),
    error && isEmpty && !isToChoose() ? problem(error, () => void filtered.refresh()) : null,
    tab === "charts" && !isToChoose() ? (error && isEmpty ? null : charts.view()) : section(tab === "events" ? w("history.events") : w("history.runs"), { class: "history" }, content(), list.isMore ? h("p", null, button(w("ui.more"), () => filtered.refresh(() => list.more()))) : null),
  ].flat());
}

function csv() {
  return address("/namespaces/{namespace}/history/executions.csv", executionsOf(query())).href;
}

/** Who may see only some jobs has to name one. */
const isToChoose = () => filtered.error instanceof Problem && filtered.error.status === 403 && !query().job;

/** @returns {View} */
function content() {
  if (isToChoose()) return chooseJob();
  if (list.rows.length) return tab === "events" ? eventTable(/** @type {any} */ (list.rows)) : runTable(/** @type {any} */ (list.rows));
  if (filtered.error) return null;
  if (!filtered.isLoaded) return h("p", { class: "waiting" }, w("ui.loading"));
  const isFiltered = Object.keys(everything).some((name) => query()[name]);
  if (isFiltered) return empty(w("history.noneFound"), button(w("history.all"), () => change(everything)));
  return empty(tab === "events" ? w("history.noEvents") : w("history.none"));
}

function chooseJob() {
  const names = suggested();
  if (!names.length) return empty(w("history.chooseJob"), w("history.chooseJobNext"));
  return [h("p", null, w("history.chooseJobOf")), h("ul", { class: "history-jobs" }, names.map((job) => h("li", { key: job }, h("a", { href: inNamespace(["history"], { ...query(), job }) }, job))))];
}

function noHistory() {
  return empty(w("history.noHistory"), mayEverywhere("admin") ? h("a", { href: facts.root + "connections" }, w("history.addDatabase")) : w("history.askAdmin"));
}

if (facts.databases?.[namespace]) {
  again = page(view);
  keep(async () => {
    if (isToChoose()) again(); // there may be jobs to choose now
    else if (!filtered.isLoaded || filtered.error || !isOver()) await filtered.load();
    return !isToChoose() && !isOver();
  }, tab === "charts" ? 10 : 3, false).now();
  onWayBack(() => change({}));
} else {
  page(noHistory);
}
