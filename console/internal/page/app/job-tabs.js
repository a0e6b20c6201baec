// The ways between the pages of one job, and what all of these have at their head.
import { facts, inNamespace, job, namespace } from "./facts.js";
import { crumbs, heading } from "./frame.js";
import { tabs } from "./ui.js";
import { w } from "./words.js";

/** The head of a page of the job: its name, and the way to it. @param {string} [name] that of the page, of all but the first */
export function jobHead(name) {
  crumbs([namespace, inNamespace([])], [w("nav.jobs"), inNamespace(["jobs"])]);
  heading(name ? `${job} · ${name}` : job);
}

/** The pages of the job. */
export function jobTabs() {
  /** @type {[string, string, boolean][]} */
  const links = [
    [w("nav.overview"), inNamespace(["jobs", job]), facts.page === "job"],
    [w("title.settings"), inNamespace(["jobs", job, "settings"]), facts.page === "settings"],
    [w("title.changes"), inNamespace(["jobs", job, "changes"]), facts.page === "changes"],
  ];
  if (facts.databases?.[namespace]) links.push([w("nav.history"), inNamespace(["history"], { job }), false]);
  return tabs(job, links);
}
