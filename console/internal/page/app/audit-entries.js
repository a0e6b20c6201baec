// Entries of the audit: who has changed what, when and why, with what it was before.
import { diffView } from "./diff-view.js";
import { h } from "./dom.js";
import { inNamespace } from "./facts.js";
import { choice, field } from "./form.js";
import { spanFields } from "./span.js";
import { at } from "./ui.js";
import { term, w } from "./words.js";

/** @typedef {import("./types/api").AuditEntry} AuditEntry */

/**
 * Controls for the entries that are wanted, as they stand in the address.
 * @param {Record<string, string>} q
 * @param {{change: (some: Record<string, string>, isTyped?: boolean) => void, by: string[], actions: [string, string][], more?: import("./dom.js").View}} o
 *   by are names to be suggested, actions those to choose from with their texts; more stands before them
 */
export function entryFilters(q, o) {
  return h("form", { class: "fields", role: "search", "aria-label": w("changes.filters"), onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
    o.more ?? null,
    choice({ id: "action", label: w("changes.action"), value: q.action ?? "", options: [["", w("ui.all")], ...o.actions], change: (v) => o.change({ action: v }) }),
    field({ id: "by", label: w("changes.by"), value: q.by ?? "", list: o.by, change: (v) => o.change({ by: v.trim() }, true) }),
    spanFields(q, o.change));
}

/**
 * @param {AuditEntry[]} entries the newest first
 * @param {{opened: Set<string>, draw: () => void, isOfJob?: boolean}} o opened are the ids of those whose documents are
 *   shown, and kept here; isOfJob: all are about the job of the page, which is not named then
 */
export function entryList(entries, o) {
  return h("ol", { class: "entries" }, entries.map((e) => h("li", { key: e.id }, e.error
    ? h("p", { class: "soft detail" }, w("changes.unreadable"), " ", e.error)
    : [
      h("p", { class: "entry" },
        h("span", { class: "when" }, at(e.at)),
        h("span", { class: "by" }, h("strong", null, e.by || w("changes.nobody")), e.from ? h("span", { class: "soft" }, " " + e.from) : null),
        h("span", { class: "what" },
          e.jobs ? w("jobs.nJobs", { n: e.jobs.length }) + " " : null,
          e.job && !o.isOfJob ? [h("a", { href: inNamespace(["jobs", e.job]) }, e.job), " "] : null,
          h("strong", null, term("action", e.action)), e.detail ? " · " + e.detail : null,
          e.why ? h("span", { class: "soft" }, " · " + w("changes.because", { why: e.why })) : null, short(e))),
      e.jobs ? h("details", null, h("summary", null, w("changes.showJobs")), h("p", null, e.jobs.map((job) => [h("a", { href: inNamespace(["jobs", job]) }, job), " "]))) : null,
      long(e, o),
    ])));
}

/** @param {AuditEntry} e */
const isLong = (e) => [e.before, e.after].some((text) => (text ?? "").length > 80 || (text ?? "").includes("\n"));

/** @param {AuditEntry} e */
function short(e) {
  if (isLong(e) || (!e.before && !e.after)) return null;
  return [" · ", e.before ? h("del", null, e.before) : null, e.before && e.after ? " → " : null, e.after ? h("ins", null, e.after) : null];
}

/**
 * Documents are compared when somebody wants to see that.
 * @param {AuditEntry} e
 * @param {{opened: Set<string>, draw: () => void}} o
 */
function long(e, { opened, draw }) {
  if (!isLong(e)) return null;
  const id = e.id ?? "";
  const turn = (/** @type {Event} */ event) => {
    const isOpen = /** @type {HTMLDetailsElement} */ (event.currentTarget).open;
    if (isOpen === opened.has(id)) return;
    if (isOpen) opened.add(id);
    else opened.delete(id);
    draw();
  };
  return h("details", { ontoggle: turn }, h("summary", null, w("changes.show")),
    opened.has(id) ? [e.cut ? h("p", { class: "hint" }, w("changes.cut")) : null, diffView(e.before ?? "", e.after ?? "")] : null);
}
