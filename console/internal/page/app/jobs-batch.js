// One change of many jobs, part by part.
import { ask, newKey, Problem } from "./api.js";
import { namespace } from "./facts.js";

/** @typedef {"trigger" | "pause" | "resume" | "disable" | "enable"} JobAction */
/** @typedef {import("./types/api").JobOutcome} JobOutcome */
/** @typedef {{action: JobAction, why: string, makeUp: boolean, parameter: string}} Wish */

/** How many jobs one request changes: few enough for its time, and to see how far it has come. */
const part = 200;

/**
 * Returns a function that does it with jobs, and tells of each as soon as it knows; it goes on until all are through, the
 * console is away, or isOver. All calls have one key: a job that is tried again is not triggered twice.
 * @param {Wish} wish
 */
export function batch(wish) {
  const key = newKey();
  return async (/** @type {string[]} */ jobs, /** @type {boolean} */ dryRun, /** @type {(outcomes: JobOutcome[]) => void} */ tell, /** @type {() => boolean} */ isOver) => {
    for (let i = 0; i < jobs.length && !isOver(); i += part) {
      const some = jobs.slice(i, i + part);
      try {
        const header = wish.action === "trigger" && !dryRun ? key : undefined;
        tell((await ask("POST /namespaces/{namespace}/jobs:batch", { namespace, dryRun, "Idempotency-Key": header }, body(wish, some))).outcomes);
      } catch (e) {
        const p = e instanceof Problem ? e : new Problem({ status: -1, code: "page-error", detail: String(e) });
        tell(some.map((job) => ({ job, changes: [], error: { code: p.code, status: p.status, detail: p.message } })));
        if (p.status <= 0) return;
      }
    }
  };
}

/** @param {Wish} wish @param {string[]} jobs @returns {import("./types/api").BatchBody} */
function body(wish, jobs) {
  if (wish.action === "pause") return { action: "pause", jobs, why: wish.why || undefined, makeUp: wish.makeUp || undefined };
  if (wish.action === "trigger") return { action: "trigger", jobs, parameter: wish.parameter || undefined };
  return { action: wish.action, jobs };
}

/** What became of a job: it was as wanted already, was paused in another way, has failed, or was changed. @param {JobOutcome} o */
export function became(o) {
  if (o.error) return o.error.code === "paused" ? "paused" : "failed";
  return o.request || o.changes.length ? "changed" : "already";
}
