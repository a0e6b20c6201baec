// Which jobs are listed, and in which order. Nothing here draws.
import { facts } from "./facts.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */
/** @typedef {import("./table.js").Order} Order */
/**
 * @typedef {{search: string, status: string, implementation: string, label: string, paused: string, failing: string, late: string, faulty: string, running: string}} Filter
 * What is empty lets all through; that of a flag is true or false.
 */

/** The names of the filter's fields, as they stand in the address. */
export const filterFields = /** @type {const} */ (["search", "status", "implementation", "label", "paused", "failing", "late", "faulty", "running"]);

/** @type {Record<"paused" | "failing" | "late" | "faulty" | "running", (job: JobInfo) => boolean>} */
export const flags = {
  paused: (job) => !!job.paused,
  failing: (job) => !!job.failing,
  late: (job) => !!job.begunLate,
  faulty: (job) => !!job.faults || !!job.configError,
  running: (job) => job.running > 0,
};

/** @param {Record<string, string>} query @returns {Filter} */
export function filterOf(query) {
  return /** @type {Filter} */ (Object.fromEntries(filterFields.map((name) => [name, query[name] ?? ""])));
}

/** Whether a job counts to a status: to OK only if there is nothing else to say of it. @param {JobInfo} job @param {string} status */
const counts = (job, status) => (status === "OK" ? !!job.healthy : job.status === status);

/** The order in an address: name, or -name for the last one first. @param {string | undefined} text @returns {Order} */
export function orderOf(text) {
  const by = (text ?? "").replace(/^-/, "");
  return by in keys || by === "name" ? { by, down: text?.startsWith("-") ?? false } : { by: "name", down: false };
}

/** @param {Order} order */
export function orderText(order) {
  const text = (order.down ? "-" : "") + order.by;
  return text === "name" ? "" : text;
}

/** @param {Filter} f @returns {(job: JobInfo) => boolean} */
function fits(f) {
  const words = f.search.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = Object.entries(flags).filter(([name]) => f[/** @type {keyof typeof flags} */ (name)]);
  return (job) => {
    if (f.status && !counts(job, f.status)) return false;
    if (f.implementation && job.implementation !== f.implementation) return false;
    if (f.label && job.label !== f.label) return false;
    for (const [name, holds] of wanted) {
      if (holds(job) !== (f[/** @type {keyof typeof flags} */ (name)] !== "false")) return false;
    }
    if (!words.length) return true;
    const text = [job.name, job.description, job.implementation, job.label].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

/** How bad it is: the worst first. @param {JobInfo} job */
function badness(job) {
  if (["CRASHED", "STOPPED", "NEVER_STARTED"].includes(job.status)) return 0;
  if (flags.faulty(job)) return 1;
  if (job.failing) return 2;
  if (job.begunLate) return 3;
  if (job.status === "SHARDING_FLAG") return 4;
  if (job.status === "DISABLED") return 5;
  if (job.paused) return 6;
  return job.expired ? 7 : 8;
}

/** @param {string | undefined} t */
const time = (t) => (t ? Date.parse(t) : undefined);

/** What jobs are sorted by, beside their names. @type {Partial<Record<string, (job: JobInfo) => number | undefined>>} */
const keys = {
  status: badness,
  next: (job) => time(job.next),
  last: (job) => time(job.last?.ended),
  running: (job) => job.running,
  failing: (job) => job.failing ?? 0,
  instances: (job) => job.instances,
};

/**
 * Returns a function that lists jobs. It remembers the order of the names, as people would sort them: comparing them is what
 * takes long.
 * @returns {(jobs: Map<string, JobInfo>, filter: Filter, order: Order) => JobInfo[]}
 */
export function lister() {
  const collator = new Intl.Collator(facts.language, { numeric: true });
  /** @type {Map<string, number>} */
  let ranks = new Map();
  return (jobs, filter, order) => {
    for (const name of jobs.keys()) {
      if (ranks.has(name)) continue;
      ranks = new Map([...jobs.keys()].sort(collator.compare).map((n, i) => [n, i]));
      break;
    }
    const isWanted = fits(filter);
    const key = keys[order.by];
    const sign = order.down ? -1 : 1;
    /** @type {{job: JobInfo, key: number | undefined, rank: number}[]} */
    const rows = [];
    for (const job of jobs.values()) {
      if (isWanted(job)) rows.push({ job, key: key?.(job), rank: ranks.get(job.name) ?? 0 });
    }
    return rows.sort((a, b) => {
      if (a.key === b.key) return (key ? 1 : sign) * (a.rank - b.rank);
      if (a.key === undefined) return 1; // also when the last one is first
      return b.key === undefined ? -1 : sign * (a.key - b.key);
    }).map((row) => row.job);
  };
}

/**
 * How many jobs have each status and each flag, and which implementations and labels there are.
 * @param {Map<string, JobInfo>} jobs
 */
export function countsOf(jobs) {
  /** @type {Record<string, number>} */
  const found = {};
  /** @type {Set<string>} */
  const implementations = new Set();
  /** @type {Set<string>} */
  const labels = new Set();
  for (const job of jobs.values()) {
    if (counts(job, job.status)) found[job.status] = (found[job.status] ?? 0) + 1;
    for (const [name, holds] of Object.entries(flags)) if (holds(job)) found[name] = (found[name] ?? 0) + 1;
    if (job.implementation) implementations.add(job.implementation);
    if (job.label) labels.add(job.label);
  }
  return { counts: found, implementations: [...implementations].sort(), labels: [...labels].sort() };
}
