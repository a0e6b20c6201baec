// Dialogs: a question in a modal window. Escape, "Cancel" and a click beside it leave everything as it is.
import { draw, h } from "./dom.js";
import { facts, job, namespace } from "./facts.js";
import { w } from "./words.js";

/** @typedef {import("./dom.js").View} View */

/**
 * Opens a dialog and draws what view returns, whenever again is called. It resolves when done is called: with undefined
 * if it was left.
 * @template T
 * @param {string} title
 * @param {(done: (value?: T) => void, again: () => void) => View} view
 * @returns {Promise<T | undefined>}
 */
export function dialog(title, view) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const el = document.createElement("dialog");
  el.setAttribute("aria-label", title);
  document.body.append(el);
  return new Promise((resolve) => {
    /** @param {T} [value] */
    const done = (value) => {
      if (!el.isConnected) return;
      el.close();
      el.remove();
      before?.focus();
      resolve(value);
    };
    const again = () => {
      if (el.isConnected) draw(el, h("h2", null, title), where(), view(done, again));
    };
    el.addEventListener("cancel", (e) => {
      e.preventDefault();
      done();
    });
    el.addEventListener("mousedown", (e) => e.target === el && done());
    again();
    el.showModal();
    /** @type {HTMLElement | null} */ (el.querySelector("[autofocus]"))?.focus();
  });
}

/** Which namespace and job the page is of: pages of two namespaces look alike. */
function where() {
  if (!namespace) return null;
  return h("p", { class: "where" }, w("ui.namespace"), " ", h("strong", null, namespace),
    facts.production ? [" ", h("span", { class: "badge warn" }, w("ui.production"))] : null,
    job ? [" · ", w("ui.job"), " ", h("strong", null, job)] : null);
}

/** The row of buttons at the end of a dialog. @param {() => void} leave @param {...View} buttons */
export function ends(leave, ...buttons) {
  return h("div", { class: "ends" }, h("button", { type: "button", onclick: leave }, w("ui.cancel")), ...buttons);
}
