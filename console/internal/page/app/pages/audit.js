// What operators have changed in a namespace, newest first.
import { ask } from "../api.js";
import { entryFilters, entryList } from "../audit-entries.js";
import { h } from "../dom.js";
import { facts, inNamespace, namespace } from "../facts.js";
import { Filtered } from "../filtered.js";
import { field } from "../form.js";
import { page } from "../frame.js";
import { Growing } from "../growing.js";
import { keep } from "../poll.js";
import { onWayBack, query } from "../query.js";
import { anyTime, spanOf } from "../span.js";
import { button, empty, problem, section } from "../ui.js";
import { terms, w } from "../words.js";

/** Names that were seen, to be suggested. */
const names = { job: new Set(), by: new Set() };
/** @type {Growing<import("../types/api").AuditEntry>} */
const list = new Growing(async (after, limit) => {
  const { job, by, action } = query();
  const found = await ask("GET /namespaces/{namespace}/audit", { namespace, job, by, action, ...spanOf(query()), after, limit });
  for (const e of found.rows) {
    if (e.job) names.job.add(e.job);
    if (e.by) names.by.add(e.by);
  }
  return found;
});
/** @type {Set<string>} */
const opened = new Set();

let again = () => {};
const filtered = new Filtered({ read: () => list.load(), clear: () => list.clear(), changed: () => again() });

const everything = { ...anyTime, job: "", by: "", action: "" };
const isFiltered = () => Object.keys(everything).some((name) => query()[name]);

function view() {
  const q = query();
  const wrong = filtered.error && !list.rows.length ? problem(filtered.error, () => void filtered.refresh()) : null;
  return section(w("audit.changes"), {},
    entryFilters(q, {
      change: (some, isTyped) => filtered.change(some, isTyped), by: [...names.by], actions: terms("action"),
      more: field({ id: "job", label: w("audit.job"), value: q.job ?? "", list: [...names.job], placeholder: w("audit.allJobs"), change: (v) => filtered.change({ job: v.trim() }, true) }),
    }),
    wrong,
    list.rows.length ? entryList(list.rows, { opened, draw: again }) : wrong ? null : !filtered.isLoaded ? h("p", { class: "waiting" }, w("ui.loading"))
      : isFiltered() ? empty(w("changes.noneFound"), button(w("changes.allOf"), () => filtered.change(everything))) : empty(w("audit.none")),
    list.isMore ? h("p", null, button(w("ui.more"), () => filtered.refresh(() => list.more()))) : null,
    h("p", { class: "hint" }, w("changes.bound"), " ", facts.databases?.[namespace] ? h("a", { href: inNamespace(["history"], { ...q, action: "", tab: "events", kinds: "operated" }) }, w("audit.older")) : null));
}

again = page(view);
keep(() => filtered.load(), 5, false).now();
onWayBack(() => filtered.change({}));
