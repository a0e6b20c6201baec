// The list of jobs in groups: one for each label, with how many jobs it has, and what of them runs and fails.
import { h } from "./dom.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */
/** @typedef {{group: string, jobs: number, running: number, failing: number}} Group */
/** @typedef {JobInfo | Group} Row */

/** @param {Row} r @returns {r is Group} */
export const isGroup = (r) => "group" in r;

/** The jobs below their labels, in the order that they have; those without a label come last. @param {JobInfo[]} jobs @returns {Row[]} */
export function grouped(jobs) {
  /** @type {Map<string, JobInfo[]>} */
  const groups = new Map();
  for (const job of jobs) {
    const of = groups.get(job.label ?? "");
    if (of) of.push(job);
    else groups.set(job.label ?? "", [job]);
  }
  const labels = [...groups.keys()].sort((a, b) => (!a || !b ? Number(!a) - Number(!b) : a.localeCompare(b)));
  return labels.flatMap((group) => {
    const of = groups.get(group) ?? [];
    return [{ group, jobs: of.length, running: of.filter((j) => j.running > 0).length, failing: of.filter((j) => !!j.failing).length }, ...of];
  });
}

/** Columns for rows of both kinds. @param {import("./window-table.js").WindowColumn<JobInfo>[]} columns @returns {import("./window-table.js").WindowColumn<Row>[]} */
export function withGroups(columns) {
  return columns.map((c) => ({ ...c, cell: (r) => (isGroup(r) ? groupCell(c.name, r) : c.cell(r)) }));
}

/** What stands in the column of a group. @param {string} column @param {Group} g */
function groupCell(column, g) {
  if (column === "name") return [h("strong", { class: "name" }, g.group || w("jobs.noLabel")), h("span", { class: "about" }, w("jobs.count", { n: g.jobs }))];
  return column === "running" || column === "failing" ? number(g[column]) : null;
}
