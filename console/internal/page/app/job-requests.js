// Triggers, retries and backfills of a job: how far they have come, and how they ended.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { facts, inNamespace, job, namespace } from "./facts.js";
import { itemsText } from "./form.js";
import { cancel } from "./job-runs.js";
import { may } from "./rights.js";
import { badge, button, problem, section, since, state as word } from "./ui.js";
import { number, term, w } from "./words.js";

/** @typedef {import("./types/api").RequestState} RequestState */
/** @typedef {import("./types/api").ItemResult} ItemResult */

/** How many are shown at first. */
let bound = 10;
/** What became of those that somebody wanted to know of. @type {Map<string, {results?: ItemResult[], error?: unknown}>} */
const known = new Map();

/** @param {import("./job-state.js").State} state @param {() => void} again */
export function requestsSection(state, again) {
  const all = (state.view.requests ?? []).toReversed();
  if (!all.length) return null;
  const open = all.filter((r) => !r.ended && (r.through?.length ?? 0) < r.items.length);
  const ended = all.filter((r) => !open.includes(r));
  const rows = [...open, ...ended];
  return section(w("job.requests"), {},
    h("ul", { class: "plain job-rows" }, rows.slice(0, bound).map((r) => row(r, open.includes(r), again))),
    rows.length > bound ? h("p", null, button(w("ui.more"), () => {
      bound += 50;
      again();
    })) : null,
    state.view.more?.requests ? h("p", { class: "hint" }, w("job.moreRows", { n: state.view.more.requests })) : null);
}

/** @param {RequestState} r @param {boolean} isOpen @param {() => void} again */
function row(r, isOpen, again) {
  const through = r.through?.length ?? 0;
  const about = w("job.requestProgress", { n: through, all: r.items.length });
  const kept = known.get(r.id);
  return h("li", { key: r.id },
    h("div", { class: "badges" },
      h("strong", null, term("source", r.source)),
      isOpen ? badge("busy", w("job.requestOpen")) : badge("off", w("job.requestEnded")),
      r.failed?.length ? badge("bad", w("job.requestFailed", { n: r.failed.length, all: r.items.length })) : null,
      h("span", { class: "soft" }, w("job.requestBy", { by: r.by ?? "–" }), " ", since(r.at)),
      h("span", { class: "end" },
        isOpen && may("operator", job) ? button(w("job.cancelRequest"), () => cancel(r.id), { kind: "quiet", key: "cancel" }) : null,
        isOpen ? null : button(kept ? w("job.hideResults") : w("job.showResults"), () => (kept ? hide(r.id, again) : load(r.id, again)), { kind: "quiet", key: "results" }))),
    h("p", { class: "soft" }, w("job.requestItems", { items: itemsText(r.items) }), r.running?.length ? " · " + w("job.requestRunning", { items: itemsText(r.running) }) : ""),
    isOpen ? h("div", { class: "job-progress" }, h("progress", { max: r.items.length, value: through, "aria-label": about }), h("span", { class: "num" }, about)) : null,
    isOpen && r.why ? h("p", { class: "detail" }, w("job.requestWaits"), " ", r.why) : null,
    kept ? results(kept) : null);
}

/** @param {string} id @param {() => void} again */
function hide(id, again) {
  known.delete(id);
  again();
}

/** @param {string} request @param {() => void} again */
async function load(request, again) {
  try {
    known.set(request, { results: (await ask("GET /namespaces/{namespace}/jobs/{job}/requests/{request}", { namespace, job, request })).results ?? [] });
  } catch (error) {
    known.set(request, { error });
  }
  again();
}

/** @param {{results?: ItemResult[], error?: unknown}} kept */
function results(kept) {
  if (kept.error) return problem(kept.error);
  const all = kept.results ?? [];
  if (!all.length) return h("p", { class: "hint" }, w("job.noResults"));
  return h("ul", { class: "plain" }, all.slice(0, 100).map((r) => h("li", { class: "badges" },
    h("span", null, w("job.itemN", { item: r.item })),
    r.taskId && facts.databases?.[namespace] ? h("a", { href: inNamespace(["history", r.taskId]) }, word("outcome", r.outcome)) : word("outcome", r.outcome),
    r.runs > 1 ? h("span", { class: "soft" }, w("job.runs", { n: r.runs, failed: r.failed })) : null,
    r.error ? h("span", { class: "error-text", title: r.error }, r.error) : null)),
  all.length > 100 ? h("li", null, w("actions.more", { n: number(all.length - 100) })) : null);
}
