// Charts: axes, what stands at the place that one points at or has gone to by keys, and the same as a table.
import { linear } from "./chart-scale.js";
import { h } from "./dom.js";
import { w } from "./words.js";

/** @typedef {import("./dom.js").View} View */
/** @typedef {import("./chart-scale.js").Mark} Mark */
/** @typedef {import("./chart-scale.js").Scale} Scale */
/**
 * @typedef {{from: number, to: number, text: string, cells: View[], href?: string}} Slot a part of the axis below, what it is about, and where it leads
 * @typedef {{
 *   name: string, label: string, summary: string, from: number, to: number, marks: (count: number) => Mark[], sides: Mark[], scale?: typeof linear,
 *   slots: Slot[], heads: string[], legend?: View, draw: (x: Scale, y: Scale) => View,
 * }} Chart sides are the marks of the axis at the side: the first and the last one are its ends; marks are those of the axis below
 */

const height = 200;
const left = 58;
const right = 14;
const top = 8;
const bottom = 24;

export class Charts {
  /** @type {Map<string, number>} */ #widths = new Map();
  /** What somebody points at: the name of a chart and the number of a slot. */
  #here = { name: "", slot: -1 };
  /** @type {Set<string>} */ #tables = new Set();

  /** @param {() => void} again draws the page */
  constructor(again) {
    this.again = again;
    this.observer = new ResizeObserver((all) => {
      for (const { target, contentRect } of all) this.#widths.set(/** @type {HTMLElement} */ (target).dataset.chart ?? "", Math.floor(contentRect.width));
      again();
    });
  }

  /** @param {Chart} c */
  view(c) {
    // Keys may come faster than the page is drawn.
    const here = () => (this.#here.name === c.name ? Math.min(this.#here.slot, c.slots.length - 1) : -1);
    const slot = c.slots[here()];
    const width = this.#widths.get(c.name) ?? 0;
    const x = linear(c.from, c.to, left, width - right);
    const y = (c.scale ?? linear)(c.sides[0].at, c.sides[c.sides.length - 1].at, height - bottom, top);
    const choose = (/** @type {number} */ i) => {
      if (i === here()) return;
      this.#here = { name: c.name, slot: i };
      this.again();
    };
    const at = (/** @type {MouseEvent} */ e) => {
      const place = e.clientX - /** @type {HTMLElement} */ (e.currentTarget).getBoundingClientRect().left;
      return c.slots.findIndex((s) => place >= x(s.from) && place < x(s.to));
    };
    const open = (/** @type {number} */ i) => c.slots[i]?.href && location.assign(c.slots[i].href);
    return h("div", { class: "chart", key: c.name },
      h("div", {
        class: "plot" + (slot?.href ? " leads" : ""), tabindex: "0", role: "slider", "aria-label": c.label, "data-chart": c.name, "aria-valuemin": 0, "aria-valuemax": c.slots.length - 1,
        "aria-valuenow": Math.max(here(), 0), "aria-valuetext": slot?.text ?? c.summary, made: (/** @type {Element} */ el) => this.observer.observe(el),
        onkeydown: (/** @type {KeyboardEvent} */ e) => move(e, here(), c.slots.length, choose, open),
        onpointermove: (/** @type {PointerEvent} */ e) => choose(at(e)),
        onpointerleave: () => choose(-1), onblur: () => choose(-1),
        // A finger shows first what is there.
        onclick: (/** @type {PointerEvent} */ e) => (e.pointerType !== "touch" || at(e) === here()) && open(at(e)),
      },
      width > 0 ? h("svg", { width, height, "aria-hidden": "true" },
        c.sides.map((m) => h("g", { class: "side" }, h("line", { x1: left, x2: width - right, y1: y(m.at), y2: y(m.at) }), h("text", { x: left - 8, y: y(m.at) + 4 }, m.text))),
        c.marks(Math.max(2, Math.floor((width - left) / 80))).filter((m) => x(m.at) <= width - right).map((m) => h("text", { class: "below", x: x(m.at), y: height - 6 }, m.text)),
        slot ? h("rect", { class: "here", x: x(slot.from), y: top, width: Math.max(1, x(slot.to) - x(slot.from)), height: height - top - bottom }) : null,
        h("g", null, c.draw(x, y))) : null,
      slot ? h("p", { class: "tip", style: tipPlace(x((slot.from + slot.to) / 2), width) }, slot.text) : null),
      c.legend ? h("p", { class: "legend soft", "aria-hidden": "true" }, c.legend) : null,
      this.#table(c));
  }

  /** @param {Chart} c */
  #table(c) {
    const isOpen = this.#tables.has(c.name);
    const turn = (/** @type {Event} */ e) => {
      const now = /** @type {HTMLDetailsElement} */ (e.currentTarget).open;
      if (now === isOpen) return;
      if (now) this.#tables.add(c.name);
      else this.#tables.delete(c.name);
      this.again();
    };
    return h("details", { ontoggle: turn }, h("summary", { "aria-label": w("chart.tableOf", { chart: c.label }) }, w("chart.asTable")),
      isOpen ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": c.label }, h("table", null,
        h("thead", null, h("tr", null, c.heads.map((t, i) => h("th", { scope: "col", class: i ? "num" : null }, t)))),
        h("tbody", null, c.slots.map((s) => h("tr", null, s.cells.map((v, i) => (i ? h("td", { class: "num" }, v) : h("th", { scope: "row" }, s.href ? h("a", { href: s.href }, v) : v)))))))) : null);
  }
}

/** @param {number} x @param {number} width */
function tipPlace(x, width) {
  return x < width / 2 ? { left: Math.round(x) + "px", right: "auto" } : { left: "auto", right: Math.round(width - x) + "px" };
}

/**
 * @param {KeyboardEvent} e @param {number} here @param {number} count
 * @param {(i: number) => void} choose @param {(i: number) => void} open
 */
function move(e, here, count, choose, open) {
  const last = count - 1;
  const to = /** @type {Record<string, number>} */ ({
    ArrowLeft: here < 0 ? last : Math.max(0, here - 1), ArrowRight: here < 0 ? 0 : Math.min(last, here + 1), Home: 0, End: last, PageUp: Math.min(last, here + 10), PageDown: Math.max(0, here - 10), Escape: -1,
  })[e.key];
  if (e.key === "Enter") open(here);
  else if (to !== undefined) choose(to);
  else return;
  e.preventDefault();
}

/** Hatches what is bad, so that it can be told without colours. @param {string} id @param {string} kind */
export function hatch(id, kind) {
  return h("pattern", { id, class: "hatch " + kind, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    h("rect", { width: 5, height: 5 }), h("line", { x1: 0, x2: 0, y1: 0, y2: 5 }));
}
