// Who has changed what of a job, and the versions of its configuration.
import { ask } from "../api.js";
import { entryFilters, entryList } from "../audit-entries.js";
import { versionsOf, versionsView } from "../changes-versions.js";
import { h } from "../dom.js";
import { facts, inNamespace, job, namespace } from "../facts.js";
import { Filtered } from "../filtered.js";
import { page, start } from "../frame.js";
import { Growing } from "../growing.js";
import { jobHead, jobTabs } from "../job-tabs.js";
import { keep } from "../poll.js";
import { onWayBack, query, setQuery } from "../query.js";
import { anyTime, spanOf } from "../span.js";
import { button, empty, problem, section } from "../ui.js";
import { term, w } from "../words.js";

/** @typedef {import("../types/api").AuditEntry} AuditEntry */

const actions = ["create", "update", "apply", "release", "implement", "remove", "readmit", "trigger", "retry", "backfill", "cancel", "kill", "pause", "resume",
  "reshard", "pin", "unpin", "disable items", "enable items", "disable servers", "enable servers", "shut down", "remove servers", "clear misfires",
  "clear failovers", "clear servers", "clear stale nodes", "migrate", "abort migration"];
const shown = 50; // changes of each kind among which the versions are

/** @type {Growing<AuditEntry>} */
const list = new Growing((after, limit) => {
  const { by, action } = query();
  return ask("GET /namespaces/{namespace}/audit", { namespace, job, by, action, ...spanOf(query()), after, limit });
});
/** The newest change when the versions were loaded. @type {string | undefined} */
let newest;
/** @type {import("../changes-versions.js").Version[]} */
let versions = [];
let chosen = { from: query().older ?? "", to: query().newer ?? "" };
/** @type {Set<string>} */
const opened = new Set();
let again = () => {};
const filtered = new Filtered({ read, clear: () => list.clear(), changed: () => again() });

const everything = { ...anyTime, by: "", action: "" };
const isFiltered = () => Object.keys(everything).some((name) => query()[name]);

jobHead(w("title.changes"));

/** The newest changes, and the versions if there are others since. */
async function read() {
  await list.load();
  const first = list.rows[0]?.id ?? "";
  if (first === newest) return;
  await loadVersions();
  newest = first;
}

async function loadVersions() {
  const [settings, ...pages] = await Promise.all([
    ask("GET /namespaces/{namespace}/jobs/{job}/settings", { namespace, job }),
    ...["create", "update", "apply"].map((action) => ask("GET /namespaces/{namespace}/audit", { namespace, job, action, limit: shown })),
  ]);
  const written = pages.flatMap((p) => p.rows).sort((a, b) => ((a.id ?? "") < (b.id ?? "") ? 1 : -1));
  versions = versionsOf(written, settings.document);
}

void start(() => filtered.load(), () => {
  again = page(view);
  keep(() => filtered.load(), 8);
  onWayBack(() => filtered.change({}));
});

function view() {
  return [
    jobTabs(),
    filtered.error && !list.rows.length ? problem(filtered.error, () => void filtered.refresh()) : null,
    versionsView(versions, chosen, (change) => {
      chosen = { ...chosen, ...change };
      setQuery({ older: chosen.from, newer: chosen.to });
      again();
    }, async () => {
      chosen = { from: "", to: "" };
      setQuery({ older: "", newer: "" });
      newest = undefined;
      await filtered.refresh();
    }),
    section(w("changes.who"), {},
      entryFilters(query(), {
        change: (some, isTyped) => filtered.change(some, isTyped), by: [...new Set(list.rows.map((e) => e.by ?? ""))].filter(Boolean),
        actions: actions.map((a) => [a, term("action", a)]),
      }),
      content(),
      list.isMore ? h("p", null, button(w("ui.more"), () => filtered.refresh(() => list.more()))) : null,
      h("p", { class: "hint" }, w("changes.bound"), " ",
        facts.databases?.[namespace] ? h("a", { href: inNamespace(["history"], { job, tab: "events", kinds: "operated" }) }, w("changes.older")) : null)),
  ];
}

function content() {
  if (list.rows.length) return entryList(list.rows, { opened, draw: () => again(), isOfJob: true });
  if (filtered.error) return null;
  if (!filtered.isLoaded) return h("p", { class: "waiting" }, w("ui.loading"));
  return isFiltered() ? empty(w("changes.noneFound"), button(w("changes.allOf"), () => filtered.change(everything))) : empty(w("changes.none"));
}
