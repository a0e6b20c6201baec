// The timeline of a job: what ran where, what is late, and what took over what. A lane is an item. See timeline-runs.js for what
// is known of executions, timeline-past.js for where it comes from, timeline-draw.js for how it looks.
import { hostNow } from "./hosttime.js";
import { draw, drawing, h } from "./dom.js";
import { query, setQuery } from "./query.js";
import { Choice } from "./timeline-choice.js";
import { Causes, causeTable, strip } from "./timeline-causes.js";
import { drawScene } from "./timeline-draw.js";
import { takeInput } from "./timeline-input.js";
import { coloursOf, has, onColours, Paint } from "./timeline-paint.js";
import { legend, runTable, toolbar } from "./timeline-parts.js";
import { addLive, Past } from "./timeline-past.js";
import { Runs } from "./timeline-runs.js";
import { spans } from "./timeline-scale.js";
import { Window } from "./timeline-window.js";
import { whenFull } from "./time.js";
import { note, problem } from "./ui.js";
import { w } from "./words.js";

/**
 * @typedef {import("./types/api").JobView} JobView
 * @typedef {import("./timeline-draw.js").LaneName} LaneName
 */

/** How tall the axis is, and that with the strip of causes. */
const axis = 26;
const head = axis + strip;

/**
 * Makes a timeline of a job in an element, in which nobody else draws; update tells it how the job is now. The namespace has
 * a history. overdue is for how many seconds an item should have begun already, if it has not.
 * @param {HTMLElement} element
 * @param {{job: string, view?: JobView, overdue?: (item: import("./types/api").ItemInfo) => number | undefined}} o
 * @returns {{update: (view: JobView) => void}}
 */
export function mountTimeline(element, o) {
  draw(element, h("div", { class: "timeline" },
    h("div", { class: "timeline-above" }),
    h("div", { class: "timeline-lanes", tabindex: "0", role: "application", "aria-describedby": "timeline-keys" },
      h("div", { class: "timeline-tall" }, h("canvas", { "aria-hidden": "true" }), h("a", { class: "timeline-bar", tabindex: "-1", hidden: true }))),
    h("div", { class: "timeline-tip", hidden: true }),
    h("div", { class: "timeline-below" })));
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (element.querySelector(name));
  const box = part(".timeline-lanes");
  const canvas = /** @type {HTMLCanvasElement} */ (part("canvas"));

  const runs = new Runs();
  const paint = new Paint();
  const past = new Past(o.job, runs, () => window.span, changed);
  const causes = new Causes(o.job, () => window.span, changed);
  const window = new Window(usualLength(o.view), () => {
    void past.need();
    void causes.need();
    changed();
  });
  /** @type {JobView | undefined} */ let view;
  /** @type {LaneName[]} */ let lanes = [];
  let isNew = true; // the kinds of executions are to be found out again
  let asTable = false;
  let most = 200; // rows of the table
  let heard = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let timer;
  let colours = coloursOf(box);
  const above = drawing(part(".timeline-above"), tools);
  const below = drawing(part(".timeline-below"), results);
  const paintSoon = onFrame(paintNow);

  const choice = new Choice({
    job: o.job, runs, past, causes, paint, window, lanes: () => lanes, box, link: /** @type {HTMLAnchorElement} */ (part(".timeline-bar")), tip: part(".timeline-tip"), place, changed: () => paintSoon(),
    say: (text) => {
      heard = text;
      below();
    },
  });
  takeInput(box, {
    gutter: () => place().gutter, width: () => place().width, point: (x, y) => choice.point(x, y), ask: (x, y) => choice.ask(x, y), leave: () => choice.leave(), close: () => choice.choose(undefined),
    pan: (by) => window.pan(by), zoom: (factor, at) => window.zoom(factor, at), now: () => window.now(),
    step: (down, right) => choice.step(down, right), end: (isLast) => choice.end(isLast), cause: (later) => choice.stepCause(later), open: () => choice.open(), why: () => choice.askAfter(),
  });

  function tools() {
    return h("div", null,
      toolbar({
        length: window.length, isNow: window.follows, by: paint.by, asTable,
        span: (name) => window.ofLength(spans[name]), zoom: (factor) => window.zoom(factor), pan: (by) => window.pan(by), now: () => window.now(),
        colour: (by) => {
          paint.by = by;
          setQuery({ colour: by === "owner" ? undefined : by });
          changed();
        },
        turn: () => {
          asTable = !asTable;
          box.hidden = asTable;
          choice.choose(undefined);
          changed();
        },
      }),
      past.error ? problem(past.error, () => void past.need()) : null,
      past.isShort ? note("warn", w("timeline.short")) : null);
  }

  function results() {
    /** @type {number[]} */
    const rows = [];
    for (const lane of runs.lanes.values()) {
      const [low, high] = runs.within(lane, window.span.from, window.span.to);
      for (let i = low; i < high; i++) rows.push(lane.rows[i]);
    }
    const bands = causes.within(window.span);
    const failed = rows.filter((row) => paint.kinds[row] & has.failed).length;
    return h("div", null,
      h("p", { class: "unseen", id: "timeline-keys" }, w("timeline.keys"), " ", w("timeline.summary", {
        from: whenFull(window.span.from), to: whenFull(Math.min(window.span.to, hostNow())), runs: rows.length, items: lanes.length, failed,
      }), " ", bands.length ? w("timeline.causesN", { n: bands.length }) : ""),
      h("p", { class: "unseen", role: "status" }, heard),
      rows.length || asTable || past.error ? null : h("p", { class: "soft" }, past.isLoading ? w("ui.loading") : w("timeline.none")),
      asTable ? [asRows(rows), causeTable(causes, bands)] : legend(paint.legend(runs, rows), lanes, bands));
  }

  /** @param {number[]} rows */
  function asRows(rows) {
    rows.sort((a, b) => runs.begin[b] - runs.begin[a]);
    const more = () => {
      most += 200;
      below();
    };
    return runTable(rows.slice(0, most).map((row) => runs.run(row)), rows.length, more, hostNow());
  }

  /** Items that there are, and those that have run. */
  function findLanes() {
    /** @type {Map<number, LaneName>} */
    const found = new Map();
    for (const i of view?.items ?? []) {
      found.set(i.item, { item: i.item, name: i.parameter || i.server || "", isOff: !!i.disabled, isAlone: i.status === "SHARDING_FLAG", info: i });
    }
    for (const item of runs.lanes.keys()) if (!found.has(item)) found.set(item, { item, name: "", isOff: true, isAlone: false });
    lanes = [...found.values()].sort((a, b) => a.item - b.item);
    part(".timeline-tall").style.height = head + lanes.length * laneHeight(lanes.length) + "px";
    box.setAttribute("aria-label", w("timeline.label", { job: o.job, n: lanes.length }));
  }

  function place() {
    const gutter = box.clientWidth < 560 ? 40 : lanes.some((l) => l.name) ? 140 : 52;
    return { gutter, width: Math.max(box.clientWidth - gutter, 10), head, tall: laneHeight(lanes.length) };
  }

  function paintNow() {
    const now = hostNow();
    window.goOn(now);
    if (isNew) paint.look(runs);
    isNew = false;
    const [width, height] = [box.clientWidth, box.clientHeight];
    const c = canvas.getContext("2d");
    if (!c || !width) return;
    const dots = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
      [canvas.width, canvas.height] = [Math.round(width * dots), Math.round(height * dots)];
      Object.assign(canvas.style, { width: width + "px", height: height + "px" });
    }
    c.setTransform(dots, 0, 0, dots, 0, 0);
    const { gutter, tall } = place();
    const { span } = window;
    for (const l of lanes) {
      const seconds = l.info && o.overdue?.(l.info);
      l.due = seconds === undefined ? undefined : now - seconds * 1000;
    }
    drawScene(c, {
      runs, kinds: paint.kinds, lanes, bands: causes.within(span), missed: past.missed, span, now, ticks: (view?.ticks ?? []).map((t) => Date.parse(t)),
      known: past.known?.from ?? now, colours, width, height, gutter, axis, head, laneHeight: tall, scroll: box.scrollTop,
    });
    Object.assign(box.dataset, { from: span.from, to: span.to, gutter, head, lane: tall });
    choice.show(now);
    // What runs grows, and the window goes with the clock: as often as half a pixel passes.
    clearTimeout(timer);
    if (now < span.to && now > span.from) timer = setTimeout(paintSoon, Math.min(Math.max(window.length / width / 2, 60), 1000));
  }

  /** There are other executions, or another time is shown. */
  function changed() {
    isNew = true;
    findLanes();
    above();
    below();
    paintSoon();
  }

  /** @param {JobView} now */
  function update(now) {
    const isFirst = view === undefined;
    view = now;
    if (isFirst) paint.know(now.instances);
    if (isFirst && !o.view && !window.isChosen) window.begin(usualLength(now));
    if (addLive(runs, now)) past.polling.now();
    causes.update(now);
    changed();
  }

  const asked = query().colour;
  if (asked === "outcome" || asked === "source") paint.by = asked;
  box.addEventListener("scroll", paintSoon);
  document.addEventListener("visibilitychange", paintSoon);
  new ResizeObserver(paintSoon).observe(box);
  onColours(() => {
    colours = coloursOf(box);
    paintSoon();
  });
  if (o.view) update(o.view);
  void past.need();
  void causes.need();
  changed();
  return { update };
}

/** The length in which a dozen ticks of a job or more are. @param {JobView | undefined} view */
function usualLength(view) {
  if (!view) return spans["1h"];
  const [a, b] = (view.ticks ?? []).map((t) => Date.parse(t));
  if (b === undefined) return spans["24h"];
  return Object.values(spans).find((length) => length >= (b - a) * 12) ?? spans["7d"];
}

/** How tall a lane is: all are seen at once, if they can be told apart then. @param {number} lanes */
function laneHeight(lanes) {
  return Math.max(Math.min(Math.floor((Math.min(innerHeight * 0.6, 640) - head - 2) / Math.max(lanes, 1)), 28), 7);
}

/** Calls act at the next frame, once; nothing is drawn that nobody sees. @param {() => void} act */
function onFrame(act) {
  let asked = false;
  return () => {
    if (asked || document.hidden) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      act();
    });
  };
}
