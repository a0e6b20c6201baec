// How many jobs there are, by what is to be known of them: each number leads to the jobs.
import { h } from "./dom.js";
import { inNamespace } from "./facts.js";
import { badge } from "./ui.js";
import { number, term, w } from "./words.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */
/** @typedef {import("./types/api").Totals} Totals */

/**
 * Counts jobs as the API does.
 * @param {Iterable<JobInfo>} jobs
 * @returns {Totals}
 */
export function totalsOf(jobs) {
  const t = { jobs: 0, ok: 0, crashed: 0, stopped: 0, neverStarted: 0, disabled: 0, shardingFlag: 0, paused: 0, faulty: 0, failing: 0, begunLate: 0, instances: 0, items: 0, running: 0 };
  for (const j of jobs) {
    t.jobs++;
    if (j.healthy) t.ok++;
    if (j.status === "CRASHED") t.crashed++;
    else if (j.status === "STOPPED") t.stopped++;
    else if (j.status === "NEVER_STARTED") t.neverStarted++;
    else if (j.status === "DISABLED") t.disabled++;
    else if (j.status === "SHARDING_FLAG") t.shardingFlag++;
    if (j.paused) t.paused++;
    if (j.faults || j.configError) t.faulty++;
    if (j.failing) t.failing++;
    if (j.begunLate) t.begunLate++;
    t.instances += j.instances;
    t.items += j.shardingTotalCount;
    t.running += j.running;
  }
  return t;
}

/**
 * A number with its word. A kind has its sign only where there are some: nothing is wrong with none.
 * @param {number} n
 * @param {string} text
 * @param {Record<string, string>} filter
 * @param {"good" | "bad" | "warn" | "busy" | "off"} [kind]
 */
function tile(n, text, filter, kind) {
  return h("a", { class: "tile" + (n === 0 ? " zero" : ""), href: inNamespace(["jobs"], filter), key: text },
    h("span", { class: "count num" }, number(n)), " ", kind && n > 0 ? badge(kind, text) : h("span", { class: "soft" }, text));
}

/** @param {Totals} t */
export function tiles(t) {
  return h("div", { class: "tiles" },
    tile(t.jobs, w("overview.jobs"), {}),
    tile(t.ok, term("status", "OK"), { status: "OK" }, "good"),
    tile(t.crashed, term("status", "CRASHED"), { status: "CRASHED" }, "bad"),
    tile(t.stopped, term("status", "STOPPED"), { status: "STOPPED" }, "bad"),
    tile(t.neverStarted, term("status", "NEVER_STARTED"), { status: "NEVER_STARTED" }, "warn"),
    tile(t.disabled, term("status", "DISABLED"), { status: "DISABLED" }, "off"),
    tile(t.shardingFlag, term("status", "SHARDING_FLAG"), { status: "SHARDING_FLAG" }, "warn"),
    tile(t.paused, w("overview.paused"), { paused: "true" }, "off"),
    tile(t.failing, w("overview.failing"), { failing: "true" }, "bad"),
    tile(t.begunLate, w("jobs.late"), { late: "true" }, "warn"),
    tile(t.faulty, w("overview.faulty"), { faulty: "true" }, "bad"));
}
