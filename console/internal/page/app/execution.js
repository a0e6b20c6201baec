// What is the same of an execution wherever it is shown.
import { hostNow } from "./hosttime.js";

/** @typedef {import("./types/api").ExecutionInfo} Execution */

/** Sources whose executions are to begin at their tick: those of a request do not. */
export const punctual = ["NORMAL_TRIGGER", "MISFIRE", "FAILOVER"];

/** Outcomes that nobody wants; KILLED is what an operator wanted. @type {("FAILED" | "PANIC" | "TIMEOUT" | "CUT" | "LOST")[]} */
export const failures = ["FAILED", "PANIC", "TIMEOUT", "CUT", "LOST"];

/** Whether an outcome is one that nobody wants. @param {string | undefined} outcome */
export const isFailure = (outcome) => failures.some((f) => f === outcome);

/** Whether the item can be run again for the tick. @param {string | undefined} outcome */
export const mayRetry = (outcome) => outcome === "KILLED" || (outcome !== "LOST" && isFailure(outcome));

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
