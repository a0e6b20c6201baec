// How a calendar is saved and removed: with a look at what comes of it before.
import { askAbout, isConflict } from "./actions.js";
import { ask, Problem } from "./api.js";
import { diffView } from "./diff-view.js";
import { h } from "./dom.js";
import { inNamespace, namespace } from "./facts.js";
import { check } from "./form.js";
import { note } from "./ui.js";
import { w } from "./words.js";

/** @typedef {{detail: import("./types/api").CalendarDetail, etag: string}} Stored */

/**
 * Saves a text if somebody agrees who has seen what changes, and which jobs go by it.
 * @param {string} calendar
 * @param {Stored} stored
 * @param {string} text
 * @param {() => Promise<unknown>} meet called if somebody else was faster
 */
export async function saveCalendar(calendar, stored, text, meet) {
  const version = stored.etag ? { "If-Match": stored.etag } : { "If-None-Match": /** @type {"*"} */ ("*") };
  const put = (/** @type {boolean} */ dryRun) => ask("PUT /namespaces/{namespace}/calendars/{calendar}", { namespace, calendar, dryRun, ...version }, { document: text });
  let isLost = false;
  const would = await put(true).catch(async (e) => {
    if (!isConflict(e)) throw e;
    await meet();
  });
  if (!would) return false;
  const { jobs, idle } = would;
  const was = await askAbout({
    title: w("calendar.saveTitle", { calendar }), does: stored.etag ? w("ui.save") : w("calendar.create"), quiet: true,
    text: [
      idle.length ? note("warn", h("p", null, w("calendar.idle", { n: idle.length })), jobList(idle)) : null,
      jobs.length ? h("p", null, w("calendar.goesFor", { n: jobs.length })) : h("p", null, w("calendar.goesForNone")),
      jobs.length ? jobList(jobs) : null,
      diffView(stored.detail.document, text),
    ],
    run: async () => {
      try {
        await put(false);
      } catch (e) {
        if (!isConflict(e)) throw e;
        isLost = true;
        await meet();
      }
    },
  });
  return was && !isLost;
}

/** The pages of jobs: at most 50. @param {string[]} jobs */
export function jobList(jobs) {
  return h("ul", { class: "joblist" }, jobs.slice(0, 50).map((job) => h("li", { key: job }, h("a", { href: inNamespace(["jobs", job]) }, job))),
    jobs.length > 50 ? h("li", null, w("calendar.moreJobs", { n: jobs.length - 50 })) : null);
}

/**
 * Removes a calendar if somebody agrees.
 * @param {string} calendar
 * @param {Stored} stored
 */
export function removeCalendar(calendar, stored) {
  const { jobs } = stored.detail;
  let force = false;
  return askAbout({
    title: w("calendar.removeTitle", { calendar }), does: w("ui.remove"), danger: true, quiet: true,
    text: jobs.length ? [h("p", null, w("calendar.isUsed", { n: jobs.length })), jobList(jobs)] : w("calendar.isUnused"),
    form: jobs.length ? (again) => check({
      id: "force", label: w("calendar.force"), value: force, change: (v) => {
        force = v;
        again();
      },
    }) : undefined,
    valid: () => !jobs.length || force,
    run: async () => {
      try {
        await ask("DELETE /namespaces/{namespace}/calendars/{calendar}", { namespace, calendar, force, "If-Match": stored.etag });
      } catch (e) {
        if (e instanceof Problem && e.status === 404) return; // somebody else has removed it
        throw e;
      }
    },
  });
}
