// What the list shows of a job.
import { h } from "./dom.js";
import { failures } from "./execution.js";
import { facts, inNamespace, namespace } from "./facts.js";
import { blindSince } from "./hosttime.js";
import { changeJobs } from "./jobs-change.js";
import { flags } from "./jobs-list.js";
import { may } from "./rights.js";
import { ago, isToday, when, whenFull } from "./time.js";
import { badge, menu, state } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */
/** @typedef {import("./dom.js").View} View */

const hasHistory = facts.databases?.[namespace] ?? false;

/** What a job is called, and what it is for. @param {JobInfo} job */
export function name(job) {
  return [
    h("a", { href: inNamespace(["jobs", job.name]), class: "name", title: job.name }, job.name),
    h("span", { class: "about", title: job.description }, job.description || job.implementation),
  ];
}

/** How it is: OK only if there is nothing else to say. @param {JobInfo} job */
export function status(job) {
  const faults = job.faults ?? 0;
  const notes = [
    job.jvmOnly ? badge("off", w("jobs.jvmOnly"), w("jobs.jvmOnlyText")) : null,
    job.configError ? badge("bad", w("jobs.badConfig"), job.configError) : null,
    flags.faulty(job) && !job.configError ? badge("bad", w("jobs.faultsOf", { n: faults }), job.fault) : null,
    job.failing ? badge("bad", w("jobs.failingOf", { n: job.failing })) : null,
    job.begunLate ? badge("warn", w("jobs.late"), w("jobs.lateText")) : null,
    job.paused ? badge("off", w("jobs.paused"), [job.paused.by, job.paused.why].filter(Boolean).join(": ")) : null,
    job.expired ? badge("off", w("jobs.expired")) : null,
  ].filter(Boolean);
  return [job.status === "OK" && (notes.length || !job.healthy) ? null : state("status", job.status), ...notes];
}

/** When it runs. @param {JobInfo} job */
export function schedule(job) {
  if (!job.cron) return h("span", { class: "soft" }, w("jobs.oneOff"));
  return [
    h("code", { title: job.cron }, job.cron),
    h("span", { class: "about" }, [job.moreCrons ? w("jobs.moreCrons", { n: job.moreCrons }) : "", job.timeZone].filter(Boolean).join(" · ")),
  ];
}

/** @param {JobInfo} job */
export function next(job) {
  if (job.nextError) return badge("bad", w("jobs.noNext"), job.nextError);
  if (!job.next) return h("span", { class: "soft" }, "–");
  // The time of today, or how long it is until another day.
  const [first, second] = isToday(job.next) || blindSince() !== undefined ? [when(job.next), ago(job.next)] : [ago(job.next), when(job.next)];
  const isTwice = first === second; // which a blind page does not count down
  return [h("time", { datetime: job.next, title: whenFull(job.next) }, first), isTwice ? null : h("span", { class: "about", title: whenFull(job.next) }, second)];
}

/** The execution that has ended last. @param {JobInfo} job */
export function last(job) {
  if (!job.last) return h("span", { class: "soft" }, "–");
  const ended = job.last.ended;
  return [state("outcome", job.last.outcome), h("span", { class: "about", title: job.last.error || whenFull(ended) }, job.last.error || ago(ended))];
}

/** How many of its items run. @param {JobInfo} job */
export function running(job) {
  const text = `${number(job.running)}/${number(job.broadcast ? job.instances : job.shardingTotalCount)}`;
  return job.running ? h("strong", null, text) : text;
}

/** How many items failed with their last execution. @param {JobInfo} job */
export function failing(job) {
  if (!job.failing) return h("span", { class: "soft" }, "0");
  const href = hasHistory ? inNamespace(["history"], { job: job.name, outcomes: failures.join() }) : inNamespace(["jobs", job.name]);
  return h("a", { href }, number(job.failing));
}

/** What may be done with it. @param {JobInfo} job */
export function actions(job) {
  const isOperator = may("operator", job.name);
  const go = (/** @type {string[]} */ parts, /** @type {Record<string, string>} */ query = {}) => location.assign(inNamespace(parts, query));
  const change = (/** @type {import("./jobs-change.js").JobAction} */ action) => changeJobs(action, [job.name]);
  return menu(w("ui.menu"), [
    isOperator && { text: w("jobs.trigger"), act: () => change("trigger") },
    isOperator && !job.paused && { text: w("jobs.pause"), act: () => change("pause") },
    isOperator && job.paused && { text: w("jobs.resume"), act: () => change("resume") },
    isOperator && job.status === "DISABLED" && { text: w("jobs.enable"), act: () => change("enable") },
    isOperator && job.status !== "DISABLED" && { text: w("jobs.disable"), act: () => change("disable"), danger: true },
    { text: w("jobs.settings"), act: () => go(["jobs", job.name, "settings"]) },
    hasHistory && { text: w("jobs.history"), act: () => go(["history"], { job: job.name }) },
    may("admin", job.name) && { text: w("jobs.copyJob"), act: () => go(["create"], { from: job.name }) },
  ], job.name);
}
