// A table of which only the rows in view are in the page, so that it may have very many. All rows are equally high: style
// says how high. Assistive technology is told how many there are, and which one each is.
import { h } from "./dom.js";
import { headCell } from "./table.js";

/** @typedef {import("./dom.js").View} View */
/**
 * @template R
 * @typedef {{name: string, text: string, head?: View | (() => View), cell: (row: R) => View, sort?: boolean, num?: boolean}} WindowColumn
 * head stands in the heading in place of text.
 */

/** How many rows there are above and below those in view. */
const spare = 8;

/**
 * Returns a view of rows. It asks to be drawn again when others come into view.
 * @template R
 * @param {{
 *   label: string, columns: WindowColumn<R>[], key: (row: R) => string, again: () => void, rowClass?: (row: R) => string | null,
 *   order: () => import("./table.js").Order, turn: (order: import("./table.js").Order) => void,
 *   extend?: (from: R, to: R) => void,
 * }} t extend is called when the focus goes from row to row by a key with shift
 * @returns {(rows: R[]) => View}
 */
export function windowTable(t) {
  /** @type {HTMLElement | undefined} */
  let body;
  /** @type {R[]} */
  let all = [];
  let high = 49;
  let from = 0;
  let to = 50;

  const look = () => {
    if (!body?.isConnected || innerWidth < 50) return; // while a picture of the page is taken the window may be a dot
    const row = /** @type {HTMLElement | null} */ (body.querySelector(":scope > tr"));
    const is = row?.offsetHeight || high;
    const top = -body.getBoundingClientRect().top;
    const first = Math.floor(top / is);
    const last = Math.ceil((top + innerHeight) / is);
    if (is === high && Math.max(first, 0) >= from && Math.min(last, all.length) <= to) return;
    high = is;
    from = Math.max(0, first - spare);
    to = last + spare;
    t.again();
  };
  addEventListener("scroll", look, { passive: true });
  addEventListener("resize", look);

  /** The row with the focus stays, wherever it is, or the focus would be lost. */
  const focused = () => /** @type {HTMLElement | null} */ (body?.contains(document.activeElement) ? document.activeElement?.closest("tr") : null)?.dataset.key;

  const shown = () => {
    const indices = [];
    for (let i = from; i < Math.min(to, all.length); i++) indices.push(i);
    const key = focused();
    const i = key === undefined ? -1 : all.findIndex((row) => t.key(row) === key);
    if (i >= 0 && i < from) indices.unshift(i);
    if (i >= Math.max(to, 0)) indices.push(i);
    return indices;
  };

  /** Arrows go to the same control of another row. @param {KeyboardEvent} e */
  const onkeydown = (e) => {
    const at = /** @type {HTMLElement} */ (e.target);
    const row = at.closest("tr");
    if (!row || e.altKey || e.ctrlKey || e.metaKey || at.closest(".list")) return;
    const page = Math.max(1, Math.floor(innerHeight / high) - 3);
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -all.length, End: all.length }[e.key];
    if (!step) return;
    e.preventDefault();
    const now = all.findIndex((r) => t.key(r) === row.dataset.key);
    const next = Math.min(Math.max(now + step, 0), all.length - 1);
    const control = [...row.querySelectorAll(controls)].indexOf(at);
    if (e.shiftKey) t.extend?.(all[now], all[next]);
    go(next, control);
  };

  /** Scrolls to a row and gives the focus to a control of it. @param {number} index @param {number} control */
  const go = (index, control) => {
    if (!body) return;
    const top = body.getBoundingClientRect().top + index * high;
    const head = body.previousElementSibling?.getBoundingClientRect().height ?? 0;
    if (top < head + 8) scrollBy(0, top - head - 8);
    else if (top + high > innerHeight - 8) scrollBy(0, top + high - innerHeight + 8);
    look();
    requestAnimationFrame(() => {
      const row = body?.querySelector(`:scope > tr[aria-rowindex="${index + 2}"]`);
      /** @type {HTMLElement | undefined} */ (row?.querySelectorAll(controls)[control] ?? row?.querySelector(controls))?.focus({ preventScroll: true });
    });
  };

  return (rows) => {
    all = rows;
    queueMicrotask(look);
    return h("table", { class: "window", role: "table", "aria-label": t.label, "aria-rowcount": rows.length + 1 },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row", "aria-rowindex": 1 }, t.columns.map((c) => cellOfHead(c, t.order(), t.turn)))),
      h("tbody", { role: "rowgroup", style: { height: rows.length * high + "px" }, onkeydown, made: (/** @type {HTMLElement} */ el) => (body = el) },
        shown().map((i) => {
          const row = rows[i];
          const key = t.key(row);
          return h("tr", { key, role: "row", "data-key": key, "aria-rowindex": i + 2, class: t.rowClass?.(row) ?? null, style: { top: i * high + "px" } },
            t.columns.map((c) => h("td", { role: "cell", class: "c-" + c.name + (c.num ? " num" : ""), "data-name": c.text }, c.cell(row))));
        })));
  };
}

const controls = "a, button, input, summary";

/**
 * @param {WindowColumn<any>} c
 * @param {import("./table.js").Order} order
 * @param {(order: import("./table.js").Order) => void} turn
 */
function cellOfHead(c, order, turn) {
  if (c.head) return h("th", { scope: "col", role: "columnheader", class: "c-" + c.name }, typeof c.head === "function" ? c.head() : c.head);
  const th = headCell({ name: c.name, text: c.text, cell: () => null, num: c.num, sort: c.sort ? () => 0 : undefined }, order, turn);
  th.props.role = "columnheader";
  th.props.class = "c-" + c.name + (c.num ? " num" : "");
  return th;
}
