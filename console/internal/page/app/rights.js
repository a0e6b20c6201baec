// What the user may do, so that a page does not offer what the API would refuse. The API decides; this follows
// access.Principal.
import { facts, namespace } from "./facts.js";

const roles = ["viewer", "operator", "admin"];

/** @param {string[]} patterns @param {string} name */
export function fits(patterns, name) {
  return patterns.some((p) => new RegExp("^" + p.split("*").map((t) => t.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*") + "$", "s").test(name));
}

/** Whether they are for all names, also those to come. @param {string[]} patterns */
export const isAll = (patterns) => patterns.some((p) => /^\*+$/.test(p));

/** @param {(g: import("./facts.js").Grant) => boolean} holds */
function has(holds) {
  return (facts.grants ?? []).some(holds) && (!facts.within || facts.within.some(holds));
}

/** @param {string} role @param {string} needed */
const enough = (role, needed) => roles.indexOf(role) >= roles.indexOf(needed);

/** @typedef {"viewer" | "operator" | "admin"} Role */

/** Whether the user has a role for a job. @param {Role} role @param {string} job */
export function may(role, job, space = namespace) {
  return has((g) => enough(g.role, role) && fits(g.namespaces, space) && fits(g.jobs, job));
}

/** Whether he has it for some jobs of a namespace. @param {Role} role */
export function maySome(role, space = namespace) {
  return has((g) => enough(g.role, role) && fits(g.namespaces, space));
}

/** Whether he has it for all jobs of a namespace, also those to come. @param {Role} role */
export function mayAll(role, space = namespace) {
  return has((g) => enough(g.role, role) && fits(g.namespaces, space) && isAll(g.jobs));
}

/** Whether he has it for everything. @param {Role} role */
export function mayEverywhere(role) {
  return has((g) => enough(g.role, role) && isAll(g.namespaces) && isAll(g.jobs));
}
