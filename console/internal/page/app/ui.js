// Small things that many pages have.
import { h } from "./dom.js";
import { Problem } from "./api.js";
import { ago, when, whenFull } from "./time.js";
import { has, term, w } from "./words.js";

/** @typedef {import("./dom.js").Made} Made */
/** @typedef {import("./dom.js").View} View */

/**
 * A word with a sign and a colour: never a colour alone.
 * @param {"good" | "bad" | "warn" | "busy" | "off"} kind
 * @param {View} text
 * @param {string} [title]
 */
export function badge(kind, text, title) {
  return h("span", { class: "badge " + kind, title }, text);
}

/** The kind of badge for words of the API. @type {Record<string, "good" | "bad" | "warn" | "busy" | "off">} */
const kinds = {
  OK: "good", CRASHED: "bad", STOPPED: "bad", NEVER_STARTED: "warn", DISABLED: "off", SHARDING_FLAG: "warn", PENDING: "off", RUNNING: "busy",
  FAILED: "bad", PANIC: "bad", TIMEOUT: "bad", CUT: "warn", KILLED: "off", LOST: "warn", SKIPPED: "off",
  info: "off", warning: "warn", critical: "bad", connected: "good", connecting: "busy", idle: "off", away: "bad",
};

const texts = {
  status: (/** @type {string} */ word) => term("status", word), outcome: (/** @type {string} */ word) => term("outcome", word),
  severity: (/** @type {string} */ word) => term("severity", word), phase: (/** @type {string} */ word) => term("phase", word),
};

/** A status of a job or an item, an outcome, a severity, or how a connection stands. @param {keyof typeof texts} file @param {string} word */
export function state(file, word) {
  return badge(kinds[word] ?? "off", texts[file](word), word);
}

/**
 * A time that goes on: how long ago it is, with all of it for who points at it.
 * @param {string | undefined} t
 */
export function since(t) {
  return t ? h("time", { datetime: t, title: whenFull(t), class: "num" }, ago(t)) : "–";
}

/** A time of day. @param {string | undefined} t */
export function at(t) {
  return t ? h("time", { datetime: t, title: whenFull(t), class: "num" }, when(t)) : "–";
}

/**
 * A notice in the page. Kinds: info, good, warn, bad.
 * @param {"info" | "good" | "warn" | "bad"} kind
 * @param {...View} content
 */
export function note(kind, ...content) {
  return h("div", { class: "note " + kind, role: kind === "bad" ? "alert" : null }, ...content);
}

/**
 * Nothing is there: what that means, and what to do next.
 * @param {View} what
 * @param {...View} next
 */
export function empty(what, ...next) {
  return h("div", { class: "empty" }, h("p", null, what), next.length ? h("p", { class: "next" }, ...next) : null);
}

/**
 * What went wrong, what can be done, and who can help.
 * @param {unknown} error
 * @param {(() => void)} [again]
 */
export function problem(error, again) {
  const p = error instanceof Problem ? error : new Problem({ status: -1, code: "page-error", detail: String(error) });
  return note("bad",
    h("p", null, h("strong", null, has("problem", p.code) ? term("problem", p.code) : w("problem.other"))),
    p.message !== p.code && h("p", { class: "detail" }, p.message),
    p.errors.length ? h("ul", null, p.errors.map((e) => h("li", null, h("code", null, e.field), " ", e.reason))) : null,
    h("p", { class: "help" }, help(p)),
    again && h("p", null, h("button", { onclick: again }, w("ui.again"))));
}

/** Who can help. @param {Problem} p */
function help(p) {
  if (p.status === 0) return w("problem.helpAway");
  if (p.status === 403) return w("problem.helpDenied");
  if (p.status === 404) return w("problem.helpGone");
  if (p.status >= 500 || p.status < 0) return w("problem.helpServer");
  return "";
}

/**
 * Why what a button was pressed for was not done: it stands in the row of the button, comes into sight, and is announced.
 * @param {unknown} error none: nothing
 */
export function refusal(error) {
  return error ? h("div", { key: error, class: "refusal", made: show }, problem(error)) : null;
}

/** @param {Element} el one that is put into the page now */
function show(el) {
  requestAnimationFrame(() => el.scrollIntoView({ block: "nearest" }));
}

/**
 * A block with a heading.
 * @param {View} title
 * @param {{tools?: View, class?: string, id?: string}} o
 * @param {...View} content
 */
export function section(title, o, ...content) {
  return h("section", { key: o.id ?? (typeof title === "string" ? title : undefined), class: "block " + (o.class ?? ""), id: o.id, "aria-label": typeof title === "string" ? title : null },
    h("div", { class: "blockhead" }, h("h2", null, title), o.tools ? h("div", { class: "tools" }, o.tools) : null), ...content);
}

/**
 * Names and values.
 * @param {([View, View] | false | null | undefined)[]} rows those without a value are left out
 */
export function pairs(rows) {
  const there = /** @type {[View, View][]} */ (rows.filter((r) => r && r[1] !== undefined && r[1] !== null && r[1] !== false && r[1] !== ""));
  return h("dl", { class: "pairs" }, there.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}

/**
 * A button that does something. It says that it is busy, keeps the focus, and does not do it twice.
 * @param {View} text
 * @param {(e: Event) => unknown} act
 * @param {{kind?: "first" | "danger" | "quiet", label?: string, title?: string, disabled?: boolean, key?: string}} [o]
 */
export function button(text, act, o = {}) {
  return h("button", {
    type: "button", class: o.kind, "aria-label": o.label, title: o.title, disabled: o.disabled, key: o.key,
    onclick: async (/** @type {Event} */ e) => {
      const el = /** @type {HTMLElement} */ (e.currentTarget);
      if (el.getAttribute("aria-disabled") === "true") return;
      el.setAttribute("aria-disabled", "true");
      try {
        await act(e);
      } finally {
        el.removeAttribute("aria-disabled");
      }
    },
  }, text);
}

/**
 * A menu of actions behind one button; nothing if it has none. A short one, for rows of tables, has a sign for a label.
 * @param {string} label
 * @param {(false | null | undefined | {text: string, act: () => unknown, danger?: boolean})[]} entries
 * @param {string} [about] what the actions are for, for who cannot see where the button stands
 * @param {boolean} [isShort]
 */
export function menu(label, entries, about, isShort) {
  const there = entries.filter((e) => !!e);
  if (!there.length) return null;
  const shut = (/** @type {Event} */ e) => {
    const menu = /** @type {HTMLElement} */ (e.currentTarget).closest("details");
    if (menu) menu.open = false;
    menu?.querySelector("summary")?.focus();
  };
  return h("details", {
    class: isShort ? "actions short" : "actions",
    ontoggle: (/** @type {Event} */ e) => place(/** @type {HTMLDetailsElement} */ (e.currentTarget)),
    onkeydown: (/** @type {KeyboardEvent} */ e) => {
      if (e.key === "Escape") shut(e); // and nothing is returned: false would take the key from the browser
    },
    onfocusout: (/** @type {FocusEvent} */ e) => {
      const menu = /** @type {HTMLDetailsElement} */ (e.currentTarget);
      if (!menu.contains(/** @type {Node | null} */ (e.relatedTarget))) menu.open = false;
    },
  },
  h("summary", { "aria-label": about ? `${label}: ${about}` : isShort ? label : null }, isShort ? "⋯" : label),
  h("div", { class: "list" }, there.map((e) => h("button", {
    type: "button", class: e.danger ? "danger" : null,
    onclick: (/** @type {Event} */ event) => {
      shut(event);
      void e.act();
    },
  }, e.text))));
}

/**
 * Puts the list of an open menu below its button, or above it at the end of the window: a table that scrolls would cut it off
 * if it stood within. It does not follow the button, so scrolling shuts it.
 * @param {HTMLDetailsElement} menu
 */
function place(menu) {
  const list = /** @type {HTMLElement} */ (menu.lastElementChild);
  if (!menu.open) return;
  const button = /** @type {HTMLElement} */ (menu.firstElementChild).getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const below = button.bottom + 4;
  list.style.left = Math.max(8, Math.min(button.right, document.documentElement.clientWidth - 8) - width) + "px";
  list.style.top = (below + height > innerHeight && button.top - height > 8 ? button.top - height - 4 : below) + "px";
  addEventListener("scroll", (e) => e.target !== list && (menu.open = false), { capture: true, once: true });
}

/**
 * Ways between the pages of one thing.
 * @param {string} label
 * @param {[string, string, boolean][]} links text, address, and whether it is this page
 */
export function tabs(label, links) {
  return h("nav", { class: "tabs", "aria-label": label }, links.map(([text, href, here]) => h("a", { href, "aria-current": here ? "page" : null }, text)));
}

/** How it stands with what the page shows. @param {import("./hosttime.js").Standing} s */
export function standingBadge(s) {
  const kind = s.now === "live" ? "good" : s.now === "connecting" ? "busy" : s.now === "doubt" ? "warn" : "bad";
  const text = s.now === "live" ? w("ui.live") : s.now === "connecting" ? w("ui.connecting")
    : s.now === "doubt" ? (s.since === undefined ? w("ui.doubt") : w("ui.doubtSince", { time: when(s.since) }))
    : s.since === undefined ? w("ui.away") : w("ui.awaySince", { time: when(s.since) });
  return badge(kind, text, s.why);
}

/** What somebody has to know who sees what is incomplete or old. @param {import("./hosttime.js").Standing | undefined} s */
export function blindNote(s) {
  if (!s || (s.since === undefined && s.now !== "doubt")) return null;
  return note("warn", h("p", null, s.since === undefined ? w("ui.doubtful") : w("ui.blind", { time: whenFull(s.since) })), s.why ? h("p", { class: "detail" }, s.why) : null);
}

/** An instance, as short as people can tell them apart: address and process. @param {string} id */
export function instanceName(id) {
  const [address, rest] = id.split("@-@");
  return h("span", { class: "instance", title: id }, address, rest ? h("span", { class: "soft" }, " · " + rest.split("-")[0]) : null);
}

/** Copies a text. @param {string} text */
export function copy(text) {
  return button(w("ui.copy"), async (e) => {
    const el = /** @type {HTMLElement} */ (e.currentTarget);
    try {
      await navigator.clipboard.writeText(text);
      el.textContent = w("ui.copied");
    } catch {
      el.textContent = w("ui.notCopied"); // the browser allows it on safe origins alone, and to whom the user allows it
    }
  }, { kind: "quiet" });
}
