// All jobs of the namespace, as the stream tells them.
import { namespace } from "./facts.js";
import { keepJobs, keptJobs } from "./jobs-kept.js";
import { listen } from "./live.js";
import { paced } from "./poll.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */
/**
 * @typedef {{
 *   jobs: Map<string, JobInfo>, whole: boolean, gone: string, error: unknown,
 * }} Store
 * whole is whether all of them were told; gone says that there will be no more, and error why nothing was told.
 */

/**
 * Follows the jobs. changed is called when they are others: five times a second at most, of thousands twice.
 * @param {() => void} changed
 * @returns {Store}
 */
export function followJobs(changed) {
  /** @type {Store} */
  const store = { jobs: new Map(), whole: false, gone: "", error: undefined };
  const kept = keptJobs();
  if (kept) Object.assign(store, { jobs: kept.jobs, whole: true });
  /** @type {Map<string, JobInfo>} those of a stream that begins anew: they replace the others when all were told */
  let fresh = store.jobs;
  const soon = paced(changed, () => (store.jobs.size > 2000 ? 500 : 200));
  /** @param {import("./live.js").JobsChange} change */
  const update = (change) => {
    for (const job of change.jobs ?? []) fresh.set(job.name, job);
    for (const name of change.removed ?? []) fresh.delete(name);
    if (!change.more && (fresh !== store.jobs || !store.whole)) {
      store.jobs = fresh;
      store.whole = true;
    }
    soon();
  };
  const place = listen("/namespaces/{namespace}/watch", { namespace, lastEventId: kept?.place ?? "" }, {
    reset: (change) => {
      fresh = store.whole ? new Map() : store.jobs;
      fresh.clear();
      store.error = undefined;
      update(change);
    },
    update,
    failed: (e) => {
      Object.assign(store, { jobs: (fresh = new Map()), whole: false, error: e });
      soon();
    },
    removed: (reason) => {
      store.gone = reason;
      soon();
    },
  });
  addEventListener("pagehide", () => store.whole && fresh === store.jobs && keepJobs(place(), store.jobs.values()));
  if (kept) soon();
  return store;
}
