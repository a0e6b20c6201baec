// How a page changes something: it asks when that is dangerous, shows what would change, does it, and tells what it did.
import { Problem } from "./api.js";
import { dialog, ends } from "./dialog.js";
import { h } from "./dom.js";
import { tell } from "./frame.js";
import { field } from "./form.js";
import { button, problem, refusal } from "./ui.js";
import { term, w } from "./words.js";

/** @typedef {import("./dom.js").View} View */
/** @typedef {import("./types/api").Change} Change */
/**
 * @typedef {{
 *   title: string, text?: View, does: string, danger?: boolean,
 *   form?: (again: () => void, error: unknown) => View, valid?: () => boolean, why?: boolean,
 *   run: (o: {dryRun: boolean, why: string}) => Promise<{changes?: Change[], outcomes?: import("./types/api").JobOutcome[], id?: string} | void | undefined>,
 *   preview?: boolean, shows?: (answer: any) => View, warns?: (answer: any) => View, done?: (answer: any) => void, quiet?: boolean,
 * }} Action
 * title is a question or what is done; does the word on the button; form other controls, which may show what is wrong beside a
 * field; why asks for a reason; preview shows what a dry run answers, and shows what else it tells; warns shows
 * what the user should know of the answer, before and after; quiet tells nothing, as the
 * page shows it.
 */

/**
 * Asks about an action, and does it. It resolves to whether it was done.
 * @param {Action} a
 * @returns {Promise<boolean>}
 */
export async function askAbout(a) {
  let why = "";
  let busy = false;
  /** @type {unknown} */
  let error;
  /** @type {any} the answer to a dry run */
  let preview;
  const done = await dialog(a.title, (close, again) => {
    const look = async () => {
      error = undefined;
      try {
        preview = (await a.run({ dryRun: true, why })) ?? {};
      } catch (e) {
        error = e;
      }
      again();
    };
    const act = async () => {
      if (busy) return;
      busy = true;
      error = undefined;
      again();
      try {
        const answer = await a.run({ dryRun: false, why });
        report(a, answer);
        close(true);
      } catch (e) {
        busy = false;
        error = e;
        again();
      }
    };
    if (a.preview && preview === undefined && !error && !a.form) void look();
    return h("form", {
      method: "dialog",
      onsubmit: (/** @type {Event} */ e) => {
        e.preventDefault();
        if (a.valid?.() ?? true) void act();
      },
    },
    a.text ? h("div", { class: "text" }, a.text) : null,
    a.form?.(() => {
      preview = undefined; // it was of what stood there before
      again();
    }, error),
    a.why ? field({ label: w("actions.why"), id: "why", value: why, change: (v) => (why = v), hint: w("actions.whyHint") }) : null,
    preview ? h("div", { class: "preview" }, h("p", null, w("actions.would")), changeList(changesOf(preview)), a.warns?.(preview), a.shows?.(preview)) : null,
    ends(() => close(), refusal(error),
      a.preview && a.form ? button(w("actions.preview"), look) : null,
      h("button", { type: "submit", class: a.danger ? "danger" : "first", "aria-disabled": busy ? "true" : null, disabled: !(a.valid?.() ?? true), autofocus: !a.form && !a.danger }, a.does)));
  });
  return done === true;
}

/**
 * Does an action at once, for what is not dangerous.
 * @param {Action} a
 */
export async function run(a) {
  try {
    report(a, await a.run({ dryRun: false, why: "" }));
    return true;
  } catch (e) {
    tell("bad", problem(e));
    return false;
  }
}

/** @param {Action} a @param {any} answer */
function report(a, answer) {
  a.done?.(answer);
  if (a.quiet) return;
  const failed = /** @type {import("./types/api").JobOutcome[]} */ (answer?.outcomes ?? []).filter((o) => o.error);
  if (failed.length) {
    tell("bad", h("p", null, w("actions.failed", { n: failed.length })), h("ul", null, failed.slice(0, 10).map((o) => h("li", null, `${o.job}: ${o.error?.detail}`))));
    return;
  }
  const changes = changesOf(answer);
  const tells = answer?.changes || answer?.outcomes; // what changes no job has no entry in the audit
  tell("good", h("p", null, h("strong", null, a.title.replace(/[?？]$/, "")), " ", changes.length || answer?.id || !tells ? w("actions.done") : w("actions.already")),
    tells ? changeList(changes) : null, a.warns?.(answer));
}

/** @param {any} answer @returns {Change[]} */
function changesOf(answer) {
  return answer?.changes ?? (answer?.outcomes ?? []).flatMap((/** @type {any} */ o) => o.changes ?? []);
}

/** What has changed, or would: at most ten. @param {Change[]} changes */
function changeList(changes) {
  if (!changes.length) return h("p", { class: "hint" }, w("actions.nothing"));
  const short = changes.slice(0, 10);
  return h("ul", { class: "changes" },
    short.map((c) => h("li", null, [c.job, term("action", c.action), c.detail].filter(Boolean).join(" · "), values(c))),
    changes.length > short.length ? h("li", null, w("actions.more", { n: changes.length - short.length })) : null);
}

/** @param {Change} c */
function values(c) {
  const isShort = (/** @type {string | undefined} */ t) => (t ?? "").length <= 60 && !(t ?? "").includes("\n");
  if ((!c.before && !c.after) || !isShort(c.before) || !isShort(c.after)) return null;
  return [": ", c.before ? h("del", null, c.before) : null, c.before && c.after ? " → " : null, c.after ? h("ins", null, c.after) : null];
}

/** Whether an error says that somebody else has changed it meanwhile. @param {unknown} e */
export function isConflict(e) {
  return e instanceof Problem && e.status === 412;
}
