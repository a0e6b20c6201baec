// Controls with their labels, hints and errors.
import { h } from "./dom.js";

/** @typedef {import("./dom.js").View} View */
/**
 * @typedef {{
 *   label: string, id: string, value: string, change: (value: string) => void, hint?: View, error?: View,
 *   type?: string, required?: boolean, placeholder?: string, rows?: number, list?: string[], autofocus?: boolean,
 *   disabled?: boolean, autocomplete?: string, code?: boolean, optional?: View,
 * }} Field
 */

/** @param {Field} f @param {View} control */
function around(f, control) {
  return h("div", { class: "field" + (f.error ? " wrong" : "") },
    h("label", { for: f.id }, f.label), control,
    f.error ? h("p", { class: "error", id: f.id + "-error" }, f.error) : null,
    f.hint ? h("p", { class: "hint", id: f.id + "-hint" }, f.hint) : null);
}

/** @param {Field} f */
function common(f) {
  const about = [f.error && f.id + "-error", f.hint && f.id + "-hint"].filter(Boolean).join(" ");
  return {
    id: f.id, name: f.id, value: f.value, required: f.required, placeholder: f.placeholder, disabled: f.disabled, autofocus: f.autofocus,
    "aria-describedby": about || null, "aria-invalid": f.error ? "true" : null,
    oninput: (/** @type {Event} */ e) => f.change(/** @type {HTMLInputElement} */ (e.target).value),
  };
}

/** A line of text; with list, others are suggested. @param {Field} f */
export function field(f) {
  return around(f, [
    h("input", { ...common(f), type: f.type ?? "text", autocomplete: f.autocomplete ?? "off", spellcheck: "false", class: f.code ? "code" : null, list: f.list ? f.id + "-list" : null }),
    f.list ? h("datalist", { id: f.id + "-list" }, f.list.map((value) => h("option", { value }))) : null,
  ]);
}

/** Several lines. @param {Field} f */
export function area(f) {
  return around(f, h("textarea", { ...common(f), rows: f.rows ?? 4, spellcheck: "false", class: f.code ? "code" : null }));
}

/**
 * One of several.
 * @param {Field & {options: [string, string][]}} f values and texts
 */
export function choice(f) {
  return around(f, h("select", { ...common(f), oninput: null, onchange: common(f).oninput, value: f.value },
    f.options.map(([value, text]) => h("option", { value, key: value }, text))));
}

/**
 * Yes or no.
 * @param {{label: View, id: string, value: boolean, change: (value: boolean) => void, hint?: View, disabled?: boolean}} f
 */
export function check(f) {
  return h("div", { class: "field check" },
    h("label", { for: f.id }, h("input", {
      type: "checkbox", id: f.id, checked: f.value, disabled: f.disabled, "aria-describedby": f.hint ? f.id + "-hint" : null,
      onchange: (/** @type {Event} */ e) => f.change(/** @type {HTMLInputElement} */ (e.target).checked),
    }), " ", f.label),
    f.hint ? h("p", { class: "hint", id: f.id + "-hint" }, f.hint) : null);
}

/** Numbers of items as people write them: 0-3, 7. @param {string} text @returns {number[] | undefined} undefined: it cannot be read */
export function itemsOf(text) {
  /** @type {Set<number>} */
  const out = new Set();
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const m = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part);
    if (!m) return undefined;
    const from = Number(m[1]);
    const to = Number(m[2] ?? m[1]);
    if (to < from || to - from >= 100000) return undefined;
    for (let i = from; i <= to; i++) out.add(i);
  }
  return [...out].sort((a, b) => a - b);
}

/** Numbers of items, as short as can be: 0-3, 7. @param {number[] | undefined} items */
export function itemsText(items) {
  const out = [];
  const all = items ?? [];
  for (let i = 0; i < all.length; ) {
    let j = i;
    while (j + 1 < all.length && all[j + 1] === all[j] + 1) j++;
    out.push(j === i ? `${all[i]}` : j === i + 1 ? `${all[i]}, ${all[j]}` : `${all[i]}–${all[j]}`);
    i = j + 1;
  }
  return out.join(", ");
}
