// Properties that no field of the form is for, as a table of names and values.
import { h } from "./dom.js";
import { propKey, propName } from "./settings-model.js";
import { button } from "./ui.js";
import { w } from "./words.js";

/** @typedef {{id: number, name: string, value: string}} Row */

let count = 0;

/**
 * The rows of a configuration.
 * @param {import("./settings-model.js").Flat} flat
 * @param {(key: string) => boolean} isField
 * @returns {Row[]}
 */
export function rowsOf(flat, isField) {
  return Object.keys(flat).filter((key) => propName(key) && !isField(key)).sort().map((key) => ({ id: ++count, name: propName(key), value: flat[key] }));
}

/**
 * @param {Row[]} rows
 * @param {(rows: Row[]) => void} change
 * @param {(key: string) => string | undefined} error
 * @param {boolean} disabled
 */
export function propsTable(rows, change, error, disabled) {
  const names = rows.map((r) => r.name);
  /** @param {Row} row @param {Partial<Row>} part */
  const edit = (row, part) => {
    Object.assign(row, part); // the same row, so that the next key counts, too, if it comes before this is drawn
    change(rows);
  };
  return h("div", { class: "props" },
    rows.length ? h("div", { class: "props-head soft", "aria-hidden": "true" }, h("span", null, w("settings.propName")), h("span", null, w("settings.propValue"))) : h("p", { class: "hint" }, w("settings.noProps")),
    rows.map((row, i) => {
      const id = "prop-" + row.id;
      const isTwice = row.name !== "" && names.indexOf(row.name) !== i;
      const wrong = isTwice ? w("settings.propTwice") : error(propKey(row.name));
      return h("div", { class: "prop", key: row.id },
        h("input", {
          id: id + "-name", class: "code", "aria-label": w("settings.propName"), value: row.name, disabled, spellcheck: "false", autocomplete: "off", "aria-invalid": isTwice ? "true" : null,
          oninput: (/** @type {Event} */ e) => edit(row, { name: /** @type {HTMLInputElement} */ (e.target).value.trim() }),
        }),
        h("textarea", {
          id: id + "-value", class: "code", "aria-label": w("settings.propOf", { name: row.name }), value: row.value, disabled, spellcheck: "false", rows: Math.min(8, Math.max(1, row.value.split("\n").length, Math.ceil(row.value.length / 70))),
          "aria-invalid": wrong ? "true" : null, "aria-describedby": wrong ? id + "-error" : null,
          oninput: (/** @type {Event} */ e) => edit(row, { value: /** @type {HTMLTextAreaElement} */ (e.target).value }),
        }),
        disabled ? null : button("×", () => change(rows.filter((r) => r !== row)), { kind: "quiet", label: w("settings.dropProp", { name: row.name }), title: w("settings.dropProp", { name: row.name }) }),
        wrong ? h("p", { class: "error", id: id + "-error" }, wrong) : null);
    }),
    disabled ? null : h("p", null, button(w("settings.addProp"), () => change([...rows, { id: ++count, name: "", value: "" }]))));
}

/** The rows as keys and values; rows without a name are none. @param {Row[]} rows @returns {import("./settings-model.js").Flat} */
export function flatOfRows(rows) {
  return Object.fromEntries(rows.filter((r) => r.name !== "").map((r) => [propKey(r.name), r.value]));
}
