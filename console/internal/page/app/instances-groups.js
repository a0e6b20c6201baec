// Which instances are listed, and how: by process or by job. Nothing here draws.
import { query } from "./query.js";
import { by } from "./table.js";
import { states } from "./instances-states.js";

/** @typedef {import("./types/api").InstanceInfo} InstanceInfo */
/** @typedef {import("./types/api").ProcessInfo} ProcessInfo */
/** @typedef {"process" | "job"} Way */
/** @typedef {{search: string, server: string, state: string}} Filter what is empty lets all through */
/**
 * @typedef {{key: string, all: InstanceInfo[], hits: InstanceInfo[], items: number, running: number, process?: ProcessInfo}} Group
 * key is the id of the process, or the name of the job; hits are those of all that the filter lets through.
 */

/** @returns {Filter} */
export function filterOfQuery() {
  const { search = "", server = "", state = "" } = query();
  return { search, server, state };
}

/** The process of an instance: a JVM has one id for all its jobs. @param {InstanceInfo} i */
const processOf = (i) => i.process ?? i.id;

/** The address in an id. @param {string} id */
export const serverOf = (id) => id.split("@-@")[0];

/**
 * @param {InstanceInfo[]} instances
 * @param {ProcessInfo[]} processes those without an instance are listed, too
 * @param {Way} way
 * @param {Filter} f
 * @returns {Group[]} those with a hit
 */
export function groupsOf(instances, processes, way, f) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  const groupOf = (/** @type {string} */ key) => {
    let g = groups.get(key);
    if (!g) groups.set(key, (g = { key, all: [], hits: [], items: 0, running: 0 }));
    return g;
  };
  const fits = fitsOf(f);
  for (const i of instances) {
    const g = groupOf(way === "job" ? i.job : processOf(i));
    g.all.push(i);
    g.items += i.items?.length ?? 0;
    g.running += i.running?.length ?? 0;
    if (fits(i)) g.hits.push(i);
  }
  if (way === "process") for (const p of processes) groupOf(p.id).process = p;
  return [...groups.values()].filter((g) => g.hits.length > 0 || (!g.all.length && g.process && fitsIdle(f, g.process)));
}

/** @param {Filter} f @returns {(i: InstanceInfo) => boolean} */
function fitsOf(f) {
  const words = wordsOf(f);
  const state = states.find((s) => s.name === f.state);
  return (i) => {
    if (f.server && i.server !== f.server) return false;
    if (state && !state.is(i)) return false;
    if (!words.length) return true;
    const text = textOf(i);
    return words.every((word) => text.includes(word));
  };
}

/** @type {WeakMap<InstanceInfo, string>} */
const texts = new WeakMap();

/** What a search looks at: it is made once, as there may be many. @param {InstanceInfo} i */
function textOf(i) {
  let text = texts.get(i);
  if (text === undefined) texts.set(i, (text = [i.job, i.id, i.server, ...(i.labels ?? [])].join("\n").toLowerCase()));
  return text;
}

/** Whether a process without an instance is listed. @param {Filter} f @param {ProcessInfo} p */
function fitsIdle(f, p) {
  if (f.state || (f.server && (p.server ?? serverOf(p.id)) !== f.server)) return false;
  const text = [p.id, ...(p.labels ?? []), ...(p.offers ?? [])].join("\n").toLowerCase();
  return wordsOf(f).every((word) => text.includes(word));
}

/** @param {Filter} f */
const wordsOf = (f) => f.search.toLowerCase().split(/\s+/).filter(Boolean);

/** How bad it is: the place of the worst state that holds of one of them. @param {Group} g */
function badness(g) {
  const worst = states.findIndex((s) => !s.quiet && s.name !== "leader" && g.all.some(s.is));
  return worst < 0 ? states.length : worst;
}

/** How groups are sorted, by the name of the column. @type {Record<string, (a: Group, b: Group) => number>} */
export const orders = {
  name: by((g) => g.key),
  state: by(badness),
  count: by((g) => g.all.length),
  items: by((g) => g.items),
  running: by((g) => g.running),
};

/** How many instances each state holds of. @param {InstanceInfo[]} instances */
export function countsOf(instances) {
  return Object.fromEntries(states.map((s) => [s.name, instances.reduce((n, i) => n + (s.is(i) ? 1 : 0), 0)]));
}
