// A configuration that somebody edits: as it is in the registry, what he has made of it, and what that would change.
import { answer, ask, Problem, reasonsOf } from "./api.js";
import { isConflict } from "./actions.js";
import { job, namespace } from "./facts.js";
import { isField } from "./settings-fields.js";
import { after, configOf, differing, flatOf, merge, take } from "./settings-model.js";
import { flatOfRows, rowsOf } from "./settings-props.js";
import { TypeProps } from "./type-props.js";

/** @typedef {import("./settings-model.js").Flat} Flat */
/** @typedef {{info: import("./types/api").SettingsInfo, etag: string, flat: Flat}} Stored flat is empty if it cannot be read */

const here = { namespace, job };
const validateAfter = 400;

/** @returns {Promise<Stored>} */
export async function read() {
  const { value, etag } = await answer("GET /namespaces/{namespace}/jobs/{job}/settings", here);
  return { info: value, etag, flat: value.config ? flatOf(value.config) : {} };
}

export class Editor {
  /** @param {Stored} stored @param {import("./type-props.js").Described} described @param {() => void} draw */
  constructor(stored, described, draw) {
    this.described = described;
    this.draw = draw;
    this.stored = stored;
    /** What is stored as far as is known: newer than stored in a conflict. */
    this.newest = stored;
    /** What the fields have. @type {Flat} */
    this.fields = {};
    this.rows = rowsOf({}, isField);
    this.type = new TypeProps("", {});
    this.text = "";
    this.isText = false;
    /** Reasons by key. @type {Map<string, string>} */
    this.errors = new Map();
    /** What is wrong beside fields. @type {unknown} */
    this.problem = undefined;
    /** @type {import("./types/api").Plan | undefined} */
    this.plan = undefined;
    /** @type {import("./settings-conflict.js").Conflict | undefined} */
    this.conflict = undefined;
    this.asked = 0;
    this.begin(stored);
  }

  /** Starts from what is stored. @param {Stored} stored */
  begin(stored) {
    clearTimeout(this.timer);
    this.asked++;
    this.stored = this.newest = stored;
    this.show(stored.flat);
    this.text = stored.info.document;
    this.isText = !stored.info.config;
    this.errors = new Map((stored.info.errors ?? []).map((e) => [e.field, e.reason]));
    this.problem = this.plan = this.conflict = undefined;
    if (stored.info.config) void this.check(); // for the next ticks
  }

  /** All values of the form. @returns {Flat} */
  get flat() {
    return { ...flatOfRows(this.rows), ...this.fields, ...this.type.flat };
  }

  /** Keys that have changed; in the text "document". */
  get changed() {
    if (this.isText) return this.text === this.stored.info.document ? [] : ["document"];
    return differing(this.stored.flat, this.flat);
  }

  get body() {
    return this.isText ? { document: this.text } : { config: configOf(this.flat, isField) };
  }

  /** Something was edited: it is checked when the user rests. @param {() => void} edit */
  edit(edit) {
    edit();
    this.plan = undefined;
    this.asked++;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), validateAfter);
    this.draw();
  }

  /** Asks what it would change, what is wrong with it, and when it would run. Whether nothing is wrong. */
  async check() {
    clearTimeout(this.timer);
    const asked = ++this.asked;
    let errors = new Map();
    let problem;
    let plan;
    try {
      plan = await ask("POST /namespaces/{namespace}/jobs/{job}/plan", here, { ...this.body, version: this.stored.info.version });
    } catch (e) {
      try {
        if (!isConflict(e)) throw e;
        await this.meet();
      } catch (left) {
        errors = reasonsOf(left);
        if (!errors.size) problem = left;
      }
    }
    if (asked !== this.asked) return false;
    Object.assign(this, { errors, problem, plan });
    this.draw();
    return plan !== undefined;
  }

  /** Changes between the form and the text; what one has become is what the other shows. */
  async turn() {
    if (!this.isText && !this.changed.length) {
      this.isText = true;
      this.text = this.stored.info.document;
    } else if (!this.changed.length) {
      this.begin(this.stored);
    } else if (await this.check()) {
      const plan = /** @type {import("./types/api").Plan} */ (this.plan);
      if (this.isText) this.show(after(this.stored.flat, plan.changes));
      else this.text = plan.after;
      this.isText = !this.isText;
    }
    this.draw();
  }

  /** @param {Flat} flat */
  show(flat) {
    this.fields = Object.fromEntries(Object.entries(flat).filter(([key]) => isField(key)));
    const what = this.stored.info.implementation ?? "";
    this.type = new TypeProps(what, flat, this.described.get(what));
    this.rows = rowsOf(flat, (key) => this.isField(key));
  }

  /** Whether the form has a field for a key. @param {string} key */
  isField(key) {
    return isField(key) || this.type.has(key);
  }

  /** Somebody else may have saved: if so it is shown, or taken if nothing was edited here. */
  async meet() {
    const known = this.newest;
    const theirs = await read();
    if (known !== this.newest || theirs.info.version === known.info.version) return; // this may be older than what was read meanwhile
    if (!this.changed.length) {
      this.begin(theirs);
      this.draw();
      return;
    }
    let mine = this.flat;
    let text;
    if (this.isText) {
      try { // the text against what is there now
        const plan = await ask("POST /namespaces/{namespace}/jobs/{job}/plan", here, { document: this.text });
        mine = after(theirs.flat, plan.changes);
      } catch (e) {
        if (!(e instanceof Problem) || e.status !== 422) throw e;
        [mine, text] = [this.stored.flat, this.text]; // it cannot be read, and stays as it is
      }
    }
    const audit = await ask("GET /namespaces/{namespace}/audit", { namespace, job, limit: 50 }).catch(() => ({ rows: [] })); // who it was is told if that is known
    this.newest = theirs;
    this.conflict = {
      base: this.stored.flat, mine, theirs: theirs.flat, merged: merge(this.stored.flat, mine, theirs.flat), taken: new Set(),
      entries: since(audit.rows, this.stored.info.document), text,
    };
    this.draw();
  }

  /** Goes on from what the other has saved, with what was changed here. */
  goOn() {
    const conflict = this.conflict;
    if (!conflict) return;
    const values = { ...conflict.merged.values };
    for (const key of conflict.taken) take(values, key, conflict.theirs);
    this.begin(this.newest);
    const { text } = conflict;
    this.edit(() => (text === undefined ? this.show(values) : Object.assign(this, { isText: true, text })));
  }
}

/**
 * Who has written the document since it was as it is here: the newest first. A program leaves no entry.
 * @param {import("./types/api").AuditEntry[]} entries
 * @param {string} document
 */
function since(entries, document) {
  const written = entries.filter((e) => isWritten(e.action));
  const end = written.findIndex((e) => e.after?.trim() === document.trim());
  return written.slice(0, end < 0 ? 1 : Math.min(end, 3));
}

/** Whether an action of the audit has written a whole configuration. @param {string} action */
const isWritten = (action) => ["create", "update", "apply"].includes(action);
