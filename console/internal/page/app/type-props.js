// The properties of types as a form has them: of scripts, of HTTP requests, and those that programs describe. Nothing here draws.
import { propKey, propName } from "./settings-model.js";
import { w } from "./words.js";

/** @typedef {import("./settings-model.js").Flat} Flat */
/** @typedef {import("./types/api").PropertyInfo} Property */
/** @typedef {Map<string, Property[]>} Described properties by types */
/** @typedef {{prefix: string, between: string}} Family properties with names that begin in the same way: lines of one field */

/** Properties that have a field each. @type {Record<string, string[]>} */
const single = {
  SCRIPT: ["script.directory", "script.user", "script.grace", "script.codes.success", "script.codes.retry"],
  HTTP: ["http.uri", "http.method", "http.content.type", "http.data", "http.success.codes", "http.read.timeout.milliseconds", "http.retry.attempts"],
};

/** @type {Record<string, Family[]>} */
const many = { SCRIPT: [{ prefix: "script.env.", between: "=" }], HTTP: [{ prefix: "http.header.", between: ": " }] };

const commands = ["script.command.line", "script.command.args"];

/** What processes tell of types. @param {import("./types/api").ProcessInfo[]} processes @returns {Described} */
export function describedOf(processes) {
  /** @type {Described} */
  const out = new Map();
  for (const p of processes.flatMap((one) => one.described ?? [])) {
    const rows = out.get(p.type) ?? [];
    if (!rows.some((r) => r.name === p.name)) out.set(p.type, [...rows, p]);
  }
  return out;
}

/** The beginning of the names for which a property stands; "" if it is a single one. @param {Property} p */
export const familyOf = (p) => (p.name.endsWith(".*") ? p.name.slice(0, -1) : "");

/** The properties of one type. What nobody edits stays as it was written. */
export class TypeProps {
  /** @param {string} type @param {Flat} flat a configuration @param {Property[]} [rows] of a program's own type */
  constructor(type, flat, rows = []) {
    this.type = type;
    const isOurs = type === "SCRIPT" || type === "HTTP";
    this.rows = isOurs ? [] : rows;
    this.single = isOurs ? single[type] : rows.filter((p) => !familyOf(p)).map((p) => p.name);
    this.many = isOurs ? many[type] : rows.filter(familyOf).map((p) => ({ prefix: familyOf(p), between: "=" }));
    this.before = Object.fromEntries(Object.keys(flat).filter((key) => propName(key)).map((key) => [propName(key), flat[key]]));
    /** What the fields have. @type {Record<string, string>} */
    this.values = Object.fromEntries(this.single.map((name) => [name, this.before[name] ?? ""]));
    this.command = this.#commandBefore();
    /** By the beginnings of names. */
    this.lines = Object.fromEntries(this.many.map((f) => [f.prefix, this.#linesBefore(f)]));
  }

  #commandBefore() {
    return commandOf(this.before["script.command.line"], this.before["script.command.args"]);
  }

  /** @param {Family} family */
  #linesBefore(family) {
    return linesOf(this.#before((name) => this.#familyOf(name) === family), family.prefix, family.between);
  }

  /** What was there, of that which has a field. @param {(name: string) => boolean} is */
  #before(is) {
    return Object.fromEntries(Object.entries(this.before).filter(([name]) => this.has(propKey(name)) && is(name)));
  }

  /** @param {string} name */
  #familyOf(name) {
    return this.single.includes(name) ? undefined : this.many.find((f) => name.startsWith(f.prefix));
  }

  /** Whether there is a field for a key. One that cannot be a line of many has none. @param {string} key */
  has(key) {
    const name = propName(key);
    if (this.type === "SCRIPT" && commands.includes(name)) return true;
    if (this.single.includes(name)) return true;
    const family = this.#familyOf(name);
    if (!family) return false;
    const { prefix, between } = family;
    const value = this.before[name] ?? "";
    return name === prefix || propsOfLines(linesOf({ [name]: value }, prefix, between), prefix, between).props[name] === value;
  }

  /** The properties, by key. @returns {Flat} */
  get flat() {
    const props = { ...this.values };
    if (this.type === "SCRIPT") {
      const { way, text } = this.#commandBefore();
      const isSame = way === this.command.way && text === this.command.text;
      Object.assign(props, isSame ? this.#before((name) => commands.includes(name)) : commandProps(this.command));
    }
    for (const family of this.many) {
      const text = this.lines[family.prefix];
      Object.assign(props, text === this.#linesBefore(family) ? this.#before((name) => this.#familyOf(name) === family) : propsOfLines(text, family.prefix, family.between).props);
    }
    return Object.fromEntries(Object.entries(props).filter(([name, value]) => value !== "" || this.before[name] === "").map(([name, value]) => [propKey(name), value]));
  }

  /** What is missing or wrong, by key. @returns {Map<string, string>} */
  get wrong() {
    const out = new Map();
    if (this.type === "SCRIPT" && !this.command.text.trim()) out.set(propKey("script.command.args"), w("create.needed"));
    if (this.type === "HTTP" && !this.values["http.uri"]) out.set(propKey("http.uri"), w("create.needed"));
    for (const p of this.rows) if (p.required && !familyOf(p) && !this.values[p.name]) out.set(propKey(p.name), w("create.needed"));
    for (const { prefix, between } of this.many) {
      const { wrong } = propsOfLines(this.lines[prefix], prefix, between);
      if (wrong.length) out.set(propKey(prefix), w("create.badLine", { line: wrong[0] }));
    }
    return out;
  }
}

/** @typedef {"shell" | "list" | "line"} Way how a command is written: a text for a shell, one argument a line, or a line split at spaces */

/**
 * The command of a script job.
 * @param {string | undefined} line script.command.line
 * @param {string | undefined} args script.command.args
 * @returns {{way: Way, text: string}}
 */
function commandOf(line, args) {
  if (line) return { way: "line", text: line };
  /** @type {unknown} */
  let list;
  try {
    list = JSON.parse(args ?? "");
  } catch {
    return { way: "shell", text: "" }; // none, or none that is a list
  }
  if (!Array.isArray(list)) return { way: "shell", text: "" };
  if (list.length === 3 && list[0] === "/bin/sh" && list[1] === "-c") return { way: "shell", text: list[2] };
  const isPlain = list.every((a) => !a.includes("\n")) && !list[0]?.startsWith("[");
  return { way: "list", text: isPlain ? list.join("\n") : JSON.stringify(list) };
}

/**
 * The properties of a command.
 * @param {{way: Way, text: string}} command
 * @returns {Record<string, string>}
 */
function commandProps({ way, text }) {
  if (!text.trim()) return {};
  if (way === "line") return { "script.command.line": text.trim() };
  if (way === "shell") return { "script.command.args": JSON.stringify(["/bin/sh", "-c", text]) };
  const isList = text.trimStart().startsWith("[");
  return { "script.command.args": isList ? text.trim() : JSON.stringify(text.split("\n").filter((line) => line !== "")) };
}

/**
 * Properties with names that begin in the same way, as lines of names and values.
 * @param {Record<string, string>} props
 * @param {string} prefix
 * @param {string} between what stands between name and value
 */
function linesOf(props, prefix, between) {
  return Object.entries(props).filter(([name]) => name.startsWith(prefix)).map(([name, value]) => name.slice(prefix.length) + between + value).join("\n");
}

/**
 * The properties of such lines, and those lines that are none.
 * @param {string} text
 * @param {string} prefix
 * @param {string} between
 */
function propsOfLines(text, prefix, between) {
  const sign = between.trim();
  /** @type {Record<string, string>} */
  const props = {};
  /** @type {string[]} */
  const wrong = [];
  for (const line of text.split("\n")) {
    const at = line.indexOf(sign);
    if (at > 0) props[prefix + line.slice(0, at).trim()] = line.slice(at + sign.length).trim();
    else if (line.trim()) wrong.push(line.trim());
  }
  return { props, wrong };
}
