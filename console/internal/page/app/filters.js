// Controls above a list: a search, and words that narrow it.
import { h } from "./dom.js";
import { number, w } from "./words.js";

/** @param {string} value @param {string} placeholder @param {(text: string) => void} change */
export function searchField(value, placeholder, change) {
  return h("input", {
    type: "search", id: "search", class: "search", "aria-label": w("ui.search"), placeholder, value, spellcheck: "false", autocomplete: "off",
    oninput: (/** @type {Event} */ e) => change(/** @type {HTMLInputElement} */ (e.target).value),
  });
}

/**
 * Buttons that stay pressed. Those that would find nothing are left out.
 * @param {string} label
 * @param {{name: string, text: string, n: number, isOn: boolean}[]} all
 * @param {(name: string, on: boolean) => void} turn
 */
export function chips(label, all, turn) {
  const there = all.filter((c) => c.n > 0 || c.isOn);
  if (!there.length) return null;
  return h("div", { class: "chips", role: "group", "aria-label": label }, there.map((c) => h("button", {
    type: "button", class: "chip", key: c.name, "aria-pressed": String(c.isOn), onclick: () => turn(c.name, !c.isOn),
  }, c.text, " ", h("span", { class: "num" }, number(c.n)))));
}
