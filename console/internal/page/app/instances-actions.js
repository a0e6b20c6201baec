// Shutting down: an instance leaves one job, a process all of its jobs.
import { askAbout } from "./actions.js";
import { ask, Problem } from "./api.js";
import { h } from "./dom.js";
import { namespace } from "./facts.js";
import { summaryOf } from "./instances-outcomes.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").InstanceInfo} InstanceInfo */
/** @typedef {import("./types/api").JobOutcome} JobOutcome */

/** How many requests there are at the same time. */
const atOnce = 4;

/** @param {InstanceInfo} i @param {() => void} done */
export function shutDown(i, done) {
  return askAbout({
    title: w("instances.shutDownAsk"), does: w("instances.shutDown"), danger: true, preview: true, why: true, done,
    text: [h("p", null, i.job, " · ", h("code", null, i.id)), h("p", { class: "hint" }, w("instances.shutDownText"))],
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/shutdown", { namespace, job: i.job, dryRun: o.dryRun }, { instances: [i.id], why: o.why || undefined }),
  });
}

/** Has a process leave all its jobs. @param {InstanceInfo[]} all @param {string} name @param {() => void} done */
export function drain(all, name, done) {
  return askAbout({
    title: w("instances.drainAsk", { process: name }), does: w("instances.shutDown"), danger: true, preview: true, why: true, done,
    text: [h("p", null, w("instances.drainText", { n: all.length })), h("p", { class: "hint" }, w("instances.shutDownText"))],
    shows: summaryOf,
    run: async (o) => {
      /** @type {JobOutcome[]} */
      const outcomes = [];
      const left = [...all];
      const next = async () => {
        for (let i = left.shift(); i; i = left.shift()) outcomes.push(await leave(i, o));
      };
      await Promise.all(Array.from({ length: atOnce }, next));
      return { outcomes: outcomes.sort((a, b) => (a.job < b.job ? -1 : 1)) };
    },
  });
}

/** @param {InstanceInfo} i @param {{dryRun: boolean, why: string}} o @returns {Promise<JobOutcome>} */
async function leave(i, o) {
  try {
    const { changes } = await ask("POST /namespaces/{namespace}/jobs/{job}/shutdown", { namespace, job: i.job, dryRun: o.dryRun }, { instances: [i.id], why: o.why || undefined });
    return { job: i.job, changes };
  } catch (e) {
    if (!(e instanceof Problem)) throw e;
    if (e.status === 404) return { job: i.job, changes: [] }; // it has left already
    return { job: i.job, changes: [], error: { code: e.code, detail: e.message, status: e.status } };
  }
}
