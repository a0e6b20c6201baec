// What may be done with a server, in all jobs that know it or in one.
import { askAbout, run } from "./actions.js";
import { ask } from "./api.js";
import { h } from "./dom.js";
import { namespace } from "./facts.js";
import { summaryOf } from "./instances-outcomes.js";
import { w } from "./words.js";

/** @typedef {"disable" | "enable" | "shutdown" | "remove"} Verb disable drains a server */

/** @type {Record<Exclude<Verb, "enable">, {title: (server: string) => string, text: () => string, does: () => string}>} */
const questions = {
  disable: { title: (server) => w("servers.drainAsk", { server }), text: () => w("servers.drainText"), does: () => w("servers.drain") },
  shutdown: { title: (server) => w("servers.shutDownAsk", { server }), text: () => w("servers.shutDownText"), does: () => w("servers.shutDown") },
  remove: { title: (server) => w("servers.removeAsk", { server }), text: () => w("servers.removeText"), does: () => w("ui.remove") },
};

/**
 * Changes a server in all jobs: it is enabled at once, and asked about before all else.
 * @param {Verb} verb
 * @param {string} server
 * @param {() => void} done
 */
export function changeServer(verb, server, done) {
  const operation = /** @type {const} */ (`POST /namespaces/{namespace}/servers/{address}/${verb}`);
  const call = (/** @type {{dryRun: boolean, why: string}} */ o) => ask(operation, { namespace, address: server, dryRun: o.dryRun, why: o.why });
  if (verb === "enable") return run({ title: w("servers.enableDone", { server }), does: w("servers.enable"), run: call, done });
  const q = questions[verb];
  return askAbout({ title: q.title(server), text: h("p", null, q.text()), does: q.does(), danger: true, preview: true, why: true, shows: summaryOf, run: call, done });
}

/**
 * The same in one job.
 * @param {"disable" | "enable" | "remove"} verb
 * @param {string} server
 * @param {string} job
 * @param {() => void} done
 */
export function changeServerOf(verb, server, job, done) {
  const operation = /** @type {const} */ (`POST /namespaces/{namespace}/jobs/{job}/servers/${verb}`);
  const call = (/** @type {{dryRun: boolean}} */ o) => ask(operation, { namespace, job, dryRun: o.dryRun }, { servers: [server] });
  if (verb === "enable") return run({ title: w("servers.enableOfDone", { server, job }), does: w("servers.enable"), run: call, done });
  const isRemoval = verb === "remove";
  return askAbout({
    title: isRemoval ? w("servers.removeOfAsk", { server, job }) : w("servers.disableOfAsk", { server, job }), does: isRemoval ? w("ui.remove") : w("servers.disable"),
    text: h("p", null, isRemoval ? w("servers.removeOfText") : w("servers.disableOfText")), danger: true, preview: true, run: call, done,
  });
}
