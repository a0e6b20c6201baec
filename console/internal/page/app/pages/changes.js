// Who has changed what of a job, and the versions of its configuration.
import { ask } from "../api.js";
import { entryList } from "../audit-entries.js";
import { versionsOf, versionsView } from "../changes-versions.js";
import { h } from "../dom.js";
import { facts, inNamespace, job, namespace } from "../facts.js";
import { choice, field } from "../form.js";
import { page, start } from "../frame.js";
import { jobHead, jobTabs } from "../job-tabs.js";
import { poll } from "../poll.js";
import { onWayBack, query, setQuery } from "../query.js";
import { button, empty, problem, section } from "../ui.js";
import { term, w } from "../words.js";

/** @typedef {import("../types/api").AuditEntry} AuditEntry */

const actions = ["create", "update", "apply", "release", "implement", "remove", "readmit", "trigger", "retry", "backfill", "cancel", "kill", "pause", "resume",
  "deal anew", "pin", "unpin", "disable items", "enable items", "disable servers", "enable servers", "shut down", "remove servers", "clear misfires",
  "clear failovers", "clear servers", "clear stale nodes", "migrate", "abort migration"];
const shown = 50;

/** @type {AuditEntry[]} */
let entries = [];
/** @type {string | undefined} cursor of the page behind entries */
let next;
/** @type {import("../changes-versions.js").Version[]} */
let versions = [];
let chosen = { from: query().older ?? "", to: query().newer ?? "" };
/** @type {Set<string>} */
const opened = new Set();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
/** @type {unknown} */
let error;
let again = () => {};

jobHead(w("title.changes"));

/** Entries that the filters of the address let through. @param {string} [after] */
function load(after) {
  const { by, action, from, to } = query();
  return ask("GET /namespaces/{namespace}/audit", { namespace, job, by, action, from: iso(from), to: iso(to), after, limit: shown });
}

/** @param {string | undefined} local a time of the browser's zone */
function iso(local) {
  const t = local ? new Date(local) : undefined;
  return t && !Number.isNaN(t.getTime()) ? t.toISOString() : undefined;
}

async function loadVersions() {
  const [settings, ...pages] = await Promise.all([
    ask("GET /namespaces/{namespace}/jobs/{job}/settings", { namespace, job }),
    ...["create", "update", "apply"].map((action) => ask("GET /namespaces/{namespace}/audit", { namespace, job, action, limit: shown })),
  ]);
  const written = pages.flatMap((p) => p.rows).sort((a, b) => ((a.id ?? "") < (b.id ?? "") ? 1 : -1));
  versions = versionsOf(written, settings.document);
}

/** The newest entries again; those that were there stay. */
async function refresh() {
  const asked = location.search;
  try {
    const first = await load();
    if (asked !== location.search) return; // other filters are on their way
    const known = new Set(first.rows.map((e) => e.id));
    const isNew = first.rows[0]?.id !== entries[0]?.id;
    if (entries.length <= shown) [entries, next] = [first.rows, first.next];
    else entries = [...first.rows, ...entries.filter((e) => !known.has(e.id))];
    if (isNew) await loadVersions();
    error = undefined;
  } catch (e) {
    error = e;
  }
  again();
}

/** Other filters: what was loaded counts no longer. @param {Record<string, string | undefined>} change */
function filter(change) {
  setQuery(change);
  [entries, next] = [[], undefined];
  clearTimeout(typing);
  typing = setTimeout(refresh, "by" in change ? 300 : 0);
}

async function more() {
  try {
    const page = await load(next);
    entries = [...entries, ...page.rows];
    next = page.next;
  } catch (e) {
    error = e;
  }
  again();
}

void start(async () => {
  const [first] = await Promise.all([load(), loadVersions()]);
  return first;
}, (first) => {
  [entries, next] = [first.rows, first.next];
  again = page(view);
  poll(refresh, 10);
  onWayBack(() => filter({}));
});

function view() {
  return [
    jobTabs(),
    error ? problem(error, () => void refresh()) : null,
    versionsView(versions, chosen, (change) => {
      chosen = { ...chosen, ...change };
      setQuery({ older: chosen.from, newer: chosen.to });
      again();
    }, async () => {
      chosen = { from: "", to: "" };
      setQuery({ older: "", newer: "" });
      await Promise.all([loadVersions(), refresh()]);
      again();
    }),
    section(w("changes.who"), {},
      filters(),
      entries.length ? entryList(entries, { opened, draw: () => again(), isOfJob: true }) : empty(isFiltered() ? w("changes.noneFound") : w("changes.none"), isFiltered() ? button(w("changes.allOf"), () => filter({ by: "", action: "", from: "", to: "" })) : null),
      next ? h("p", null, button(w("ui.more"), more)) : null,
      h("p", { class: "hint" }, w("changes.bound"), " ",
        facts.databases?.[namespace] ? h("a", { href: inNamespace(["history"], { job, tab: "events", kinds: "operated" }) }, w("changes.older")) : null)),
  ];
}

const isFiltered = () => ["by", "action", "from", "to"].some((name) => query()[name]);

function filters() {
  const q = query();
  return h("div", { class: "fields filters" },
    choice({ id: "action", label: w("changes.action"), value: q.action ?? "", options: [["", w("ui.all")], .../** @type {[string, string][]} */ (actions.map((a) => [a, term("action", a)]))], change: (v) => filter({ action: v }) }),
    field({ id: "by", label: w("changes.by"), value: q.by ?? "", change: (v) => filter({ by: v.trim() }), list: [...new Set(entries.map((e) => e.by ?? ""))].filter(Boolean) }),
    field({ id: "since", label: w("changes.since"), type: "datetime-local", value: q.from ?? "", change: (v) => filter({ from: v }) }),
    field({ id: "until", label: w("changes.until"), type: "datetime-local", value: q.to ?? "", change: (v) => filter({ to: v }) }));
}
