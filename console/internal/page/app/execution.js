// What is the same of an execution wherever it is shown.
import { hostNow } from "./hosttime.js";

/** @typedef {import("./types/api").ExecutionInfo} Execution */

/** Sources whose executions are to begin at their tick: those of a request do not. */
export const punctual = ["NORMAL_TRIGGER", "MISFIRE", "FAILOVER"];

/** How late it began, in seconds; undefined if that is not known, or it was not to begin at its tick. @param {Execution} x */
export function latenessOf(x) {
  if (!x.begun || !x.tick || !punctual.includes(x.source ?? "")) return undefined;
  return Math.max(0, Date.parse(x.begun) - Date.parse(x.tick)) / 1000;
}

/** For how many whole seconds something runs that has begun then. @param {string} begun */
export function ranFor(begun) {
  return Math.max(Math.round((hostNow() - Date.parse(begun)) / 1000), 0);
}

/** How long it took, or has run until now, in seconds; undefined if that is not known. @param {Execution} x */
export function durationOf(x) {
  if (x.outcome !== "RUNNING") return x.ended ? x.durationSeconds : undefined;
  return x.begun ? ranFor(x.begun) : undefined;
}
