// The facts of a job: how it stands, when it runs, and what its configuration says.
import { h } from "./dom.js";
import { isFailure } from "./execution.js";
import { inNamespace, job, manual } from "./facts.js";
import { ticksToCome, tookOf } from "./job-state.js";
import { lasting, whenFull, whenIn } from "./time.js";
import { badge, instanceName, note, pairs, section, since, state as word } from "./ui.js";
import { number, term, w } from "./words.js";

/** @typedef {import("./job-state.js").State} State */
/** @typedef {import("./dom.js").View} View */

/** How the job is, in words with signs. @param {State} state */
export function jobBadges(state) {
  const info = state.view.info;
  return h("div", { class: "badges" },
    word("status", info.status),
    info.paused ? badge("warn", w("job.paused")) : null,
    info.expired ? badge("off", w("job.expired"), w("job.expiredText")) : null,
    info.failing ? badge("bad", w("job.failingItems", { n: info.failing })) : null,
    info.faults ? badge("bad", w("job.faultCount", { n: info.faults })) : null,
    info.jvmOnly ? badge("off", w("jobs.jvmOnly"), w("jobs.jvmOnlyText")) : null,
    info.configError ? badge("bad", w("job.configError")) : null,
    info.disabledItems ? badge("off", w("job.disabledItems", { n: info.disabledItems })) : null,
    info.disabledServers ? badge("off", w("job.disabledServers", { n: info.disabledServers })) : null,
    state.view.asked || state.view.dealing ? badge("busy", w("job.dealing")) : null,
    info.broadcast ? badge("off", w("job.broadcast"), w("job.broadcastText")) : null);
}

/** What somebody who comes has to know at once. @param {State} state */
export function jobNotes(state) {
  const info = state.view.info;
  const p = info.paused;
  return [
    state.isGone ? note("bad", h("p", null, h("strong", null, w("job.gone")))) : null,
    info.configError ? note("bad", h("p", null, h("strong", null, w("job.configErrorText"))), h("p", { class: "detail" }, info.configError)) : null,
    p ? note("warn", h("p", null, h("strong", null, w("job.pausedBy", { by: p.by ?? "–", at: whenFull(p.since) })), " ", p.makeUp ? w("job.pausedMakeUp") : w("job.pausedPass")), p.why ? h("p", { class: "detail" }, p.why) : null) : null,
    info.nextError ? note("bad", h("p", null, w("job.nextError")), h("p", { class: "detail" }, info.nextError)) : null,
  ];
}

/** The figures that people look for first. @param {State} state */
export function figures(state) {
  const info = state.view.info;
  const next = ticksToCome(state.view)[0];
  const last = info.last;
  const took = tookOf(last);
  /** @param {string} name @param {View} value @param {View} [more] */
  const figure = (name, value, more) => h("div", { class: "job-figure" }, h("dt", null, name), h("dd", { class: "value num" }, value), more ? h("dd", { class: "soft" }, more) : null);
  return h("dl", { class: "block job-figures" },
    figure(w("job.next"), info.paused ? w("job.paused") : next ? since(next) : "–", next ? whenIn(next, info.timeZone) : info.cron === undefined ? w("job.oneOff") : w("job.noTick")),
    figure(w("job.running"), `${number(info.running)} / ${number(info.broadcast ? state.view.items.length : info.shardingTotalCount)}`, w("job.ofItems")),
    figure(w("job.lastRun"), last ? word("outcome", last.outcome) : "–", last ? [since(last.ended), took !== undefined ? w("job.took", { time: lasting(took) }) : null] : w("job.never")),
    figure(w("job.failing"), number(info.failing ?? 0), isFailure(last?.outcome) && last?.error ? h("span", { class: "clamp", title: last.error }, last.error) : w("job.failingHint")),
    figure(w("job.instances"), number(info.instances), info.leader ? [w("job.leader"), " ", instanceName(info.leader)] : w("job.noLeader")));
}

/** When it runs. @param {State} state */
export function scheduleSection(state) {
  const info = state.view.info;
  const calendars = (state.settings?.config?.props?.["schedule.calendars"] ?? "").split(",").map((n) => n.trim()).filter(Boolean);
  const ticks = ticksToCome(state.view);
  return section(w("job.schedule"), { class: "job-schedule" }, pairs([
    [w("job.expression"), info.cron === undefined ? w("job.oneOff") : [h("code", null, info.cron), state.cron ? h("div", null, state.cron.explanation) : null, info.moreCrons ? h("div", { class: "soft" }, w("job.moreCrons", { n: info.moreCrons })) : null]],
    [w("job.zone"), info.timeZone ?? w("job.zoneOfProcess")],
    [w("job.inForce"), state.view.since ? whenFull(state.view.since) : null],
    calendars.length > 0 && [w("job.calendars"), calendars.map((name, i) => [i ? ", " : "", h("a", { href: inNamespace(["calendars", name]) }, name)])],
    ticks.length > 0 && [w("job.nextTicks"), h("ol", { class: "plain num" }, ticks.map((t) => h("li", null, whenIn(t, info.timeZone))))],
  ]));
}

/** What the configuration says beside, in short. @param {State} state */
export function factsSection(state) {
  const info = state.view.info;
  const c = state.settings?.config;
  const props = c?.props ?? {};
  const yes = (/** @type {boolean | undefined} */ v) => (c ? (v ? w("ui.yes") : w("ui.no")) : null);
  return section(w("job.facts"), { tools: h("a", { href: inNamespace(["jobs", job, "settings"]) }, w("job.toSettings")) },
    pairs([
      [w("job.implementation"), info.implementation ? h("code", null, info.implementation) : null],
      [w("job.count"), info.broadcast ? w("job.broadcastText") : number(info.shardingTotalCount)],
      [w("job.strategy"), c ? h("code", null, c.jobShardingStrategyType || "AVG_ALLOCATION") : null],
      [w("job.failover"), yes(c?.failover)],
      [w("job.misfireKey"), yes(c?.misfire)],
      [w("job.monitor"), yes(c?.monitorExecution)],
      [w("job.jobParameter"), c?.jobParameter ? h("span", { class: "clamp", title: c.jobParameter }, c.jobParameter) : null],
      [w("job.label"), info.label],
      [w("job.timeout"), props["execution.timeout.seconds"] ? lasting(Number(props["execution.timeout.seconds"])) : null],
      [w("job.retries"), props["retry.attempts"]],
      [w("job.overlap"), term("settingvalue", props.overlap)],
      [w("job.version"), number(info.version)],
    ]));
}

/** Faults that instances show. @param {State} state */
export function faultsSection(state) {
  const faults = state.view.faults ?? [];
  if (!faults.length) return null;
  return section(w("job.faults"), { class: "faults" }, h("ul", { class: "plain job-rows" }, faults.slice(0, 20).map((f) => h("li", { key: f.instance + f.kind + f.cause },
    h("div", { class: "badges" }, h("a", manual("reference/faults", f.kind), badge("bad", term("fault", f.kind))), instanceName(f.instance), h("span", { class: "soft" }, since(f.since))), h("p", { class: "detail" }, f.cause)))),
  faults.length > 20 || state.view.more?.faults ? h("p", { class: "hint" }, w("job.moreFaults", { n: Math.max(0, faults.length - 20) + (state.view.more?.faults ?? 0) })) : null);
}

/** Nodes that strangers have left. @param {State} state */
export function debrisSection(state) {
  const paths = state.view.debris ?? [];
  if (!paths.length) return null;
  return section(w("job.debris"), {}, h("p", { class: "hint" }, w("job.debrisText")), h("ul", { class: "plain" }, paths.map((p) => h("li", { key: p }, h("code", null, p)))));
}

/** That there is no history, and how to get one. */
export function noHistory() {
  return note("info", h("p", null, w("job.noHistory")));
}
