// The question before a change of jobs, how far it has come, and what has failed.
import { dialog, ends } from "./dialog.js";
import { h } from "./dom.js";
import { inNamespace } from "./facts.js";
import { area, check, field } from "./form.js";
import { tell } from "./frame.js";
import { batch, became } from "./jobs-batch.js";
import { button } from "./ui.js";
import { has, term, w } from "./words.js";

/** @typedef {import("./jobs-batch.js").JobAction} JobAction */
/** @typedef {import("./jobs-batch.js").JobOutcome} JobOutcome */
/**
 * @typedef {{
 *   wish: import("./jobs-batch.js").Wish, jobs: string[], phase: "looking" | "ready" | "doing" | "done", left: boolean,
 *   would: JobOutcome[], did: Map<string, JobOutcome>,
 * }} Asked
 * did has those of the newest try of each job; left is whether the dialog was left.
 */

/** @type {Record<JobAction, {does: () => string, title: (what: string) => string, about: () => string}>} */
const texts = {
  trigger: { does: () => w("jobs.trigger"), title: (what) => w("jobs.titleTrigger", { what }), about: () => w("jobs.aboutTrigger") },
  pause: { does: () => w("jobs.pause"), title: (what) => w("jobs.titlePause", { what }), about: () => w("jobs.aboutPause") },
  resume: { does: () => w("jobs.resume"), title: (what) => w("jobs.titleResume", { what }), about: () => w("jobs.aboutResume") },
  disable: { does: () => w("jobs.disable"), title: (what) => w("jobs.titleDisable", { what }), about: () => w("jobs.aboutDisable") },
  enable: { does: () => w("jobs.enable"), title: (what) => w("jobs.titleEnable", { what }), about: () => w("jobs.aboutEnable") },
};

/** How many jobs with errors are shown. */
const bound = 50;

/**
 * Asks about a change of jobs, and makes it. It resolves to whether all are as wanted.
 * @param {JobAction} action
 * @param {string[]} jobs
 */
export async function changeJobs(action, jobs) {
  /** @type {Asked} */
  const asked = { wish: { action, why: "", makeUp: false, parameter: "" }, jobs, phase: "looking", left: false, would: [], did: new Map() };
  const go = batch(asked.wish);
  const title = texts[action].title(jobs.length === 1 ? jobs[0] : w("jobs.nJobs", { n: jobs.length }));
  const isOver = () => asked.left;

  /** @param {() => void} again */
  const look = async (again) => {
    await go(jobs, true, (some) => {
      asked.would.push(...some);
      again();
    }, () => asked.left || asked.phase !== "looking");
    if (asked.phase === "looking") asked.phase = "ready";
    again();
  };
  /** @param {string[]} names @param {() => void} again @param {() => void} close */
  const act = async (names, again, close) => {
    asked.phase = "doing";
    for (const name of names) asked.did.delete(name);
    again();
    await go(names, false, (some) => {
      for (const o of some) asked.did.set(o.job, o);
      again();
    }, isOver);
    asked.phase = "done";
    const isGood = !notDone(asked).length;
    if (isGood || asked.left) tell(isGood ? "good" : "bad", h("p", null, h("strong", null, title.replace(/[?？]$/, "")), " ", summary([...asked.did.values()])));
    if (isGood) close();
    else again();
  };

  let begun = false;
  await dialog(title, (close, again) => {
    if (!begun) {
      begun = true;
      void look(again);
    }
    return view(asked, close, (names) => act(names, again, close));
  });
  asked.left = true;
  return asked.phase === "done" && !notDone(asked).length;
}

/** The jobs that are not as wanted. @param {Asked} asked */
function notDone(asked) {
  return asked.jobs.filter((name) => {
    const o = asked.did.get(name);
    return !o || became(o) === "failed";
  });
}

/** @param {Asked} asked @param {() => void} close @param {(names: string[]) => Promise<void>} act */
function view(asked, close, act) {
  const { wish, phase } = asked;
  const isDanger = wish.action === "disable";
  const whole = asked.jobs.length;
  const before = phase === "looking" || phase === "ready";
  const outcomes = before ? asked.would : [...asked.did.values()];
  return h("form", {
    class: "change",
    onsubmit: (/** @type {Event} */ e) => {
      e.preventDefault();
      if (before) void act(asked.jobs);
    },
  },
  h("p", null, texts[wish.action].about()),
  before && wish.action === "pause" ? [
    field({ id: "why", label: w("actions.why"), hint: w("jobs.whyHint"), value: wish.why, change: (v) => (wish.why = v), autofocus: true }),
    check({ id: "make-up", label: w("jobs.makeUp"), hint: w("jobs.makeUpHint"), value: wish.makeUp, change: (v) => (wish.makeUp = v) }),
  ] : null,
  before && wish.action === "trigger" ? area({ id: "parameter", label: w("jobs.parameter"), hint: w("jobs.parameterHint"), rows: 2, code: true, value: wish.parameter, change: (v) => (wish.parameter = v) }) : null,
  h("div", { class: "preview", role: "status" },
    phase === "looking" || phase === "doing" ? h("p", null, phase === "doing" ? w("jobs.doing") : w("jobs.looking"), " ", h("progress", { max: whole, value: outcomes.length, "aria-label": w("jobs.progress") })) : null,
    phase === "ready" ? [h("p", null, w("jobs.would"), " ", summary(outcomes, true)), wish.action === "resume" ? pauses(outcomes) : null] : null,
    phase === "done" ? h("p", null, h("strong", null, summary(outcomes)), outcomes.length < whole ? " " + w("jobs.untried", { n: whole - outcomes.length }) : "") : null,
    failures(outcomes)),
  phase === "done"
    ? h("div", { class: "ends" }, button(w("ui.close"), close), button(w("jobs.tryAgain"), () => act(notDone(asked)), { kind: "first" }))
    : ends(close, h("button", { type: "submit", class: isDanger ? "danger" : "first", "aria-disabled": phase === "doing" ? "true" : null, autofocus: wish.action !== "pause" && !isDanger }, texts[wish.action].does())));
}

/** How many were or would be changed, were so already, and cannot be changed. @param {JobOutcome[]} outcomes @param {boolean} [isBefore] */
function summary(outcomes, isBefore) {
  const n = { changed: 0, already: 0, paused: 0, failed: 0 };
  for (const o of outcomes) n[became(o)]++;
  return [
    n.changed || isBefore || !(n.already || n.paused || n.failed) ? (isBefore ? w("jobs.nJobs", { n: n.changed }) : w("jobs.nChanged", { n: n.changed })) : "",
    n.already ? w("jobs.nAlready", { n: n.already }) : "",
    n.paused ? w("jobs.nPaused", { n: n.paused }) : "",
    n.failed ? w("jobs.nFailed", { n: n.failed }) : "",
  ].filter(Boolean).join(" · ");
}

/** Whose pauses end. @param {JobOutcome[]} outcomes */
function pauses(outcomes) {
  const held = outcomes.filter((o) => o.changes?.length);
  return h("ul", { class: "failures" },
    held.slice(0, bound).map((o) => h("li", { key: o.job }, o.job, ": ", o.changes?.map((c) => c.before).join(" "))),
    held.length > bound ? h("li", { key: " more" }, w("actions.more", { n: held.length - bound })) : null);
}

/** Which cannot be changed, and why. @param {JobOutcome[]} outcomes */
function failures(outcomes) {
  const failed = outcomes.filter((o) => became(o) === "failed");
  if (!failed.length) return null;
  return h("ul", { class: "failures" },
    failed.slice(0, bound).map((o) => h("li", { key: o.job },
      h("a", { href: inNamespace(["jobs", o.job]) }, o.job), " ", h("span", { class: "soft" }, (o.error && has("problem", o.error.code) ? term("problem", o.error.code) + " " : "") + o.error?.detail))),
    failed.length > bound ? h("li", { key: " more" }, w("actions.more", { n: failed.length - bound })) : null);
}
