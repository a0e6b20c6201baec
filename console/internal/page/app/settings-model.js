// A configuration as a form has it: texts by key, those of props as "props: NAME", as the API names fields in errors and plans.

/** @typedef {Record<string, string>} Flat */
/** @typedef {import("./types/api").Configuration} Configuration */
/** @typedef {import("./types/api").Difference} Difference */

const props = "props: ";
const integers = ["shardingTotalCount", "maxTimeDiffSeconds", "reconcileIntervalMinutes"];
const booleans = ["monitorExecution", "failover", "misfire", "disabled", "overwrite", "staticSharding"];

/** @param {Configuration} config @returns {Flat} */
export function flatOf(config) {
  /** @type {Flat} */
  const flat = {};
  for (const [key, value] of Object.entries(config)) {
    if (key === "props") for (const [name, v] of Object.entries(value)) flat[props + name] = String(v);
    else flat[key] = Array.isArray(value) ? value.join(",") : String(value);
  }
  return flat;
}

/**
 * The configuration of a form. What is empty has its default, but for properties that no field is for.
 * @param {Flat} flat
 * @param {(key: string) => boolean} isField
 * @returns {Configuration}
 */
export function configOf(flat, isField) {
  /** @type {Record<string, any>} */
  const config = {};
  for (const [key, value] of Object.entries(flat)) {
    if (value === "" && isField(key)) continue;
    if (key.startsWith(props)) (config.props ??= {})[key.slice(props.length)] = value;
    else if (key === "jobListenerTypes") config[key] = namesOf(value);
    else if (booleans.includes(key)) config[key] = value === "true";
    else if (integers.includes(key) && /^-?\d+$/.test(value)) config[key] = Number(value);
    else config[key] = value;
  }
  return config;
}

/** Names with commas between them. @param {string} text */
export function namesOf(text) {
  return text.split(",").map((name) => name.trim()).filter(Boolean);
}

/** A key of a property. @param {string} name */
export const propKey = (name) => props + name;

/** The name of a property; empty if the key is none of a property. @param {string} key */
export const propName = (key) => (key.startsWith(props) ? key.slice(props.length) : "");

/** Keys whose values differ. @param {Flat} a @param {Flat} b */
export function differing(a, b) {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => (a[key] ?? "") !== (b[key] ?? "")).sort();
}

/** The values after a plan. @param {Flat} flat @param {Difference[]} changes */
export function after(flat, changes) {
  const out = { ...flat };
  for (const c of changes) {
    if (c.after === "") delete out[c.field];
    else out[c.field] = c.after;
  }
  return out;
}

/**
 * What came of two changes of the same configuration: keys that only one has changed are as he wants them.
 * @param {Flat} base
 * @param {Flat} mine
 * @param {Flat} theirs
 * @returns {{values: Flat, both: string[], mine: string[], theirs: string[]}} both: keys of both, with different values; values has mine
 */
export function merge(base, mine, theirs) {
  const ofMine = differing(base, mine);
  const ofTheirs = differing(base, theirs);
  /** @type {Flat} */
  const values = { ...theirs };
  for (const key of ofMine) take(values, key, mine);
  const both = ofMine.filter((key) => ofTheirs.includes(key) && (mine[key] ?? "") !== (theirs[key] ?? ""));
  return { values, both, mine: ofMine, theirs: ofTheirs };
}

/** Gives a key the value that it has elsewhere. @param {Flat} values @param {string} key @param {Flat} from */
export function take(values, key, from) {
  if (from[key] === undefined) delete values[key];
  else values[key] = from[key];
}
