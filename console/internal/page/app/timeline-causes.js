// What has kept a job from running: bands across a timeline, each with a sign at its beginning in a strip below the axis.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { namespace } from "./facts.js";
import { itemsText } from "./form.js";
import { hostNow } from "./hosttime.js";
import { table } from "./table.js";
import { whenFull } from "./time.js";
import { at } from "./ui.js";
import { term, w } from "./words.js";

/**
 * @typedef {import("./types/api").Cause} Cause
 * @typedef {import("./types/api").JobView} JobView
 * @typedef {import("./timeline-scale.js").Span} Span
 * @typedef {{from: number, to: number, cause: Cause}} Band from may be -Infinity and to Infinity
 */

/** How tall the strip is. */
export const strip = 18;

/** The sign and the colour of each kind. @type {Record<string, [string, "warn" | "bad" | "soft" | "accent"]>} */
const looks = {
  "no-instance": ["∅", "bad"], calendar: ["▦", "soft"], paused: ["‖", "warn"], "servers-disabled": ["⊗", "warn"], "item-disabled": ["⊘", "warn"],
  "new-instances": ["↻", "accent"], configured: ["✎", "accent"], killed: ["✕", "bad"],
};

export class Causes {
  /** By their beginning. @type {Band[]} */ bands = [];
  /** @type {string[]} */ unseen = [];
  /** @type {Span | undefined} */ #known;
  #view = "";
  #isLoading = false;
  #isOld = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #again;

  /** @param {string} job @param {() => Span} wanted what is looked at @param {() => void} changed */
  constructor(job, wanted, changed) {
    this.job = job;
    this.wanted = wanted;
    this.changed = changed;
  }

  /** Sees to it that the causes of what is looked at are there. */
  async need() {
    const { from, to } = this.wanted();
    const k = this.#known;
    if (this.#isLoading || (k && k.from <= from && k.to >= to && !this.#isOld)) return;
    this.#isLoading = true;
    this.#isOld = false;
    const by = (to - from) / 2;
    const known = { from: from - by, to: to + by >= hostNow() ? Infinity : to + by };
    try {
      const found = await ask("GET /namespaces/{namespace}/jobs/{job}/causes", {
        namespace, job: this.job, from: new Date(known.from).toISOString(), to: known.to === Infinity ? undefined : new Date(known.to).toISOString(),
      });
      this.bands = found.causes.map((cause) => ({ from: cause.since ? Date.parse(cause.since) : -Infinity, to: cause.until ? Date.parse(cause.until) : Infinity, cause }));
      this.unseen = found.unseen;
    } catch (e) {
      this.bands = [];
      this.unseen = [String(e)];
    }
    this.#known = known;
    this.#isLoading = false;
    this.changed();
    void this.need();
  }

  /** The job is so now: asks again if that comes of what is a cause, and once more when the history has it, too. @param {JobView} view */
  update(view) {
    const now = JSON.stringify([
      view.info.paused, view.info.status, view.info.version, view.instances.map((i) => i.id), view.servers.map((s) => s.enabled),
      view.items.map((i) => (i.disabled ? 1 : i.last?.outcome === "KILLED" ? i.last.taskId : 0)),
    ]);
    if (now === this.#view) return;
    const isFirst = this.#view === "";
    this.#view = now;
    const again = () => {
      this.#isOld = true;
      void this.need();
    };
    again();
    clearTimeout(this.#again);
    if (!isFirst) this.#again = setTimeout(again, 5000);
  }

  /** Those of a span of time. @param {Span} span */
  within(span) {
    return this.bands.filter((b) => b.from < span.to && b.to >= span.from);
  }
}

/** The band at a place of the strip: of several the shortest. @param {Band[]} bands @param {number} time @param {number} near */
export function bandAt(bands, time, near) {
  return bands.filter((b) => b.from - near <= time && b.to + near >= time).sort((a, b) => a.to - a.from - (b.to - b.from))[0];
}

/**
 * Shades the lanes that bands are about.
 * @param {CanvasRenderingContext2D} c @param {import("./timeline-draw.js").Scene} s @param {(t: number) => number} x
 * @param {number} first @param {number} last @param {(lane: number) => number} top
 */
export function shade(c, s, x, first, last, top) {
  for (const b of s.bands) {
    const [left, right] = edges(s, b, x);
    const items = b.cause.items && new Set(b.cause.items);
    c.fillStyle = colour(s, b);
    for (let lane = first; lane < last; lane++) {
      if (items && !items.has(s.lanes[lane].item)) continue;
      c.globalAlpha = 0.15;
      c.fillRect(left, top(lane), right - left, s.laneHeight);
      c.globalAlpha = 0.7;
      if (left > s.gutter) c.fillRect(left, top(lane), 1, s.laneHeight);
    }
  }
  c.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} c @param {import("./timeline-draw.js").Scene} s @param {string} font @param {(t: number) => number} x */
export function drawStrip(c, s, font, x) {
  const top = s.head - strip;
  c.save();
  c.beginPath();
  c.rect(s.gutter, top, s.width - s.gutter, strip);
  c.clip();
  c.font = "600 12px " + font;
  c.textAlign = "center";
  c.textBaseline = "middle";
  let free = 0; // where the next sign has room
  for (const b of s.bands) {
    const [left, right] = edges(s, b, x);
    c.fillStyle = colour(s, b);
    c.globalAlpha = 0.3;
    c.fillRect(left, top + 3, right - left, strip - 6);
    c.globalAlpha = 1;
    c.fillRect(left, top + 1, 2, strip - 2);
    c.fillStyle = s.colours.ink;
    const place = Math.max(left, free);
    if (place > left + 60) continue;
    c.fillText(looks[b.cause.kind]?.[0] ?? "?", place + 9, top + strip / 2 + 0.5);
    free = place + 14;
  }
  c.restore();
}

/** @param {import("./timeline-draw.js").Scene} s @param {Band} b @param {(t: number) => number} x */
function edges(s, b, x) {
  const left = Math.max(Math.round(x(b.from)), s.gutter);
  return [left, Math.max(Math.round(Math.min(x(Math.min(b.to, s.now)), s.width)), left + 1)];
}

/** @param {import("./timeline-draw.js").Scene} s @param {Band} b */
const colour = (s, b) => s.colours[looks[b.cause.kind]?.[1] ?? "soft"];

/** From when to when a cause held, and who has made it so. @param {Cause} c */
export function circumstances(c) {
  const isMoment = c.since !== undefined && c.since === c.until;
  const time = isMoment ? whenFull(c.since) : `${whenFull(c.since)} – ${whenFull(c.until)}`;
  return [c.since || c.until ? time : "", c.by, c.why].filter(Boolean).join(" · ");
}

/** The facts of a cause. @param {Cause} c */
export function causeFacts(c) {
  const about = circumstances(c);
  return h("div", { class: "cause" },
    h("p", null, h("strong", null, term("cause", c.kind))),
    about ? h("p", null, about) : null,
    h("p", { class: "hint" }, c.text),
    c.items ? h("p", { class: "hint" }, w("timeline.itemN", { n: itemsText(c.items) })) : null,
    c.command ? h("p", null, h("code", null, c.command)) : null);
}

/** The same in one line, for who hears it. @param {Cause} c */
export function causeText(c) {
  return [term("cause", c.kind), c.items ? w("timeline.itemN", { n: itemsText(c.items) }) : "", circumstances(c)].filter(Boolean).join(", ");
}

/** What the signs mean. @param {Band[]} bands */
export function causeLegend(bands) {
  return Object.entries(looks).filter(([kind]) => bands.some((b) => b.cause.kind === kind)).map(([kind, [sign, name]]) => h("li", { key: "cause " + kind },
    h("span", { class: "timeline-sign sign-cause", style: { background: `color-mix(in srgb, var(--${name}) 25%, transparent)`, "border-color": `var(--${name})` } }, sign), term("cause", kind)));
}

/** @param {Causes} causes @param {Band[]} bands */
export function causeTable(causes, bands) {
  return h("div", null,
    table({
      label: w("timeline.causes"), rows: bands.toReversed(), key: (b) => [b.cause.kind, b.cause.since, b.cause.until, b.cause.items, b.cause.text].join(), empty: h("p", { class: "empty" }, w("timeline.noCauses")),
      columns: [
        { name: "cause", text: w("timeline.cause"), cell: (b) => [looks[b.cause.kind]?.[0], " ", term("cause", b.cause.kind)] },
        { name: "items", text: w("timeline.item"), cell: (b) => (b.cause.items ? itemsText(b.cause.items) : "–") },
        { name: "since", text: w("timeline.since"), cell: (b) => (b.cause.since ? at(b.cause.since) : "–") },
        { name: "until", text: w("timeline.until"), cell: (b) => (b.cause.until ? at(b.cause.until) : "–") },
        { name: "by", text: w("timeline.by"), cell: (b) => [b.cause.by, b.cause.why].filter(Boolean).join(" · ") || "–" },
        { name: "text", text: w("timeline.detail"), cell: (b) => b.cause.text },
      ],
    }),
    causes.unseen.map((text) => h("p", { class: "hint" }, text)));
}
