// A job that is to be created: what the form has, what is wrong with it, and what would be written.
import { ask, reasonsOf } from "./api.js";
import { parametersOf, parametersText } from "./create-model.js";
import { namespace } from "./facts.js";
import { may } from "./rights.js";
import { isField } from "./settings-fields.js";
import { configOf, flatOf } from "./settings-model.js";
import { flatOfRows, rowsOf } from "./settings-props.js";
import { TypeProps } from "./type-props.js";
import { w } from "./words.js";

/** @typedef {import("./settings-model.js").Flat} Flat */
/** @typedef {"SCRIPT" | "HTTP" | ""} Type the last one is an implementation of a program */

const validateAfter = 400;

/** What a new job has. @type {Flat} */
const usual = { cron: "0 0 3 * * ?", shardingTotalCount: "1", misfire: "true", monitorExecution: "true" };

export class Draft {
  /** @param {() => void} draw */
  constructor(draw) {
    this.draw = draw;
    this.name = "";
    /** What processes tell of types. @type {import("./type-props.js").Described} */
    this.described = new Map();
    /** Properties by what it would run. @type {Map<string, TypeProps>} */
    this.types = new Map([["HTTP", new TypeProps("HTTP", { "props: http.method": "GET" })]]);
    /** @type {Type} */
    this.type = "SCRIPT";
    this.implementation = "";
    /** @type {Flat} */
    this.fields = { ...usual };
    /** @type {string[]} */
    this.parameters = [];
    this.rows = rowsOf({}, isField);
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
    this.name = info.job + "-copy";
    const what = info.implementation ?? "";
    this.type = what === "SCRIPT" || what === "HTTP" ? what : "";
    this.implementation = this.type ? "" : what;
    this.types.set(what, new TypeProps(what, flat, this.described.get(what)));
    this.parameters = parametersOf(flat.shardingItemParameters ?? "");
    this.fields = Object.fromEntries(Object.entries(flat).filter(([key]) => isField(key)));
    this.rows = rowsOf(flat, (key) => isField(key) || this.props.has(key));
  }

  /** The properties of what it runs. */
  get props() {
    const what = this.type || this.implementation;
    const props = this.types.get(what) ?? new TypeProps(what, {}, this.described.get(what));
    this.types.set(what, props);
    return props;
  }

  /** How many items it has; 0 if that is no number. */
  get count() {
    const n = Number(this.fields.shardingTotalCount);
    return Number.isInteger(n) && n > 0 && n <= 100000 ? n : 0;
  }

  /** All values. @returns {Flat} */
  get flat() {
    /** @type {Flat} */
    const flat = { ...flatOfRows(this.rows), ...this.props.flat };
    for (const [key, value] of Object.entries(this.fields)) if (value !== "") flat[key] = value;
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
    if (this.type === "") need("implementation", this.implementation !== "");
    if (!this.count) out.set("shardingTotalCount", w("create.badCount"));
    for (const [key, reason] of this.props.wrong) out.set(key, reason);
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
