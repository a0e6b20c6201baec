// What runs now: the items of jobs that run some, asked for when such a job has changed.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { ranFor } from "./execution.js";
import { facts, inNamespace, namespace } from "./facts.js";
import { lasting, whenFull } from "./time.js";
import { badge, empty, instanceName, section } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */
/** @typedef {import("./types/api").ItemInfo} ItemInfo */
/** @typedef {{info: JobInfo, items: ItemInfo[]}} Known */

const maxJobs = 20; // of which items are asked for
const maxRows = 12;
const pause = 300; // ms for each request

/**
 * Follows what runs; again draws the page.
 * @param {() => Iterable<JobInfo>} jobs
 * @param {() => void} again
 */
export function running(jobs, again) {
  /** @type {Map<string, Known>} */
  let known = new Map();
  let asked = false;
  let due = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const those = () => [...jobs()].filter((j) => j.running > 0).sort((a, b) => (a.name < b.name ? -1 : 1));
  const isNew = (/** @type {JobInfo} */ j) => known.get(j.name)?.info !== j;
  /** Asks for items of jobs that have changed. Then it rests: the longer, the more that were, and the longer it took. */
  const round = async () => {
    const begun = Date.now();
    const first = those().slice(0, maxJobs);
    const cost = first.filter(isNew).length * pause;
    const next = await Promise.all(first.map((info) => itemsOf(info, known.get(info.name))));
    known = new Map(next.map((k) => [k.info.name, k]));
    asked = true;
    timer = undefined;
    due = Date.now() + Math.max(pause, cost, 4 * (Date.now() - begun));
    again();
    look();
  };
  /** To be called when jobs have changed. */
  const look = () => {
    if (timer === undefined && (!asked || those().slice(0, maxJobs).some(isNew))) timer = setTimeout(round, Math.max(0, due - Date.now()));
  };

  const view = () => {
    const now = those();
    const total = now.reduce((sum, j) => sum + j.running, 0);
    const rows = now.flatMap((j) => (known.get(j.name)?.items ?? []).map((item) => ({ job: j.name, item })));
    const shown = rows.slice(0, maxRows);
    const left = total - shown.length;
    return section(w("overview.running", { n: total }), {},
      shown.length ? h("ul", { class: "runs" }, shown.map(({ job, item }) => line(job, item))) : null,
      shown.length && left > 0 ? h("p", null, h("a", { href: inNamespace(["jobs"], { running: "true" }) }, w("overview.moreRunning", { n: left }))) : null,
      !shown.length ? (asked && !total ? empty(w("overview.nothingRuns")) : h("p", { class: "waiting" }, w("ui.loading"))) : null);
  };
  return { look, view, any: () => those().length > 0 };
}

/** @param {JobInfo} info @param {Known} [before] @returns {Promise<Known>} */
async function itemsOf(info, before) {
  if (before?.info === info) return before;
  try {
    const { rows } = await ask("GET /namespaces/{namespace}/jobs/{job}/items", { namespace, job: info.name, limit: 1000 });
    return { info, items: rows.filter((i) => i.run) };
  } catch {
    return { info, items: [] }; // it has gone, or the stream says what is wrong
  }
}

/** @param {string} job @param {ItemInfo} item */
function line(job, item) {
  const run = /** @type {import("./types/api").RunInfo} */ (item.run);
  const begun = run.begun ?? run.tick;
  const took = begun ? lasting(ranFor(begun)) : "";
  const isFailover = item.failover === run.instance && run.instance !== "";
  const hasRun = run.taskId && facts.databases?.[namespace];
  const text = w("overview.item", { n: number(item.item) });
  return h("li", { key: job + " " + item.item },
    h("div", { class: "what" },
      h("a", { href: inNamespace(["jobs", job]) }, job), " ",
      hasRun ? h("a", { href: inNamespace(["history", run.taskId ?? ""]) }, text) : text, " ",
      run.lost ? badge("warn", w("overview.lost")) : isFailover ? badge("busy", w("overview.failover")) : null),
    h("span", { class: "num", title: begun ? whenFull(begun) : null }, took),
    h("span", { class: "soft where" }, instanceName(run.instance)));
}
