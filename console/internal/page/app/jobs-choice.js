// Which jobs are chosen, by boxes, ranges, or all that are listed; and what may be done with them.
import { h } from "./dom.js";
import { changeJobs } from "./jobs-change.js";
import { may, mayAll } from "./rights.js";
import { button } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */

const isSteeringAll = mayAll("operator");
/** @param {string} name */
const steers = (name) => isSteeringAll || may("operator", name);

/**
 * The choice of a list. Only jobs that the user may steer can be chosen.
 * @param {() => JobInfo[]} listed
 * @param {() => void} again
 */
export function choiceOfJobs(listed, again) {
  /** @type {Set<string>} */
  const chosen = new Set();
  let anchor = "";

  /** @param {string} name @param {boolean} isOn */
  const set = (name, isOn) => (isOn && steers(name) ? chosen.add(name) : chosen.delete(name));

  /** All from the last one that was touched to this one. @param {string} name @param {boolean} isOn */
  const range = (name, isOn) => {
    const names = listed().map((job) => job.name);
    const [a, b] = [names.indexOf(anchor), names.indexOf(name)];
    if (a < 0) set(name, isOn);
    else for (const n of names.slice(Math.min(a, b), Math.max(a, b) + 1)) set(n, isOn);
    again();
  };

  /** The box of a job. @param {JobInfo} job */
  const box = (job) => {
    if (!steers(job.name)) return null;
    return h("label", { class: "box" }, h("input", {
      type: "checkbox", checked: chosen.has(job.name), "aria-label": w("jobs.choose", { job: job.name }),
      onclick: (/** @type {MouseEvent} */ e) => {
        const isOn = /** @type {HTMLInputElement} */ (e.target).checked;
        if (e.shiftKey) return range(job.name, isOn);
        set(job.name, isOn);
        anchor = job.name;
        again();
      },
    }));
  };

  /** The box of all that are listed. */
  const boxOfAll = () => {
    const some = chosen.size ? listed() : [];
    const n = some.reduce((sum, job) => sum + (chosen.has(job.name) ? 1 : 0), 0);
    return h("label", { class: "box" }, h("input", {
      type: "checkbox", checked: n > 0 && n === some.length, indeterminate: n > 0 && n < some.length, "aria-label": w("jobs.chooseAll"),
      onclick: () => {
        for (const job of listed()) set(job.name, n === 0);
        again();
      },
    }));
  };

  /** @param {import("./jobs-batch.js").JobAction} action */
  const act = async (action) => {
    if (await changeJobs(action, [...chosen])) chosen.clear();
    again();
  };

  /** What may be done with the chosen ones. */
  const bar = () => {
    if (!chosen.size) return null;
    const all = isSteeringAll ? listed() : listed().filter((job) => steers(job.name));
    const isMore = all.some((job) => !chosen.has(job.name));
    return h("div", { class: "choicebar", role: "region", "aria-label": w("jobs.withChosen"), key: "bar" },
      h("span", { role: "status" }, w("jobs.chosen", { n: chosen.size })),
      isMore ? button(w("jobs.chooseHits", { n: all.length }), () => {
        for (const job of all) chosen.add(job.name);
        again();
      }, { kind: "quiet", key: "hits" }) : null,
      h("span", { class: "space" }),
      button(w("jobs.trigger"), () => act("trigger")), button(w("jobs.pause"), () => act("pause")), button(w("jobs.resume"), () => act("resume")),
      button(w("jobs.disable"), () => act("disable"), { kind: "danger" }), button(w("jobs.enable"), () => act("enable")),
      button(w("jobs.chooseNone"), () => {
        chosen.clear();
        again();
      }, { kind: "quiet" }));
  };

  return {
    box, boxOfAll, bar,
    /** @param {string} name */
    has: (name) => chosen.has(name),
    /** Chooses from one job to another. @param {JobInfo} from @param {JobInfo} to */
    extend: (from, to) => {
      if (!chosen.has(anchor)) anchor = from.name;
      range(to.name, true);
    },
    /** Forgets those that are gone. @param {Map<string, JobInfo>} jobs */
    keep: (jobs) => {
      for (const name of chosen) if (!jobs.has(name)) chosen.delete(name);
    },
  };
}
