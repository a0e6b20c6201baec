// Draining a server: it is disabled in all jobs, and may be switched off when nothing runs there any more.
import { h } from "./dom.js";
import { blindSince } from "./hosttime.js";
import { note } from "./ui.js";
import { w } from "./words.js";

/** How far it has come, of a server that is disabled in all jobs. @param {import("./servers-one.js").One} one */
export function drainNote({ info, jobs }) {
  if ((info.disabledJobs ?? 0) < info.jobs) return null;
  const hidden = jobs.filter((j) => j.unrecorded && j.instances?.length).map((j) => j.job);
  const [kind, text] = blindSince() !== undefined ? /** @type {const} */ (["warn", w("servers.drainBlind")])
    : info.running ? /** @type {const} */ (["info", w("servers.drainRunning", { n: info.running })])
      : hidden.length ? /** @type {const} */ (["warn", w("servers.drainHidden", { jobs: hidden.slice(0, 10).join(", ") })])
        : info.items ? /** @type {const} */ (["warn", w("servers.drainItems", { n: info.items })])
          : /** @type {const} */ (["good", w("servers.drained")]);
  return h("div", { role: "status", key: "drain" }, note(kind, h("p", null, text)));
}
