// What runs now: the items of jobs that run some, asked for when such a job has changed.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { facts, inNamespace, namespace } from "./facts.js";
import { lasting, whenFull } from "./time.js";
import { badge, empty, instanceName, section } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */
/** @typedef {import("./types/api").ItemInfo} ItemInfo */
/** @typedef {{info: JobInfo, items: ItemInfo[]}} Known */

const maxJobs = 20; // of which items are asked for
const maxRows = 12;

/**
 * Follows what runs; again draws the page.
 * @param {() => void} again
 */
export function running(again) {
  /** @type {Map<string, Known>} */
  let known = new Map();
  let total = 0;
  let busy = false;
  let stale = false;
  let asked = false;

  /** @param {() => Map<string, JobInfo>} jobs @returns {Promise<void>} */
  const look = async (jobs) => {
    const now = [...jobs().values()].filter((j) => j.running > 0);
    total = now.reduce((sum, j) => sum + j.running, 0);
    if (busy) {
      stale = true;
      return;
    }
    busy = true;
    const first = now.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, maxJobs);
    const next = await Promise.all(first.map((info) => itemsOf(info, known.get(info.name))));
    known = new Map(next.map((k) => [k.info.name, k]));
    busy = false;
    asked = true;
    again();
    if (stale) {
      stale = false;
      setTimeout(() => void look(jobs), 500); // short runs come and go
    }
  };

  const view = () => {
    const rows = [...known.values()].flatMap((k) => k.items.map((item) => ({ job: k.info.name, item })));
    const shown = rows.slice(0, maxRows);
    const left = total - shown.length;
    return section(w("overview.running", { n: total }), {},
      shown.length ? h("ul", { class: "runs" }, shown.map(({ job, item }) => line(job, item))) : null,
      shown.length && left > 0 ? h("p", null, h("a", { href: inNamespace(["jobs"], { running: "true" }) }, w("overview.moreRunning", { n: left }))) : null,
      !shown.length ? (asked ? empty(w("overview.nothingRuns")) : h("p", { class: "waiting" }, w("ui.loading"))) : null);
  };
  return { look, view, any: () => known.size > 0 };
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
  const took = begun ? lasting(Math.max(0, Math.round((Date.now() - Date.parse(begun)) / 1000))) : "";
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
