// What has failed in a span, over all namespaces that the user may see: by job, what still fails first; and its retry.
import { ask } from "../api.js";
import { h } from "../dom.js";
import { facts, inNamespace } from "../facts.js";
import { retryFailures } from "../failed-retry.js";
import { page } from "../frame.js";
import { keep } from "../poll.js";
import { query, setQuery } from "../query.js";
import { may } from "../rights.js";
import { spanFields, spanOf } from "../span.js";
import { table } from "../table.js";
import { at, badge, button, empty, note, problem, section, state } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../types/api").Failures} Failures */
/** @typedef {import("../types/api").FailedRun} Run */
/** @typedef {import("../types/api").FailedJob & {namespace: string}} Job */
/** @typedef {{key: string, job: Job, run?: Run}} Row a job, or one of its failures */

const spaces = Object.keys(facts.databases ?? {});
/** @type {Map<string, {report?: Failures, error?: unknown}>} */
const known = new Map();
/** @type {Set<string>} keys of rows */
const chosen = new Set();
/** @type {Set<string>} keys of jobs whose failures are shown */
const open = new Set();
let asked = 0;

/** @returns {Record<string, string>} */
function wanted() {
  const q = query();
  return q.span || q.from ? q : { ...q, span: "today" };
}

/** The span of the page: it has a beginning. */
function span() {
  const { from, to } = spanOf(wanted());
  return { from: from ?? new Date(0).toISOString(), to };
}

async function load() {
  const turn = ++asked;
  await Promise.all(spaces.map(async (namespace) => {
    try {
      const report = await ask("GET /namespaces/{namespace}/failures", { namespace, ...span() });
      if (turn === asked) known.set(namespace, { report });
    } catch (error) {
      if (turn === asked) known.set(namespace, { ...known.get(namespace), error });
    }
    again();
  }));
  const all = [...known.values()];
  if (all.length && all.every((k) => k.error)) throw all[0].error;
}

/** @returns {Job[]} */
function jobs() {
  const rank = (/** @type {Job} */ j) => (j.failed ? 0 : j.older ? 1 : 2);
  return [...known].flatMap(([namespace, k]) => (k.report?.jobs ?? []).map((j) => ({ ...j, namespace })))
    .sort((a, b) => rank(a) - rank(b) || b.newest.localeCompare(a.newest));
}

/** @param {Job} j */
const keyOf = (j) => j.namespace + "\n" + j.job;

/** @param {Job[]} all @returns {Row[]} */
function rows(all) {
  return all.flatMap((job) => {
    const key = keyOf(job);
    return [{ key, job }, ...(open.has(key) ? job.runs.map((run) => ({ key: `${key}\n${run.item}\n${run.tick ?? run.execution}`, job, run })) : [])];
  });
}

/** Runs rows again. @param {Row[]} some @param {boolean} [isAll] */
async function retry(some, isAll) {
  /** @type {Map<string, import("../failed-retry.js").Choice[]>} */
  const choices = new Map();
  for (const { job, run } of some) {
    const list = choices.get(job.namespace) ?? [];
    choices.set(job.namespace, list);
    if (isAll) continue; // also what is not listed
    let choice = list.find((c) => c.job === job.job);
    if (!choice) list.push((choice = { job: job.job, runs: run ? [] : undefined }));
    if (run?.tick) choice.runs?.push({ item: run.item, tick: run.tick });
  }
  const older = !some.some(({ job, run }) => (run ? run.state === "FAILED" : job.failed));
  if (!await retryFailures(span(), choices, older)) return;
  chosen.clear();
  poll.now();
}

function view() {
  const all = jobs();
  const list = rows(all);
  const steered = list.filter(({ job: j, run }) => !run && j.failed + (j.older ?? 0) > 0 && may("operator", j.job, j.namespace));
  const picked = list.filter((r) => chosen.has(r.key));
  const n = steered.reduce((sum, { job }) => sum + job.failed, 0) || steered.reduce((sum, { job }) => sum + (job.older ?? 0), 0);
  const isLoaded = known.size === spaces.length;
  return [
    section(w("failed.jobs"), {
      class: "failed",
      tools: !steered.length ? null : picked.length
        ? button(w("failed.retryChosen", { n: picked.length }), () => retry(picked), { kind: "first", key: "retry" })
        : button(w("failed.retryAll", { n }), () => retry(steered, true), { kind: "first", key: "retry" }),
    },
    h("form", { class: "fields", onsubmit: (/** @type {Event} */ e) => e.preventDefault() }, spanFields(wanted(), change, true)),
    [...known].map(([namespace, k]) => notes(namespace, k)), elsewhere(),
    all.length ? table({ label: w("failed.jobs"), rows: list, key: (r) => r.key, rowClass: (r) => (r.run ? "failed-run" : null), columns })
      : !isLoaded ? h("p", { class: "waiting" }, w("ui.loading"))
      : [...known.values()].every((k) => k.report && !k.report.noHistory && !k.report.historyError && !k.report.hidden) ? empty(w("failed.none"))
      : [...known.values()].some((k) => k.report) ? empty(w("failed.noneKnown")) : null),
  ];
}

/** What of a namespace is not known. @param {string} namespace @param {{report?: Failures, error?: unknown}} k */
function notes(namespace, { report: r, error }) {
  const all = error ? [] : [
    r?.noHistory && w("failed.noHistory", { namespace }),
    r?.historyError && w("failed.away", { namespace, why: r.historyError }),
    r?.hidden && w("failed.hidden", { namespace }),
    r?.since && [w("failed.cut", { namespace }), " ", at(r.since)],
    r?.more && w("failed.moreJobs", { namespace, n: r.more }),
  ].filter((t) => !!t);
  return [error ? h("div", { key: namespace }, h("p", null, h("strong", null, namespace)), problem(error, () => poll.now())) : null, all.length ? note("warn", all.map((t) => h("p", null, t))) : null];
}

/** Jobs with failures that no namespace has any more. */
function elsewhere() {
  const here = new Set(jobs().map((j) => j.job));
  const gone = [...new Set([...known.values()].flatMap((k) => k.report?.elsewhere ?? []))].filter((name) => !here.has(name));
  return gone.length ? note("info", h("p", null, w("failed.gone", { jobs: gone.slice(0, 20).join(", "), n: gone.length }))) : null;
}

/** @type {import("../table.js").Column<Row>[]} */
const columns = [
  {
    name: "choose", text: w("failed.choose"), cell: (r) => {
      const isDone = r.run ? r.run.state === "SUCCEEDED" || !r.run.tick : !(r.job.failed + (r.job.older ?? 0));
      if (isDone || !may("operator", r.job.job, r.job.namespace)) return null;
      const whole = keyOf(r.job);
      return h("label", { class: "box" }, h("input", {
        type: "checkbox", checked: chosen.has(r.key) || chosen.has(whole), disabled: !!r.run && chosen.has(whole),
        "aria-label": w("failed.chooseOne", { what: r.run ? `${r.job.job}, ${w("failed.item", { item: r.run.item })}` : r.job.job }),
        onclick: () => {
          if (!chosen.delete(r.key)) chosen.add(r.key);
          if (!r.run) for (const key of chosen) if (key.startsWith(whole + "\n")) chosen.delete(key);
          again();
        },
      }));
    },
  },
  {
    name: "job", text: w("failed.job"), cell: ({ job, run }) => (run
      ? [w("failed.item", { item: run.item }), run.tick ? [" · ", at(run.tick)] : null]
      : [h("a", { class: "name", href: inNamespace(["jobs", job.job], {}, job.namespace) }, job.job), h("p", { class: "soft" }, job.namespace)]),
  },
  {
    name: "state", text: w("failed.state"), cell: ({ job, run }) => (run
      ? [state("outcome", run.outcome), " ", run.waits ? badge("busy", w("failed.waits")) : run.state === "SUCCEEDED" ? badge("good", w("failed.succeeded")) : run.state === "OLDER" ? badge("warn", w("failed.older")) : null, run.times > 1 ? [" ", w("failed.times", { n: run.times })] : null]
      : [job.failed ? badge("bad", w("failed.nFailed", { n: job.failed })) : null, " ", job.older ? badge("warn", w("failed.nOlder", { n: job.older })) : null, " ", job.succeeded ? badge("good", w("failed.nSucceeded", { n: job.succeeded })) : null]),
  },
  { name: "newest", text: w("failed.newest"), cell: ({ job, run }) => (!run ? at(job.newest) : run.execution && facts.databases?.[job.namespace] ? h("a", { href: inNamespace(["history", run.execution], {}, job.namespace) }, at(run.begun)) : at(run.begun)) },
  { name: "host", text: w("failed.host"), cell: ({ job, run }) => h("span", { class: "num" }, (run ?? job.runs[0])?.server || "–") },
  { name: "cause", text: w("failed.cause"), wide: true, cell: ({ job, run }) => ((t) => h("p", { class: "history-why", title: t.slice(0, 1000) }, t.split("\n")[0].slice(0, 300)))((run ?? job.runs[0])?.error ?? "") },
  {
    name: "actions", text: w("ui.menu"), unseen: true, cell: ({ key, job, run }) => {
      if (run) return null;
      const all = job.failed + (job.older ?? 0) + (job.succeeded ?? 0);
      return h("div", { class: "tools" },
        h("button", { type: "button", class: "quiet", "aria-expanded": String(open.has(key)), "aria-label": w("failed.show", { job: job.job }), onclick: () => {
          if (!open.delete(key)) open.add(key);
          again();
        } }, `${open.has(key) ? "▾" : "▸"} ${job.runs.length < all ? w("failed.of", { n: job.runs.length, all }) : all}`),
        job.failed + (job.older ?? 0) && may("operator", job.job, job.namespace) ? button(w("failed.retry"), () => retry([{ key, job }]), { label: w("failed.retryOne", { job: job.job }) }) : null);
    },
  },
];

/** @param {Record<string, string>} some */
function change(some) {
  setQuery(some);
  known.clear();
  chosen.clear();
  again();
  void load().catch(() => {}); // each namespace tells for itself
}

const again = page(view);
const poll = keep(load, 15, false);
poll.now();
