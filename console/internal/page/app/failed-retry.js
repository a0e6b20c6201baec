// The review before failures run again: what would begin and what not, over all namespaces that are meant; and its end.
import { ask } from "./api.js";
import { dialog, ends } from "./dialog.js";
import { h } from "./dom.js";
import { inNamespace } from "./facts.js";
import { check, itemsText } from "./form.js";
import { tell } from "./frame.js";
import { at, problem } from "./ui.js";
import { term, w } from "./words.js";

/** @typedef {import("./types/api").FailedChoice} Choice */
/** @typedef {import("./types/api").FailedPart & {namespace: string}} Part */
/** @typedef {{begun: Part[], left: Part[], more: boolean, errors: [string, unknown][]}} Answer errors are of namespaces */

/** How many parts of each kind are shown. */
const bound = 30;

/**
 * Runs failures of a span again, after a review. It resolves to whether that was tried.
 * @param {{from: string, to?: string}} span
 * @param {Map<string, Choice[]>} wanted jobs by namespaces; none of one means all
 * @param {boolean} older whether ticks that are followed by later ones are meant, too: the user may choose otherwise
 */
export async function retryFailures(span, wanted, older) {
  let isBusy = false;
  /** @type {Answer | undefined} */
  let would;
  const go = async (/** @type {boolean} */ dryRun) => {
    /** @type {Answer} */
    const all = { begun: [], left: [], more: false, errors: [] };
    await Promise.all([...wanted].map(async ([namespace, jobs]) => {
      try {
        const r = await ask("POST /namespaces/{namespace}/failures/retry", { namespace, dryRun }, { ...span, older: older || undefined, jobs: jobs.length ? jobs : undefined });
        all.begun.push(...r.begun.map((p) => ({ ...p, namespace })));
        all.left.push(...r.left.map((p) => ({ ...p, namespace })));
        all.more ||= r.more ?? false;
      } catch (e) {
        all.errors.push([namespace, e]);
      }
    }));
    return all;
  };
  const look = async (/** @type {() => void} */ again) => {
    const asked = older;
    would = undefined;
    again();
    const answer = await go(true);
    if (asked !== older) return; // another look is under way
    would = answer;
    again();
  };
  let isFirst = true;
  return await dialog(w("failed.title"), (/** @type {(done?: boolean) => void} */ close, again) => {
    if (isFirst) {
      isFirst = false;
      queueMicrotask(() => void look(again));
    }
    const act = async () => {
      if (isBusy || !would?.begun.length) return;
      isBusy = true;
      again();
      const did = await go(false);
      tell(did.errors.length || !did.begun.length ? "bad" : "good", h("p", null, h("strong", null, summary(did.begun, w("failed.begun", counts(did.begun)))), " ", did.left.length ? w("failed.nLeft", { n: failuresOf(did.left) }) : ""), errors(did));
      close(true);
    };
    return h("form", {
      class: "change",
      onsubmit: (/** @type {Event} */ e) => {
        e.preventDefault();
        void act();
      },
    },
    check({
      id: "older", label: w("failed.alsoOlder"), hint: w("failed.alsoOlderHint"), value: older, change: (v) => {
        older = v;
        void look(again);
      },
    }),
    h("div", { class: "preview", role: "status" }, would ? review(would) : h("p", null, w("failed.looking"))),
    ends(close, h("button", { type: "submit", class: "first", disabled: !would?.begun.length, "aria-disabled": isBusy ? "true" : null, autofocus: true }, w("failed.retry"))));
  }) === true;
}

/** @param {Answer} a */
function review(a) {
  return [
    h("p", null, h("strong", null, summary(a.begun, w("failed.would", counts(a.begun))))), list(a.begun),
    a.left.length ? [h("p", null, w("failed.nLeft", { n: failuresOf(a.left) })), list(a.left)] : null,
    a.more ? h("p", { class: "hint" }, w("failed.notAll")) : null, errors(a),
  ];
}

/** @param {Part[]} parts @param {string} text */
const summary = (parts, text) => (parts.length ? text : w("failed.nothing"));

/** @param {Answer} a */
const errors = (a) => a.errors.map(([namespace, e]) => h("div", { key: namespace }, h("p", null, h("strong", null, namespace)), problem(e)));

/** @param {Part[]} parts */
const failuresOf = (parts) => parts.reduce((n, p) => n + p.failures, 0);

/** @param {Part[]} parts */
function counts(parts) {
  return { n: failuresOf(parts), jobs: new Set(parts.map((p) => p.namespace + "\n" + p.job)).size, spaces: new Set(parts.map((p) => p.namespace)).size };
}

/** @param {Part[]} parts */
function list(parts) {
  return h("ul", { class: "failures" },
    parts.slice(0, bound).map((p) => h("li", null,
      h("a", { href: inNamespace(["jobs", p.job], {}, p.namespace) }, p.job), h("span", { class: "soft" }, ` · ${p.namespace} · ${w("failed.items", { items: itemsText(p.items) })}`),
      p.tick ? [" · ", at(p.tick)] : null, p.backfill && !p.why ? " · " + w("failed.backfill") : null, p.why ? ": " + [term("left", p.why), p.error].filter(Boolean).join(" ") : null)),
    parts.length > bound ? h("li", null, w("actions.more", { n: parts.length - bound })) : null);
}
