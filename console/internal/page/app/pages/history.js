// What has run and what has happened: a list, charts and events, for the filters that stand in the address.
import { address, Problem } from "../api.js";
import { h } from "../dom.js";
import { facts, inNamespace, namespace } from "../facts.js";
import { page, tools } from "../frame.js";
import { eventTable, events, kindChips } from "../history-events.js";
import { HistoryCharts } from "../history-charts.js";
import { everything, executionsOf, filterView, outcomeChips, suggested } from "../history-filter.js";
import { runs, runTable } from "../history-list.js";
import { poll } from "../poll.js";
import { onWayBack, query, setQuery } from "../query.js";
import { mayEverywhere } from "../rights.js";
import { spanOf } from "../span.js";
import { button, empty, liveBadge, problem, section, tabs } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../dom.js").View} View */

const tab = ["charts", "events"].includes(query().tab) ? query().tab : "runs";
const list = tab === "events" ? events() : runs();
const charts = new HistoryCharts(() => again());
/** @type {unknown} */
let error;
let isLoaded = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;

let again = () => {};

/** @param {() => Promise<void>} [load] */
async function refresh(load = () => (tab === "charts" ? charts.load() : list.load())) {
  const asked = location.search;
  try {
    await load();
    error = undefined;
  } catch (e) {
    if (asked === location.search) error = e;
    throw e;
  } finally {
    isLoaded ||= asked === location.search;
    again();
  }
}

/** Shows what is wrong. @param {() => Promise<void>} [load] */
const tryTo = (load) => refresh(load).catch(() => {});

/** Other filters: what was loaded counts no longer. @param {Record<string, string>} some */
function change(some) {
  setQuery(some);
  list.clear();
  charts.clear();
  isLoaded = false;
  error = undefined;
  clearTimeout(typing);
  const isTyped = Object.keys(some).some((name) => ["job", "items", "instance", "address", "request", "by"].includes(name));
  typing = setTimeout(tryTo, isTyped ? 300 : 0);
  again();
}

/** Whether nothing comes any more in the time that is wanted. */
const isOver = () => Date.parse(spanOf(query()).to ?? "") < Date.now();

/** @returns {View} */
function view() {
  const q = query();
  const to = (/** @type {string} */ name) => inNamespace(["history"], { ...q, tab: name });
  tools(isOver() || !isLoaded || isToChoose() ? null : liveBadge(error ? "doubt" : "live"), tab === "runs" && !isToChoose() ? h("a", { class: "button", href: csv(), download: true }, w("history.csv")) : null);
  return /** @type {View} */ ([
    tabs(w("history.views"), [[w("history.runs"), to(""), tab === "runs"], [w("history.charts"), to("charts"), tab === "charts"], [w("history.events"), to("events"), tab === "events"]]),
    section(w("history.filters"), {}, tab === "events"
      ? filterView(q, { change, again, isOfRuns: false, chips: kindChips(change), more: ["instance", "by"] })
      : filterView(q, { change, again, isOfRuns: true, chips: outcomeChips(q, change), more: ["items", "instance", "address", "request"] })),
    error && !isToChoose() ? problem(error, () => void tryTo()) : null,
    tab === "charts" && !isToChoose() ? (error && !charts.data ? null : charts.view()) : section(tab === "events" ? w("history.events") : w("history.runs"), { class: "history" }, content(), list.isMore ? h("p", null, button(w("ui.more"), () => tryTo(() => list.more()))) : null),
  ].flat());
}

function csv() {
  return address("/namespaces/{namespace}/history/executions.csv", executionsOf(query())).href;
}

/** Who may see only some jobs has to name one. */
const isToChoose = () => error instanceof Problem && error.status === 403 && !query().job;

/** @returns {View} */
function content() {
  if (isToChoose()) return chooseJob();
  if (list.rows.length) return tab === "events" ? eventTable(/** @type {any} */ (list.rows)) : runTable(/** @type {any} */ (list.rows));
  if (error) return null;
  if (!isLoaded) return h("p", { class: "waiting" }, w("ui.loading"));
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
  poll(async () => (isLoaded && !error && isOver() ? undefined : refresh()), tab === "charts" ? 30 : 3).now();
  onWayBack(() => change({}));
} else {
  page(noHistory);
}
