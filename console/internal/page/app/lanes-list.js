// Which lanes there are, in which order and groups: those with failures and gaps first. Nothing here draws.

/**
 * @typedef {import("./types/api").JobInfo} JobInfo
 * @typedef {import("./types/api").LaneInfo} LaneInfo
 * @typedef {{name: string, job: JobInfo, cells: string, executions: number, failed: number, missed: number}} Lane
 * @typedef {{group: string, lanes: Lane[], failed: number, missed: number}} Group
 */

/** How a lane is put into a group. @type {Record<string, (job: JobInfo) => string>} */
export const groups = { label: (job) => job.label ?? "", prefix: (job) => /^[^-_./:]+/.exec(job.name)?.[0] ?? "" };

/** @type {Record<string, (a: Lane | Group, b: Lane | Group) => number>} */
const orders = {
  bad: (a, b) => b.failed - a.failed || b.missed - a.missed,
  failed: (a, b) => b.failed - a.failed,
  missed: (a, b) => b.missed - a.missed,
  name: () => 0,
};

/**
 * The lanes of jobs, which are by name, in their order; with a group before those that are in it.
 * @param {JobInfo[]} jobs @param {Map<string, LaneInfo>} known @param {import("./table.js").Order} order @param {string} by
 * @returns {(Lane | Group)[]}
 */
export function arrange(jobs, known, order, by) {
  const lanes = jobs.map((job) => {
    const l = known.get(job.name);
    return { name: job.name, job, cells: l?.cells ?? "", executions: l?.executions ?? 0, failed: l?.failed ?? 0, missed: l?.missed ?? 0 };
  });
  const compare = orders[order.by] ?? orders.bad;
  const sorted = (/** @type {(Lane | Group)[]} */ list) => (order.down && order.by === "name" ? list.toReversed() : list.toSorted((a, b) => (order.down ? 1 : -1) * compare(a, b)));
  const groupOf = groups[by];
  if (!groupOf) return sorted(lanes);
  const names = lanes.map((l) => groupOf(l.job));
  /** @type {Map<string, number>} */
  const count = new Map();
  for (const name of names) count.set(name, (count.get(name) ?? 0) + 1);
  /** @type {Map<string, Lane[]>} */
  const found = new Map();
  lanes.forEach((l, i) => {
    const name = by === "prefix" && count.get(names[i]) === 1 ? "" : names[i]; // a prefix of one job is none
    const some = found.get(name);
    if (some) some.push(l);
    else found.set(name, [l]);
  });
  const all = [...found].sort(([a], [b]) => (a === "" ? 1 : b === "" ? -1 : a < b ? -1 : 1))
    .map(([group, some]) => ({ group, lanes: some, failed: sum(some, "failed"), missed: sum(some, "missed") }));
  return sorted(all).flatMap((g) => ("group" in g ? [g, ...sorted(g.lanes)] : []));
}

/** @param {Lane[]} lanes @param {"failed" | "missed"} what */
const sum = (lanes, what) => lanes.reduce((n, l) => n + l[what], 0);
