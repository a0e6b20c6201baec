// What a finding advises, as a button: by the actions that the pages of jobs have.
import { run } from "./actions.js";
import { ask } from "./api.js";
import { h } from "./dom.js";
import { facts, inNamespace, namespace } from "./facts.js";
import { itemsText } from "./form.js";
import { clearStale, reshard } from "./job-actions.js";
import { retry } from "./job-runs.js";
import { changeJobs } from "./jobs-change.js";
import { may } from "./rights.js";
import { button } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").Finding} Finding */

/** What operators do. Each resolves to whether it was done. @type {Partial<Record<string, {text: () => string, act: (f: Finding, job: string) => Promise<boolean>}>>} */
const acts = {
  resume: { text: () => w("jobs.resume"), act: (_, job) => changeJobs("resume", [job]) },
  enable: { text: () => w("jobs.enable"), act: (f, job) => (f.items ? enableItems(job, f.items) : changeJobs("enable", [job])) },
  retry: { text: () => w("job.retry"), act: (_, job) => retry(undefined, job) },
  reshard: { text: () => w("job.reshard"), act: (_, job) => reshard(job) },
  "clear stale": { text: () => w("job.clearStale"), act: (_, job) => clearStale(job) },
};

/** @param {string} job @param {number[]} items */
function enableItems(job, items) {
  return run({ title: w("job.enableItems", { items: itemsText(items) }), does: w("job.enable"), run: () => ask("POST /namespaces/{namespace}/jobs/{job}/items/enable", { namespace, job }, { items }) });
}

/** The button of a finding; null if there is none, or if the user may not. @param {Finding} f @param {() => void} done */
export function actionOf(f, done) {
  const job = f.job;
  if (!job) return null;
  const names = (/** @type {string} */ text) => `${text}: ${job}`; // many findings have a button of the same word
  const link = (/** @type {string} */ text, /** @type {string} */ href) => h("a", { class: "button", href, "aria-label": names(text) }, text);
  if (f.action === "edit") return link(w("jobs.settings"), inNamespace(["jobs", job, "settings"]));
  if (f.action === "open-run") return facts.databases?.[namespace] ? link(w("findings.openRun"), inNamespace(["history"], { job, outcomes: "RUNNING", items: f.items?.join() })) : null;
  const a = acts[f.action ?? ""];
  return a && may("operator", job) ? button(a.text(), async () => (await a.act(f, job)) && done(), { label: names(a.text()) }) : null;
}
