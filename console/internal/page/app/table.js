// Tables: sorted by a click on a heading, in cards of names and values where the window is narrow.
import { h } from "./dom.js";
import { w } from "./words.js";

/** @typedef {import("./dom.js").View} View */
/**
 * @template R
 * @typedef {{name: string, text: string, cell: (row: R) => View, sort?: (a: R, b: R) => number, num?: boolean, wide?: boolean, unseen?: boolean}} Column
 * unseen is a heading for those alone who cannot see the table: that of a column of menus.
 */
/** @typedef {{by: string, down: boolean}} Order */
/** @typedef {Map<string | number, {sign: string, row: import("./dom.js").Made}>} Kept */

/**
 * A table. order is how it is sorted, and turn sorts it otherwise; without turn it is as the rows are. Rows that a
 * table keeps are made again only when their sign is another one: of many rows that are drawn each second, few change.
 * @template R
 * @param {{
 *   label: string, rows: R[], columns: Column<R>[], key: (row: R) => string | number, order?: Order, turn?: (order: Order) => void,
 *   rowClass?: (row: R) => string | null, empty?: View,
 *   keeps?: {rows: Kept, sign: (row: R) => string},
 * }} t
 */
export function table(t) {
  if (!t.rows.length && t.empty) return t.empty;
  // Cards are no table by their style, so it is said that they are.
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t.label }, h("table", { class: "cards", role: "table" },
    h("caption", { class: "unseen" }, t.label),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, t.columns.map((c) => headCell(c, t.order, t.turn)))),
    h("tbody", { role: "rowgroup" }, bodyRows(t))));
}

/**
 * @template R
 * @param {Parameters<typeof table<R>>[0]} t
 */
function bodyRows(t) {
  const rows = sorted(t.rows, t.columns, t.order);
  const make = (/** @type {R} */ row) => h("tr", { key: t.key(row), role: "row", class: t.rowClass?.(row) ?? null }, t.columns.map((c) => bodyCell(c, row)));
  const keeps = t.keeps;
  if (!keeps) return rows.map(make);
  const before = new Map(keeps.rows);
  keeps.rows.clear();
  return rows.map((r) => {
    const key = t.key(r);
    const sign = keeps.sign(r);
    const old = before.get(key);
    const row = old?.sign === sign ? old.row : make(r);
    keeps.rows.set(key, { sign, row });
    return row;
  });
}

/**
 * @template R
 * @param {Column<R>} c
 * @param {R} row
 */
function bodyCell(c, row) {
  const styles = [c.num && "num", c.wide && "wide", c.unseen && "end"].filter(Boolean).join(" ");
  return h("td", { role: "cell", class: styles || null, "data-name": c.unseen ? null : c.text }, c.cell(row));
}

/**
 * @param {Column<any>} c
 * @param {Order} [order]
 * @param {(order: Order) => void} [turn]
 */
export function headCell(c, order, turn) {
  const here = order?.by === c.name;
  const content = c.sort && turn
    ? h("button", { type: "button", class: "sort", title: w("ui.sort", { by: c.text }), onclick: () => turn({ by: c.name, down: here ? !order.down : false }) },
      c.text, h("span", { "aria-hidden": "true", class: "arrow" }, here ? (order.down ? "▼" : "▲") : ""))
    : c.unseen ? h("span", { class: "unseen" }, c.text) : c.text;
  return h("th", { scope: "col", role: "columnheader", class: c.num ? "num" : null, "aria-sort": here ? (order.down ? "descending" : "ascending") : null }, content);
}

/**
 * @template R
 * @param {R[]} rows
 * @param {Column<R>[]} columns
 * @param {Order} [order]
 */
export function sorted(rows, columns, order) {
  const compare = columns.find((c) => c.name === order?.by)?.sort;
  if (!order || !compare) return rows;
  return rows.toSorted((a, b) => (order.down ? compare(b, a) : compare(a, b)));
}

/**
 * Compares by a value: a number or a text; what has none comes last.
 * @template R
 * @param {(row: R) => string | number | undefined} value
 */
export function by(value) {
  return (/** @type {R} */ a, /** @type {R} */ b) => {
    const x = value(a);
    const y = value(b);
    if (x === y) return 0;
    if (x === undefined || x === "") return 1;
    if (y === undefined || y === "") return -1;
    return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true });
  };
}
