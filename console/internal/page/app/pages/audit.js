// What operators have changed in a namespace, newest first.
import { ask } from "../api.js";
import { entryList } from "../audit-entries.js";
import { h } from "../dom.js";
import { facts, inNamespace, namespace } from "../facts.js";
import { choice, field } from "../form.js";
import { page, tools } from "../frame.js";
import { Growing } from "../growing.js";
import { poll } from "../poll.js";
import { onWayBack, query, setQuery } from "../query.js";
import { anyTime, spanFields, spanOf } from "../span.js";
import { button, empty, liveBadge, problem, section } from "../ui.js";
import { terms, w } from "../words.js";

/** @type {Growing<import("../types/api").AuditEntry>} */
const list = new Growing((after, limit) => {
  const { job, by, action } = query();
  return ask("GET /namespaces/{namespace}/audit", { namespace, job, by, action, ...spanOf(query()), after, limit });
});
/** @type {Set<string>} */
const opened = new Set();
/** Names that were seen, to be suggested. */
const names = { job: new Set(), by: new Set() };
/** @type {unknown} */
let error;
let isLoaded = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;

const everything = { ...anyTime, job: "", by: "", action: "" };
const isFiltered = () => Object.keys(everything).some((name) => query()[name]);

let again = () => {};

/** @param {() => Promise<void>} [load] */
async function refresh(load = () => list.load()) {
  const asked = location.search;
  try {
    await load();
    error = undefined;
    for (const e of list.rows) {
      if (e.job) names.job.add(e.job);
      if (e.by) names.by.add(e.by);
    }
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
  isLoaded = false;
  error = undefined;
  clearTimeout(typing);
  typing = setTimeout(tryTo, "by" in some || "job" in some ? 300 : 0);
  again();
}

function view() {
  const q = query();
  const wrong = error ? problem(error, () => void tryTo()) : null;
  tools(isLoaded ? liveBadge(error ? "doubt" : "live") : null);
  return section(w("audit.changes"), {},
    h("form", { class: "fields filters", role: "search", "aria-label": w("audit.filters"), onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
      field({ id: "job", label: w("audit.job"), value: q.job ?? "", list: [...names.job], placeholder: w("audit.allJobs"), change: (v) => change({ job: v.trim() }) }),
      choice({ id: "action", label: w("changes.action"), value: q.action ?? "", options: [["", w("ui.all")], ...terms("action")], change: (v) => change({ action: v }) }),
      field({ id: "by", label: w("changes.by"), value: q.by ?? "", list: [...names.by], change: (v) => change({ by: v.trim() }) }),
      spanFields(q, change)),
    wrong,
    list.rows.length ? entryList(list.rows, { opened, draw: again }) : wrong ? null : !isLoaded ? h("p", { class: "waiting" }, w("ui.loading"))
      : isFiltered() ? empty(w("changes.noneFound"), button(w("changes.allOf"), () => change(everything))) : empty(w("audit.none")),
    list.isMore ? h("p", null, button(w("ui.more"), () => tryTo(() => list.more()))) : null,
    h("p", { class: "hint" }, w("changes.bound"), " ", facts.databases?.[namespace] ? h("a", { href: inNamespace(["history"], { ...q, action: "", tab: "events", kinds: "operated" }) }, w("audit.older")) : null));
}

again = page(view);
poll(() => refresh(), 5).now();
onWayBack(() => change({}));
