// A job that is to be created: what the form has, what is wrong with it, and what would be written.
import { ask, reasonsOf } from "./api.js";
import { commandOf, commandProps, linesOf, parametersOf, parametersText, propsOfLines } from "./create-model.js";
import { namespace } from "./facts.js";
import { may } from "./rights.js";
import { isField } from "./settings-fields.js";
import { configOf, flatOf, propKey, propName } from "./settings-model.js";
import { flatOfRows, rowsOf } from "./settings-props.js";
import { w } from "./words.js";

/** @typedef {import("./settings-model.js").Flat} Flat */
/** @typedef {"SCRIPT" | "HTTP" | ""} Type the last one is an implementation of a program */

const validateAfter = 400;

/** Properties with lines of names and values: a field each. @type {Record<string, {type: Type, between: string}>} */
const lists = { "http.header.": { type: "HTTP", between: ": " }, "script.env.": { type: "SCRIPT", between: "=" } };

/** Other properties of types that have a field. */
const ofTypes = [
  "script.command.line", "script.command.args", "script.directory", "script.user", "script.grace", "script.codes.success", "script.codes.retry",
  "http.uri", "http.method", "http.content.type", "http.data", "http.success.codes", "http.read.timeout.milliseconds", "http.retry.attempts",
];

/** Whether the form has a field of its own for a key. @param {string} key */
function isOwn(key) {
  const name = propName(key);
  return isField(key) || ofTypes.includes(name) || Object.keys(lists).some((prefix) => name.startsWith(prefix));
}

/** What a new job has. @type {Flat} */
const usual = { cron: "0 0 3 * * ?", shardingTotalCount: "1", misfire: "true", monitorExecution: "true", "props: http.method": "GET" };

export class Draft {
  /** @param {() => void} draw */
  constructor(draw) {
    this.draw = draw;
    this.name = "";
    /** @type {Type} */
    this.type = "SCRIPT";
    this.implementation = "";
    /** @type {Flat} */
    this.fields = { ...usual };
    /** @type {string[]} */
    this.parameters = [];
    /** @type {{way: import("./create-model.js").Way, text: string}} */
    this.command = { way: "shell", text: "" };
    /** @type {Record<string, string>} */
    this.lines = {};
    this.rows = rowsOf({}, isOwn);
    /** Keys of a job that was copied whose secrets are not known. @type {string[]} */
    this.secrets = [];
    /** What the API says is wrong, by key. @type {Map<string, string>} */
    this.errors = new Map();
    /** @type {unknown} */
    this.problem = undefined;
    /** @type {import("./types/api").Plan | undefined} */
    this.plan = undefined;
    /** @type {Set<string>} */
    this.touched = new Set();
    this.isTried = false;
    this.asked = 0;
  }

  /** Takes the settings of another job. @param {import("./types/api").SettingsInfo} info */
  copy(info) {
    const flat = flatOf(info.config ?? {});
    this.secrets = Object.keys(flat).filter((key) => flat[key].includes("***"));
    for (const key of [...this.secrets, "jobName"]) delete flat[key];
    const props = info.config?.props ?? {};
    this.name = info.job + "-copy";
    const what = info.implementation ?? "";
    this.type = what === "SCRIPT" || what === "HTTP" ? what : "";
    this.implementation = this.type ? "" : what;
    this.command = commandOf(props["script.command.line"], props["script.command.args"]);
    for (const [prefix, { between }] of Object.entries(lists)) this.lines[prefix] = linesOf(props, prefix, between);
    this.parameters = parametersOf(flat.shardingItemParameters ?? "");
    this.fields = Object.fromEntries(Object.entries(flat).filter(([key]) => isOwn(key)));
    this.rows = rowsOf(flat, isOwn);
  }

  /** How many items it has; 0 if that is no number. */
  get count() {
    const n = Number(this.fields.shardingTotalCount);
    return Number.isInteger(n) && n > 0 && n <= 100000 ? n : 0;
  }

  /** All values. @returns {Flat} */
  get flat() {
    /** @type {Flat} */
    const flat = { ...flatOfRows(this.rows) };
    for (const [key, value] of Object.entries(this.fields)) {
      const [first] = propName(key).split(".");
      const isOfOther = (first === "script" && this.type !== "SCRIPT") || (first === "http" && this.type !== "HTTP");
      if (value !== "" && !isOfOther && !/^script\.command\.|^script\.env\.|^http\.header\./.test(propName(key))) flat[key] = value;
    }
    const more = this.type === "SCRIPT" ? commandProps(this.command) : {};
    for (const [prefix, { type, between }] of Object.entries(lists)) {
      if (type === this.type) Object.assign(more, propsOfLines(this.lines[prefix] ?? "", prefix, between).props);
    }
    for (const [name, value] of Object.entries(more)) flat[propKey(name)] = value;
    const parameters = parametersText(this.parameters.slice(0, this.count));
    if (parameters) flat.shardingItemParameters = parameters;
    else delete flat.shardingItemParameters;
    return flat;
  }

  get body() {
    return { config: configOf(this.flat, isField), implementation: this.type || this.implementation };
  }

  /** What the form itself finds wrong, by key. @returns {Map<string, string>} */
  get missing() {
    const out = new Map();
    const need = (/** @type {string} */ key, /** @type {boolean} */ isThere) => !isThere && out.set(key, w("create.needed"));
    need("jobName", this.name !== "");
    if (this.name && !/^[\w.:-]{1,200}$/.test(this.name)) out.set("jobName", w("create.badName"));
    else if (this.name && !may("admin", this.name)) out.set("jobName", w("create.notYours"));
    else if (this.plan && !this.plan.new) out.set("jobName", w("create.isThere"));
    if (this.type === "SCRIPT") need("props: script.command.args", this.command.text.trim() !== "");
    if (this.type === "HTTP") need("props: http.uri", !!this.fields["props: http.uri"]);
    if (this.type === "") need("implementation", this.implementation !== "");
    if (!this.count) out.set("shardingTotalCount", w("create.badCount"));
    for (const [prefix, { type, between }] of Object.entries(lists)) {
      const { wrong } = propsOfLines(this.lines[prefix] ?? "", prefix, between);
      if (type === this.type && wrong.length) out.set(propKey(prefix), w("create.badLine", { line: wrong[0] }));
    }
    return out;
  }

  /** What is to be said of a field: nothing before it was touched, or the whole was tried. @param {string} key */
  error(key) {
    return this.isTried || this.touched.has(key) ? this.missing.get(key) ?? this.errors.get(key) : undefined;
  }

  /** Something was edited: it is checked when the user rests. @param {string} key @param {() => void} act */
  edit(key, act) {
    act();
    this.touched.add(key);
    this.asked++;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), validateAfter);
    this.draw();
  }

  /** Asks what would be written, and what is wrong with it. Whether nothing is. */
  async check() {
    clearTimeout(this.timer);
    const asked = ++this.asked;
    const wrong = this.missing;
    let errors = new Map();
    let problem;
    let plan;
    // A name that is taken is only known from a plan.
    if (!wrong.has("jobName") || (this.plan && !this.plan.new)) {
      try {
        plan = await ask("POST /namespaces/{namespace}/jobs/{job}/plan", { namespace, job: this.name }, { config: this.body.config });
      } catch (e) {
        errors = reasonsOf(e);
        if (!errors.size) problem = e;
      }
    }
    if (asked !== this.asked) return false;
    Object.assign(this, { errors, problem, plan });
    this.draw();
    return plan !== undefined && !this.missing.size;
  }

  /** Creates it. Whether that was done; what is wrong is at its field, or in problem. */
  async create() {
    this.isTried = true;
    if (!(await this.check())) return false;
    try {
      await ask("PUT /namespaces/{namespace}/jobs/{job}/settings", { namespace, job: this.name, "If-None-Match": "*" }, this.body);
      return true;
    } catch (e) {
      this.problem = e;
      this.draw();
      return false;
    }
  }
}
