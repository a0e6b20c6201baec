// One job: what it does now, and all that can be done with it.
import { all, ask, Problem } from "../api.js";
import { h } from "../dom.js";
import { facts, inNamespace, job, namespace } from "../facts.js";
import { findings, withEffects } from "../findings.js";
import { page, start, tools } from "../frame.js";
import { jobTools, readmit } from "../job-actions.js";
import { debrisSection, factsSection, faultsSection, figures, jobBadges, jobNotes, noHistory, scheduleSection } from "../job-facts.js";
import { itemsSection, readLook } from "../job-items.js";
import { instancesSection, serversSection } from "../job-members.js";
import { requestsSection } from "../job-requests.js";
import { overdueOf, take } from "../job-state.js";
import { jobHead, jobTabs } from "../job-tabs.js";
import { listen } from "../live.js";
import { paced, poll } from "../poll.js";
import { onWayBack } from "../query.js";
import { may } from "../rights.js";
import { whenFull } from "../time.js";
import { mountTimeline } from "../timeline.js";
import { button, empty, note, section } from "../ui.js";
import { w } from "../words.js";

/** @typedef {import("../types/api").JobView} JobView */
/** @typedef {import("../job-state.js").State} State */

const here = { namespace, job };

jobHead();
void start(load, ({ view, was }) => (view ? begin(view) : gone(was)));

/** The job, or what is known of its removal. @returns {Promise<{view?: JobView, was?: import("../types/api").RemovedJob}>} */
async function load() {
  try {
    return { view: await ask("GET /namespaces/{namespace}/jobs/{job}", here) };
  } catch (e) {
    if (!(e instanceof Problem) || e.status !== 404) throw e;
    const { rows } = await all("GET /namespaces/{namespace}/removed", { namespace });
    return { was: rows.find((r) => r.name === job) };
  }
}

/** @param {JobView} view */
function begin(view) {
  /** @type {State} */
  const state = { view, isGone: false, begun: new Map(), due: new Map(), overdue: new Map() };
  /** @type {import("../types/api").ItemInfo[]} */
  let others = [];
  const redraw = () => again();
  const hasHistory = facts.databases?.[namespace];
  /** @type {ReturnType<typeof mountTimeline> | undefined} */
  let timeline;
  // It takes its colours and its width from the page, so it has to be in it.
  const mount = (/** @type {HTMLElement} */ el) => queueMicrotask(() => (timeline = mountTimeline(el, { job, view: state.view, overdue: (i) => overdueOf(state, i) })));
  const loadOthers = async () => {
    others = (await all("GET /namespaces/{namespace}/jobs/{job}/items", here, 100000)).rows.slice(1000);
    again();
  };
  const found = findings({ job, again: redraw });
  const examine = async () => {
    const report = await found.load();
    state.overdue = new Map(withEffects(report.findings).flatMap((f) => (f.kind === "item-overdue" && f.since ? (f.items ?? []).map((i) => /** @type {const} */ ([i, f.since ?? ""])) : [])));
  };
  // Findings tell of faults what to do about them, but some seconds later than the stream.
  const wrong = () => {
    const all = found.report()?.findings ?? [];
    return [
      withEffects(all).some((f) => f.kind === "fault") ? null : faultsSection(state),
      all.length ? section(w("job.findings"), {}, found.view()) : null,
    ];
  };
  take(state, view);
  readLook();
  const again = page(() => {
    tools(state.isGone ? null : jobTools(state.view));
    const info = state.view.info;
    return [
      jobTabs(),
      h("div", { class: "job-about" }, jobBadges(state), info.description ? h("p", { class: "soft" }, info.description) : null),
      jobNotes(state),
      figures(state),
      wrong(),
      hasHistory ? section(w("job.timeline"), { class: "job-timeline" }, h("div", { made: mount })) : noHistory(),
      requestsSection(state, redraw),
      itemsSection(state, { again: redraw, others, loadOthers }),
      h("div", { class: "job-halves" }, instancesSection(state, redraw), serversSection(state, redraw)),
      h("div", { class: "job-halves" }, scheduleSection(state), factsSection(state)),
      debrisSection(state),
    ];
  });
  onWayBack(() => {
    readLook();
    again();
  });
  const settings = loadSettings(state, again);
  void settings(view);
  const changed = paced(() => {
    timeline?.update(state.view);
    void settings(state.view);
    void askBegun(state, again);
    again();
  }, () => (state.view.items.length > 200 ? 1000 : 0));
  listen("/namespaces/{namespace}/jobs/{job}/watch", here, {
    job: (now) => {
      take(state, now);
      changed();
    },
    removed: () => {
      state.isGone = true;
      again();
    },
  });
  examine().catch((e) => console.info("the job was not examined:", e));
  poll(examine, 30);
  setInterval(() => document.hidden || again(), 1000); // how long ago, how late, and until when
}

/**
 * Loads the configuration, and what its expression means, whenever there is another version.
 * @param {State} state
 * @param {() => void} again
 */
function loadSettings(state, again) {
  let version = 0;
  return async (/** @type {JobView} */ view) => {
    const { version: now, cron, timeZone } = view.info;
    if (now === version) return;
    version = now;
    try {
      state.settings = await ask("GET /namespaces/{namespace}/jobs/{job}/settings", here);
      state.cron = cron ? await ask("GET /cron", { expression: cron, timeZone, language: facts.language }) : undefined;
    } catch (e) {
      console.info("the page goes without the configuration:", e);
    }
    again();
  };
}

let asked = 0;

/**
 * The stream does not tell when executions have begun: the history does.
 * @param {State} state
 * @param {() => void} again
 */
async function askBegun(state, again) {
  const isUnknown = state.view.items.some((i) => i.run?.taskId && !state.begun.has(i.run.taskId));
  if (!isUnknown || !facts.databases?.[namespace] || Date.now() - asked < 5000) return;
  asked = Date.now();
  try {
    const view = await ask("GET /namespaces/{namespace}/jobs/{job}", here);
    for (const i of view.items) if (i.run?.taskId && i.run.begun) state.begun.set(i.run.taskId, i.run.begun);
    again();
  } catch (e) {
    console.info("when executions have begun is not known:", e);
  }
}

/** There is no such job: whether it was removed, and what can be done. @param {import("../types/api").RemovedJob} [was] */
function gone(was) {
  let isAllowed = false;
  const allow = async () => {
    isAllowed = await readmit();
    again();
  };
  const again = page(() => [
    was ? note("warn", h("p", null, h("strong", null, w("job.wasRemoved", { by: was.by ?? "–", at: whenFull(was.at) }))), was.why ? h("p", { class: "detail" }, was.why) : null) : null,
    empty(isAllowed ? w("job.readmitted") : was ? w("job.removedNext") : w("job.unknown", { job }),
      was && !isAllowed && may("admin", job) ? button(w("job.readmit"), allow) : null, " ",
      h("a", { class: "button", href: inNamespace(["jobs"]) }, w("job.toJobs"))),
  ]);
}
