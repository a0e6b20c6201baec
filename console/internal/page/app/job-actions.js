// Actions on the whole job, its servers and its instances.
import { askAbout, run } from "./actions.js";
import { answer, ask } from "./api.js";
import { h } from "./dom.js";
import { inNamespace, job, namespace } from "./facts.js";
import { check } from "./form.js";
import { backfill, kill, retry, trigger } from "./job-runs.js";
import { may, maySome } from "./rights.js";
import { button, menu } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").JobView} JobView */

const here = { namespace, job };

/**
 * The actions on the job that the user may do: those of every day as buttons, the others in a menu.
 * @param {JobView} view
 */
export function jobTools(view) {
  const mayCreate = maySome("admin");
  const info = view.info;
  const copy = mayCreate && { text: w("job.duplicate"), act: () => location.assign(inNamespace(["create"], { from: job })) };
  if (!may("operator", job)) return [menu(w("ui.menu"), [copy])];
  const running = view.items.filter((i) => i.run).map((i) => i.item);
  return [
    button(w("job.trigger"), () => trigger(), { kind: "first", key: "trigger" }),
    info.paused ? button(w("job.resume"), () => resume(view), { key: "pause" }) : button(w("job.pause"), () => pause(view), { key: "pause" }),
    menu(w("ui.menu"), [
      { text: w("job.retry"), act: () => retry() },
      info.cron !== undefined && { text: w("job.backfill"), act: () => backfill(view) },
      running.length > 0 && { text: w("job.kill"), act: () => kill(running), danger: true },
      { text: w("job.reshard"), act: () => reshard() },
      (info.waiting ?? 0) > 0 && { text: w("job.clearFailovers"), act: clearFailovers },
      view.items.some((i) => i.misfire) && { text: w("job.clearMisfires"), act: clearMisfires },
      (info.jvm ?? 0) > 0 && { text: w("job.clearStale"), act: () => clearStale() },
      (info.disabledServers ?? 0) > 0 && { text: w("job.enable"), act: () => setServers(view.servers.map((s) => s.server), true, true) },
      info.servers > (info.disabledServers ?? 0) && { text: w("job.disable"), act: () => setServers([], false, true), danger: true },
      copy,
      may("admin", job) && { text: w("job.remove"), act: remove, danger: true },
    ]),
  ];
}

/** @param {JobView} view */
function pause(view) {
  const f = { makeUp: false, jvm: false };
  return askAbout({
    title: w("job.pauseAsk", { job }), does: w("job.pause"), why: true,
    text: h("p", { class: "hint" }, w("job.pauseText")),
    form: (again) => [
      check({
        id: "pause-makeUp", label: w("job.makeUp"), hint: w("job.makeUpHint"), value: f.makeUp, change: (v) => {
          f.makeUp = v;
          again();
        },
      }),
      (view.info.jvm ?? 0) > 0 && check({
        id: "pause-jvm", label: w("job.disableJVM"), hint: w("job.disableJVMHint"), value: f.jvm, change: (v) => {
          f.jvm = v;
          again();
        },
      }),
    ],
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/pause", { ...here, dryRun: o.dryRun }, { why: o.why || undefined, makeUp: f.makeUp || undefined, disableJVM: f.jvm || undefined }),
  });
}

/** Ends the pause: what becomes of its ticks can be said now, too. @param {JobView} view */
function resume(view) {
  let makeUp = view.info.paused?.makeUp ?? false;
  return askAbout({
    title: w("job.resumeAsk", { job }), does: w("job.resume"),
    form: (again) => check({
      id: "resume-makeUp", label: w("job.makeUpNow"), hint: w("job.makeUpHint"), value: makeUp, change: (v) => {
        makeUp = v;
        again();
      },
    }),
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/resume", { ...here, dryRun: o.dryRun }, { makeUp }),
  });
}

/**
 * Asks about a change that has nothing to fill in.
 * @param {"reshard" | "readmit" | "clear/failovers" | "clear/misfires" | "clear/stale"} verb
 * @param {{title: string, text: string, does: string, danger?: boolean}} words
 * @param {string} [of] the job; default that of the page
 */
function plainly(verb, words, of = job) {
  const operation = /** @type {const} */ (`POST /namespaces/{namespace}/jobs/{job}/${verb}`);
  return askAbout({ ...words, text: h("p", null, words.text), preview: true, run: (o) => ask(operation, { namespace, job: of, dryRun: o.dryRun }, {}) });
}

/** @param {string} [of] */
export const reshard = (of = job) => plainly("reshard", { title: w("job.reshardAsk", { job: of }), text: w("job.reshardText"), does: w("job.reshard") }, of);
const clearFailovers = () => plainly("clear/failovers", { title: w("job.clearFailoversAsk"), text: w("job.clearFailoversText"), does: w("job.clearFailovers"), danger: true });
const clearMisfires = () => plainly("clear/misfires", { title: w("job.clearMisfiresAsk"), text: w("job.clearMisfiresText"), does: w("job.clearMisfires"), danger: true });
/** @param {string} [of] */
export const clearStale = (of = job) => plainly("clear/stale", { title: w("job.clearStaleAsk"), text: w("job.clearStaleText"), does: w("job.clearStale"), danger: true }, of);

/** Lets a removed job be set up again. */
export const readmit = () => plainly("readmit", { title: w("job.readmitAsk", { job }), text: w("job.readmitText"), does: w("job.readmit") });

function remove() {
  let etag = "";
  return askAbout({
    title: w("job.removeAsk", { job }), text: h("p", null, w("job.removeText")), does: w("job.remove"), danger: true, why: true, preview: true,
    run: async (o) => {
      // Only what was shown is removed: not the job as somebody else has changed it meanwhile.
      etag ||= (await answer("GET /namespaces/{namespace}/jobs/{job}/settings", here)).etag;
      return ask("DELETE /namespaces/{namespace}/jobs/{job}", { ...here, dryRun: o.dryRun, "If-Match": etag, why: o.why });
    },
  });
}

/**
 * Enables servers at once, and asks before it disables some.
 * @param {string[]} servers
 * @param {boolean} enable
 * @param {boolean} [isAll] all that the job has
 */
export function setServers(servers, enable, isAll) {
  const body = isAll ? { all: true } : { servers };
  if (enable) {
    return run({ title: w("job.enable"), does: w("job.enable"), run: () => ask("POST /namespaces/{namespace}/jobs/{job}/servers/enable", here, body) });
  }
  return askAbout({
    title: isAll ? w("job.disableAsk", { job }) : w("job.disableServerAsk", { server: servers.join(", ") }), does: w("job.disable"), danger: true, preview: true,
    text: h("p", null, isAll ? w("job.disableText") : w("job.disableServerText")),
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/servers/disable", { ...here, dryRun: o.dryRun }, body),
  });
}

/** Shuts down what a server has, and forgets it. @param {string} server */
export function removeServer(server) {
  return askAbout({
    title: w("job.removeServerAsk", { server }), text: h("p", null, w("job.removeServerText")), does: w("ui.remove"), danger: true, preview: true,
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/servers/remove", { ...here, dryRun: o.dryRun }, { servers: [server] }),
  });
}

/** Forgets servers that have no instance. */
export function clearServers() {
  const f = { disabled: false };
  return askAbout({
    title: w("job.clearServersAsk"), does: w("job.clearServers"), danger: true, preview: true,
    form: (again) => check({
      id: "clear-disabled", label: w("job.clearDisabled"), value: f.disabled, change: (v) => {
        f.disabled = v;
        again();
      },
    }),
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/clear/servers", { ...here, dryRun: o.dryRun }, { disabled: f.disabled || undefined }),
  });
}

/** Has an instance leave the job. @param {string} instance */
export function shutDown(instance) {
  return askAbout({
    title: w("job.shutDownAsk"), text: [h("p", null, h("code", null, instance)), h("p", null, w("job.shutDownText"))], does: w("job.shutDown"), danger: true, preview: true, why: true,
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/shutdown", { ...here, dryRun: o.dryRun }, { instances: [instance], why: o.why || undefined }),
  });
}
