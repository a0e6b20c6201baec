// The lines of the log of an execution: loaded part by part, live while it runs, searched and filtered where they are.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { namespace } from "./facts.js";
import { check, choice, field } from "./form.js";
import { poll } from "./poll.js";
import { clock, whenFull } from "./time.js";
import { button, note, problem } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").LineInfo} Line */

/** How many lines are loaded, and how many are drawn at once. */
const most = 20000;
const atOnce = 1000;

const levels = ["DEBUG", "INFO", "WARN", "ERROR"];
/** The level of a line, and what it counts for: INFO+1 is more than INFO. @param {string} level */
const weight = (level) => levels.findIndex((name) => level.startsWith(name));

export class Lines {
  /** @type {Line[]} */ lines = [];
  /** @type {unknown} */ error;
  isLoaded = false;
  text = "";
  level = "";
  follow = true;
  shown = atOnce;
  #after = 0;

  /** @param {string} execution @param {() => boolean} isOpen whether more may come @param {() => void} changed */
  constructor(execution, isOpen, changed) {
    this.execution = execution;
    this.changed = changed;
    const asking = poll(async () => {
      if (isOpen() || !this.isLoaded) await this.load();
    }, 1);
    asking.now();
  }

  async load() {
    try {
      while (this.lines.length < most) {
        const { rows } = await ask("GET /namespaces/{namespace}/history/executions/{execution}/lines", { namespace, execution: this.execution, after: this.#after, limit: 1000 });
        this.lines.push(...rows);
        this.#after = rows.at(-1)?.number ?? this.#after;
        if (rows.length < 1000) break;
      }
      this.error = undefined;
      this.isLoaded = true;
    } catch (e) {
      this.error = e;
      throw e; // so that it is asked less often
    } finally {
      this.changed();
    }
  }

  /** Those that are wanted. */
  found() {
    const text = this.text.toLowerCase();
    const least = levels.indexOf(this.level);
    return this.lines.filter((l) => (least < 0 || weight(l.level) >= least) && (!text || l.text.toLowerCase().includes(text)));
  }

  /** @param {boolean} isRunning */
  view(isRunning) {
    if (this.error) return problem(this.error, () => void this.load().catch(() => {})); // load shows it
    if (!this.isLoaded) return h("p", { class: "waiting" }, w("ui.loading"));
    if (!this.lines.length) return h("p", { class: "soft" }, isRunning ? w("run.noLinesYet") : w("run.noLines"));
    const found = this.found();
    const shown = found.slice(-this.shown);
    return h("div", { class: "run-log" },
      this.#tools(found.length, isRunning),
      this.lines.length >= most ? note("warn", w("run.cutLines", { n: most })) : null,
      found.length > shown.length ? button(w("run.earlierLines", { n: found.length - shown.length }), () => {
        this.shown += atOnce;
        this.changed();
      }, { kind: "quiet" }) : null,
      h("div", { class: "run-lines", tabindex: "0", role: "log", "aria-live": "off", "aria-label": w("run.log"), made: (/** @type {Element} */ el) => this.#keep(el) },
        shown.map((l) => h("div", { key: l.number, class: "run-line level-" + (levels[weight(l.level)] ?? "").toLowerCase() },
          h("time", { class: "num", datetime: l.time, title: whenFull(l.time) }, clock(l.time, 12)),
          h("span", { class: "level" }, l.level), h("span", { class: "text" }, marked(l.text, this.text)))),
        found.length ? null : h("p", { class: "soft" }, w("run.noHits"))));
  }

  /** @param {number} hits @param {boolean} isRunning */
  #tools(hits, isRunning) {
    const set = (/** @type {() => void} */ act) => {
      act();
      this.shown = atOnce;
      this.changed();
    };
    return h("div", { class: "run-log-tools" },
      field({ id: "log-search", label: w("run.searchLines"), type: "search", value: this.text, change: (v) => set(() => (this.text = v)) }),
      choice({
        id: "log-level", label: w("run.level"), value: this.level, change: (v) => set(() => (this.level = v)),
        options: [["", w("ui.all")], ["INFO", w("run.levelInfo")], ["WARN", w("run.levelWarn")], ["ERROR", w("run.levelError")]],
      }),
      isRunning ? check({ id: "log-follow", label: w("run.follow"), value: this.follow, change: (v) => set(() => (this.follow = v)) }) : null,
      h("p", { class: "soft", role: "status" }, this.text || this.level ? w("run.hits", { n: hits, all: this.lines.length }) : w("run.lines", { n: hits })));
  }

  /** Keeps the last line in view while somebody follows. @param {Element} el */
  #keep(el) {
    const down = () => {
      if (this.follow) el.scrollTop = el.scrollHeight;
    };
    new MutationObserver(down).observe(el, { childList: true });
    requestAnimationFrame(down);
  }
}

/** A text in which what was searched is marked. @param {string} text @param {string} searched */
function marked(text, searched) {
  if (!searched) return text;
  const out = [];
  const low = text.toLowerCase();
  const part = searched.toLowerCase();
  let from = 0;
  // Lower case may be of another length, such as that of İ: then places do not fit, and nothing is marked.
  for (let at = low.length === text.length ? low.indexOf(part) : -1; at >= 0; at = low.indexOf(part, from)) {
    out.push(text.slice(from, at), h("mark", null, text.slice(at, at + part.length)));
    from = at + part.length;
  }
  out.push(text.slice(from));
  return out;
}
