// A namespace at a glance: its jobs by status, what runs, what went wrong in the last day and is wrong now, and where it runs.
import { ask } from "../api.js";
import { h } from "../dom.js";
import { facts, inNamespace, link, namespace } from "../facts.js";
import { findings } from "../findings.js";
import { page, start } from "../frame.js";
import { followJobs } from "../jobs-store.js";
import { loadDay } from "../overview-day.js";
import { tiles, totalsOf } from "../overview-jobs.js";
import { loadPlaces, places, store } from "../overview-place.js";
import { running } from "../overview-running.js";
import { strip } from "../overview-strip.js";
import { Kept, poll } from "../poll.js";
import { mayAll, mayEverywhere } from "../rights.js";
import { empty, problem, section } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../types/api").Totals} Totals */

/** @param {Totals} first what is known until the stream has told of all jobs */
function begin(first) {
  const seesAll = mayAll("viewer");
  let failing = -1;
  const changed = () => {
    if (jobs.whole) {
      runs.look();
      const now = totalsOf(jobs.jobs.values()).failing;
      if (now > failing && failing >= 0) day.soon();
      if (failing < 0 && !seesAll) follow(); // he is told about the past of jobs that he names: now it is known which
      failing = now;
    }
    again();
  };
  const day = part(() => loadDay(seesAll, () => [...jobs.jobs.values()].sort((a, b) => (b.failing ?? 0) - (a.failing ?? 0)).map((j) => j.name)), () => again());
  const where = part(loadPlaces, () => again());
  const found = findings({ again: () => again() });
  const runs = running(() => jobs.jobs.values(), () => again());
  const jobs = followJobs(changed);
  const hasHistory = facts.databases?.[namespace];
  const follow = () => hasHistory && day.follow(60, 10);

  const again = page(() => {
    const totals = jobs.whole ? totalsOf(jobs.jobs.values()) : first;
    const facts = found.report()?.store;
    return [
      jobs.error ? problem(jobs.error) : null,
      totals.jobs ? tiles(totals) : noJobs(),
      section(w("overview.day"), {}, hasHistory ? day.view(strip) : noHistory()),
      h("div", { class: "halves" },
        section(w("overview.findings"), {}, found.view()),
        h("div", { class: "half" },
          runs.view(),
          section(w("overview.places"), { tools: h("a", { href: inNamespace(["instances"]) }, w("overview.allInstances")) }, where.view((p) => places(p, jobs.jobs.values()))),
          facts ? section(w("overview.storeTitle"), {}, store(facts)) : null)),
    ];
  });

  setInterval(() => !document.hidden && runs.any() && again(), 1000); // how long each has run
  if (seesAll) follow();
  where.follow(15, 15);
  void found.load().catch(() => {}); // its view shows why
  poll(found.load, 60);
}

function noJobs() {
  const next = mayAll("admin") ? h("a", { class: "button first", href: inNamespace(["create"]) }, w("overview.create")) : w("overview.askAdmin");
  return section(w("overview.noJobs"), {}, empty(w("overview.noJobsText"), next));
}

function noHistory() {
  return empty(w("overview.noHistory"), mayEverywhere("admin") ? h("a", { href: link(["connections"]) }, w("overview.addHistory")) : w("overview.askHistory"));
}

/**
 * A part of the page that is asked for, and stays as it was if that fails.
 * @template T
 * @param {() => Promise<T>} load
 * @param {() => void} again
 */
function part(load, again) {
  /** @type {Kept<T | undefined>} */
  const kept = new Kept(undefined, () => {
    asked = Date.now();
    return load();
  }, again);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let soon = () => {};
  let asked = 0;
  return {
    /** @param {(now: T) => import("../dom.js").View} show @returns {import("../dom.js").View} */
    view: (show) => [kept.error ? h("div", null, problem(kept.error, kept.refresh)) : null, kept.now ? /** @type {any} */ (show(kept.now)) : kept.error ? null : h("p", { class: "waiting" }, w("ui.loading"))],
    /** @param {number} seconds @param {number} least how many seconds apart it is asked for if that is wanted soon */
    follow: (seconds, least) => {
      void kept.refresh();
      const asking = poll(kept.load, seconds);
      soon = () => {
        timer ??= setTimeout(() => {
          timer = undefined;
          asking.now();
        }, Math.max(0, asked + least * 1000 - Date.now()));
      };
    },
    soon: () => soon(),
  };
}

await start(async () => (await ask("GET /namespaces/{namespace}/jobs", { namespace, limit: 1 })).totals, begin);
