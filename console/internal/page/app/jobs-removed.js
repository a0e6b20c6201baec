// Jobs that were removed: programs do not set them up again, until somebody lets them.
import { askAbout } from "./actions.js";
import { all, ask } from "./api.js";
import { h } from "./dom.js";
import { inNamespace, namespace } from "./facts.js";
import { may } from "./rights.js";
import { table } from "./table.js";
import { at, button, empty, problem } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").RemovedJob} RemovedJob */

/** How many are shown at first, and how many more each time. */
const step = 50;

/**
 * Returns a view that loads them when somebody opens it.
 * @param {() => void} again
 */
export function removedJobs(again) {
  /** @type {RemovedJob[] | undefined} */
  let rows;
  /** @type {unknown} */
  let error;
  let shown = step;
  let isMore = false;

  const load = async () => {
    error = undefined;
    try {
      const found = await all("GET /namespaces/{namespace}/removed", { namespace });
      rows = found.rows;
      isMore = found.more;
    } catch (e) {
      error = e;
    }
    again();
  };
  /** @param {string} job */
  const readmit = (job) => askAbout({
    title: w("jobs.readmitTitle", { job }), text: h("p", null, w("jobs.readmitAbout")), does: w("jobs.readmit"), preview: true,
    run: ({ dryRun }) => ask("POST /namespaces/{namespace}/jobs/{job}/readmit", { namespace, job, dryRun }, {}), done: () => void load(),
  });

  /** @type {import("./table.js").Column<RemovedJob>[]} */
  const columns = [
    { name: "name", text: w("jobs.name"), cell: (r) => h("a", { href: inNamespace(["jobs", r.name]) }, r.name) },
    { name: "at", text: w("jobs.removedAt"), cell: (r) => (r.error ? h("span", { class: "soft" }, r.error) : at(r.at)) },
    { name: "by", text: w("jobs.removedBy"), cell: (r) => (r.expired ? w("jobs.removedExpired") : r.migration ? w("jobs.removedMigration") : r.by || "–") },
    { name: "why", text: w("actions.why"), cell: (r) => r.why || "–" },
    { name: "act", text: w("ui.menu"), cell: (r) => (may("admin", r.name) ? button(w("jobs.readmit"), () => readmit(r.name), { label: w("jobs.readmitOf", { job: r.name }) }) : null) },
  ];
  const content = () => {
    if (error) return [problem(error, load)];
    if (!rows) return [h("p", { class: "waiting" }, w("ui.loading"))];
    if (!rows.length) return [empty(w("jobs.noRemoved"))];
    return [
      h("p", { class: "hint" }, w("jobs.removedHint"), isMore ? " " + w("jobs.removedMore", { n: number(rows.length) }) : ""),
      table({ label: w("jobs.removed"), rows: rows.slice(0, shown), columns, key: (r) => r.name }),
      rows.length > shown ? button(w("ui.more"), () => {
        shown += step;
        again();
      }) : null,
    ];
  };
  return () => h("details", {
    class: "block removed", ontoggle: (/** @type {Event} */ e) => {
      if (/** @type {HTMLDetailsElement} */ (e.target).open) void load();
    },
  }, h("summary", null, h("h2", null, w("jobs.removed"))), h("div", { class: "content" }, ...content()));
}
