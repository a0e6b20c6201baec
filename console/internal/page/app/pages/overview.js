// A namespace at a glance: its jobs by status, what runs, what went wrong in the last day and is wrong now, and where it runs.
import { ask } from "../api.js";
import { h } from "../dom.js";
import { facts, inNamespace, namespace } from "../facts.js";
import { findings } from "../findings.js";
import { page, start, tools } from "../frame.js";
import { listen } from "../live.js";
import { liveness } from "../liveness.js";
import { loadDay } from "../overview-day.js";
import { tiles, totalsOf } from "../overview-jobs.js";
import { loadPlaces, places, store } from "../overview-place.js";
import { running } from "../overview-running.js";
import { strip } from "../overview-strip.js";
import { poll } from "../poll.js";
import { mayAll, mayEverywhere } from "../rights.js";
import { empty, problem, section } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../types/api").JobInfo} JobInfo */
/** @typedef {import("../types/api").Totals} Totals */

/** @param {Totals} first what is known until the stream has told of all jobs */
function begin(first) {
  /** @type {Map<string, JobInfo>} */
  let jobs = new Map();
  let totals = first;
  let isWhole = false;
  let counted = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let counting;

  const day = part(() => loadDay(() => [...jobs.values()].filter((j) => j.failing).map((j) => j.name).sort()), () => again());
  const where = part(loadPlaces, () => again());
  const found = findings({ again: () => again() });
  const runs = running(() => again());
  const hasHistory = facts.databases?.[namespace];

  const again = page(() => [
    totals.jobs ? null : section(w("overview.noJobs"), {}, empty(w("overview.noJobsText"), mayAll("admin") ? h("a", { class: "button first", href: inNamespace(["create"]) }, w("overview.create")) : w("overview.askAdmin"))),
    tiles(totals),
    section(w("overview.day"), {}, hasHistory ? day.view(strip) : empty(w("overview.noHistory"), mayEverywhere("admin") ? h("a", { href: facts.root + "connections" }, w("overview.addHistory")) : w("overview.askHistory"))),
    h("div", { class: "halves" },
      section(w("overview.findings"), {}, found.view()),
      h("div", { class: "stack" },
        runs.view(),
        section(w("overview.places"), { tools: h("a", { href: inNamespace(["instances"]) }, w("overview.allInstances")) }, where.view((p) => places(p, jobs.values()))),
        found.report()?.store ? section(w("overview.storeTitle"), {}, store(/** @type {import("../types/api").StoreFacts} */ (found.report()?.store))) : null)),
  ]);

  // Counting 10,000 jobs takes a millisecond or two: at most twice a second.
  const changed = () => {
    if (!isWhole || counting) return;
    counting = setTimeout(() => {
      counting = undefined;
      counted = Date.now();
      totals = totalsOf(jobs.values());
      void runs.look(jobs);
      again();
    }, Math.max(0, counted + 400 - Date.now()));
  };
  const take = (/** @type {import("../live.js").JobsChange} */ change) => {
    for (const j of change.jobs ?? []) jobs.set(j.name, j);
    for (const name of change.removed ?? []) jobs.delete(name);
    isWhole = !change.more;
    changed();
  };
  listen("/namespaces/{namespace}/watch", { namespace }, {
    reset: (change) => {
      jobs = new Map();
      take(change);
    },
    update: take,
    state: (now, why) => tools(liveness(now, why)),
  });
  setInterval(() => !document.hidden && runs.any() && again(), 1000); // how long each has run
  if (hasHistory) day.follow(60);
  where.follow(15);
  void found.load().catch(() => {}); // its view shows why
  poll(found.load, 60);
}

/**
 * A part of the page that is asked for, and stays as it was if that fails.
 * @template T
 * @param {() => Promise<T>} load
 * @param {() => void} again
 */
function part(load, again) {
  /** @type {T | undefined} */
  let now;
  /** @type {unknown} */
  let error;
  const ask = async () => {
    try {
      now = await load();
      error = undefined;
    } catch (e) {
      error = e;
      throw e;
    } finally {
      again();
    }
  };
  const begin = () => void ask().catch(() => {}); // view shows why
  return {
    /** @param {(now: T) => import("../dom.js").View} show @returns {import("../dom.js").View} */
    view: (show) => [error ? h("div", null, problem(error, begin)) : null, now ? /** @type {any} */ (show(now)) : error ? null : h("p", { class: "waiting" }, w("ui.loading"))],
    /** @param {number} seconds */
    follow: (seconds) => {
      begin();
      poll(ask, seconds);
    },
  };
}

await start(async () => (await ask("GET /namespaces/{namespace}/jobs", { namespace, limit: 1 })).totals, begin);
