// What the page of a job knows, and what follows from it.
import { isFailure } from "./execution.js";
import { hostNow } from "./hosttime.js";

/** @typedef {import("./types/api").JobView} JobView */
/** @typedef {import("./types/api").ItemInfo} ItemInfo */
/**
 * @typedef {{
 *   view: JobView, isGone: boolean, settings?: import("./types/api").SettingsInfo, cron?: import("./types/api").CronInfo,
 *   begun: Map<string, string>, due: Map<number, {tick: string, seen: number}>, overdue: Map<number, string>,
 * }} State
 * begun is when executions that run have begun, by task id; due has the items that have not begun a tick that has passed while
 * the page looked on, and when it saw that; overdue since when items are late, as the findings tell.
 */

/**
 * Takes a new view. That a tick has passed is what the console says: the clock of the browser may be off.
 * @param {State} state
 * @param {JobView} view
 */
export function take(state, view) {
  const before = state.view.ticks?.[0];
  const next = view.ticks?.[0];
  if (state.view.info.version !== view.info.version || view.info.paused) state.due.clear();
  else addDue(state.due, view.items, before && next !== before && !(next && next < before) ? before : undefined);
  state.view = view;
  /** @type {Map<string, string>} */
  const begun = new Map();
  for (const { run } of view.items) {
    const at = run?.begun ?? state.begun.get(run?.taskId ?? "");
    if (run?.taskId && at) begun.set(run.taskId, at);
  }
  state.begun = begun;
}

/**
 * @param {State["due"]} due
 * @param {ItemInfo[]} items
 * @param {string | undefined} tick one that has passed
 */
function addDue(due, items, tick) {
  for (const i of items) {
    const d = due.get(i.item);
    if (d && !mayBegin(i, d.tick)) due.delete(i.item);
    if (tick && !due.has(i.item) && mayBegin(i, tick)) due.set(i.item, { tick, seen: Date.now() });
  }
}

/** Whether an item could begin a tick, and has not. @param {ItemInfo} i @param {string} tick */
function mayBegin(i, tick) {
  return !i.disabled && !i.run && !!i.instance && Date.parse(i.lastTick ?? "") < Date.parse(tick);
}

/** When what an item runs has begun; its tick if nothing tells. @param {State} state @param {ItemInfo} i */
export function begunOf(state, i) {
  return state.begun.get(i.run?.taskId ?? "") ?? i.run?.tick;
}

/**
 * How late an item is, in seconds: it should have begun and has not (overdue), or it has begun so long after its tick.
 * @param {State} state
 * @param {ItemInfo} i
 * @returns {{seconds: number, overdue?: boolean} | undefined}
 */
export function lateOf(state, i) {
  const since = state.overdue.get(i.item);
  if (!i.run && since && !((i.lastTick ?? "") > since)) return { seconds: (hostNow() - Date.parse(since)) / 1000, overdue: true };
  const due = state.due.get(i.item);
  if (due && Date.now() - due.seen > 2000) return { seconds: (Date.now() - due.seen) / 1000, overdue: true };
  if (i.run) return between(i.run.tick, state.begun.get(i.run.taskId ?? ""));
  if (i.last?.source === "RETRY" || i.last?.source === "BACKFILL") return undefined; // their ticks are of the past
  return between(i.last?.tick, i.last?.begun);
}

/** For how many seconds an item should have begun already, if it has not. @param {State} state @param {ItemInfo} i */
export function overdueOf(state, i) {
  const late = lateOf(state, i);
  return late?.overdue ? late.seconds : undefined;
}

/** @param {string | undefined} from @param {string | undefined} to */
function between(from, to) {
  return from && to ? { seconds: Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000) } : undefined;
}

/** How long an execution took, in seconds. @param {import("./types/api").LastRun | undefined} last */
export function tookOf(last) {
  return between(last?.begun, last?.ended)?.seconds;
}

/** The ticks that are still to come. @param {JobView} view */
export function ticksToCome(view) {
  const now = hostNow() - 1000;
  return (view.ticks ?? []).filter((t) => Date.parse(t) > now);
}

/** Ways to look at some of the items. @type {Record<string, (state: State, i: ItemInfo) => boolean>} */
export const kinds = {
  RUNNING: (_, i) => !!i.run,
  failing: (_, i) => isFailure(i.last?.outcome),
  late: (state, i) => !!lateOf(state, i)?.overdue,
  waits: (_, i) => !!i.waits || !!i.misfire,
  SHARDING_FLAG: (_, i) => i.status === "SHARDING_FLAG",
  DISABLED: (_, i) => !!i.disabled,
  pinned: (_, i) => !!i.pin,
};

