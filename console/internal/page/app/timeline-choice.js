// The execution, missed tick or empty place that somebody points at with the mouse or has gone to by keys: its frame and its facts.
import { ask } from "./api.js";
import { hostNow } from "./hosttime.js";
import { draw } from "./dom.js";
import { namespace } from "./facts.js";
import { bandAt, causeFacts, causeText, strip } from "./timeline-causes.js";
import { nearest } from "./timeline-layout.js";
import { has } from "./timeline-paint.js";
import { missedFacts, runFacts, runLink, runText } from "./timeline-parts.js";
import { explain, whyFacts, whyText } from "./timeline-why.js";

/**
 * @typedef {{item: number, row: number, others: number, id?: string, told?: string, missed?: import("./timeline-draw.js").Missed, why?: import("./timeline-why.js").Why, band?: import("./timeline-causes.js").Band}} Chosen row is -1 for a cause, a missed tick and for an empty place, of which why is told; told is the outcome that was told aloud
 * @typedef {{
 *   job: string, runs: import("./timeline-runs.js").Runs, past: import("./timeline-past.js").Past, causes: import("./timeline-causes.js").Causes, paint: import("./timeline-paint.js").Paint,
 *   window: import("./timeline-window.js").Window, lanes: () => import("./timeline-draw.js").LaneName[], box: HTMLElement, link: HTMLAnchorElement, tip: HTMLElement,
 *   place: () => {gutter: number, width: number, head: number, tall: number}, changed: () => void, say: (text: string) => void,
 * }} Surroundings
 */

export class Choice {
  /** @type {Chosen | undefined} */ chosen;
  /** Errors of executions that were pointed at. @type {Map<string, string>} */ #errors = new Map();

  /** @param {Surroundings} around */
  constructor(around) {
    this.around = around;
  }

  /** @param {Chosen | undefined} c @param {boolean} [aloud] */
  choose(c, aloud = false) {
    this.#renew();
    if (c?.row === this.chosen?.row && c?.missed === this.chosen?.missed && c?.why === this.chosen?.why && c?.band === this.chosen?.band) return;
    const { runs, paint, changed } = this.around;
    this.chosen = c;
    changed();
    if (!c || c.row < 0) return;
    c.id = runs.ids[c.row];
    if (aloud) this.#tell(c, hostNow());
    if (paint.kinds[c.row] & has.failed) void this.#loadError(runs.ids[c.row]);
  }

  /** Nobody points at anything any more: what was asked for stays. */
  leave() {
    if (!this.chosen?.why) this.choose(undefined);
  }

  /** The item and the time at a place of the box. @param {number} x @param {number} y */
  #at(x, y) {
    const { window, box } = this.around;
    const { gutter, width, head, tall } = this.around.place();
    const lane = this.around.lanes()[Math.floor((y + box.scrollTop - head) / tall)];
    const pixel = window.length / width;
    return lane && x >= gutter && y >= head ? { lane, pixel, time: window.span.from + (x - gutter) * pixel } : undefined;
  }

  /** The cause at a place of the strip. @param {number} x @param {number} y */
  #bandAt(x, y) {
    const { window, causes } = this.around;
    const { gutter, width, head } = this.around.place();
    const pixel = window.length / width;
    return y < head && y >= head - strip && x >= gutter ? bandAt(causes.within(window.span), window.span.from + (x - gutter) * pixel, 6 * pixel) : undefined;
  }

  /** What is at a place of the box. @param {number} x @param {number} y */
  point(x, y) {
    const { runs, past } = this.around;
    const band = this.#bandAt(x, y);
    if (band) return this.choose({ item: -1, row: -1, others: 0, band });
    const at = this.#at(x, y);
    if (!at) return this.leave();
    const { lane, pixel, time } = at;
    const missed = past.missed.get(lane.item)?.find((m) => Math.abs(m.tick - time) < 6 * pixel);
    if (missed) return this.choose({ item: lane.item, row: -1, others: 0, missed });
    const of = runs.lanes.get(lane.item);
    const [row, others] = of ? nearest(runs, of, time, 5 * pixel, hostNow()) : [-1, 0];
    if (row >= 0) return this.choose({ item: lane.item, row, others });
    const isDue = lane.due !== undefined && time >= lane.due && time <= hostNow();
    if (isDue) this.choose({ item: lane.item, row: -1, others: 0, missed: { item: lane.item, tick: lane.due ?? 0, ticks: 0, why: "overdue" } });
    else this.leave();
  }

  /** Asks why nothing runs at a place of the box. @param {number} x @param {number} y */
  ask(x, y) {
    const at = this.#at(x, y);
    if (at && (!this.chosen || this.chosen.row < 0)) this.#explain(at.lane.item, this.chosen?.missed?.tick ?? at.time);
  }

  /** Asks why nothing runs after the execution that is chosen, until the next one. */
  askAfter() {
    this.#renew();
    const { runs, window } = this.around;
    const c = this.chosen;
    const item = c?.item ?? this.around.lanes()[0]?.item;
    if (item === undefined) return;
    const lane = runs.lanes.get(item);
    const place = c && c.row >= 0 && lane ? lane.rows.indexOf(c.row) + 1 : Infinity;
    const next = lane && place < lane.count ? lane.rows[place] : -1;
    const before = next < 0 ? Infinity : Math.min(runs.begin[next], runs.tick[next] || Infinity) - 1;
    this.#explain(item, c?.missed?.tick ?? c?.why?.time ?? Math.min(before, window.span.to, hostNow()));
  }

  /** @param {number} item @param {number} time */
  #explain(item, time) {
    const { job, changed, say } = this.around;
    const why = { time: Math.min(time, hostNow()) };
    this.choose({ item, row: -1, others: 0, why });
    void explain(job, item, why).then(() => {
      if (this.chosen?.why !== why) return;
      say(whyText(item, why));
      changed();
    });
  }

  /** To the next execution, or that of the next lane at about the same time. @param {number} down @param {number} right */
  step(down, right) {
    this.#renew();
    const { runs, window } = this.around;
    const items = this.around.lanes().map((l) => l.item).filter((item) => runs.lanes.get(item)?.count);
    const c = this.chosen;
    const index = c ? items.indexOf(c.item) + down : 0;
    const item = items[Math.min(Math.max(index, 0), items.length - 1)];
    const lane = runs.lanes.get(item);
    if (!lane) return;
    const time = c && c.row >= 0 ? runs.begin[c.row] : Math.min(window.span.to, hostNow());
    const place = c && c.row >= 0 && down === 0 ? lane.rows.indexOf(c.row) + right : runs.within(lane, time, time + 1)[1] - 1;
    this.#take(item, place);
  }

  /** To the next cause, or the one before. @param {boolean} later */
  stepCause(later) {
    const { causes, window, say } = this.around;
    const at = this.chosen?.band ? causes.bands.indexOf(this.chosen.band) : causes.bands.findLastIndex((b) => b.from < window.span.to) + (later ? 0 : 1);
    const band = causes.bands[at + (later ? 1 : -1)];
    if (!band) return;
    window.show(Math.max(band.from, Math.min(band.to, window.span.from)));
    this.choose({ item: -1, row: -1, others: 0, band });
    say(causeText(band.cause));
  }

  /** To the first or last execution of a lane. @param {boolean} isLast */
  end(isLast) {
    const { runs, window } = this.around;
    const item = this.chosen?.item ?? this.around.lanes()[0]?.item;
    const lane = runs.lanes.get(item);
    if (lane) this.#take(item, isLast ? lane.count - 1 : runs.within(lane, window.span.from, window.span.to)[0]);
  }

  open() {
    this.#renew();
    if (this.chosen && this.chosen.row >= 0) location.assign(runLink(this.around.runs.ids[this.chosen.row]));
    else this.askAfter();
  }

  /** Puts the frame around what is chosen, and its facts below it. @param {number} now */
  show(now) {
    this.#renew();
    const { runs, window, box, link, tip } = this.around;
    const { gutter, width, head, tall } = this.around.place();
    const c = this.chosen;
    const index = c?.band ? 0 : c && (c.missed || c.why || c.row >= 0) ? this.around.lanes().findIndex((l) => l.item === c.item) : -1;
    link.hidden = !c || index < 0 || c.row < 0;
    tip.hidden = !c || index < 0;
    if (!c || index < 0) return;
    const x = (/** @type {number} */ t) => gutter + ((t - window.span.from) / window.length) * width;
    const place = c.missed?.tick ?? c.why?.time ?? c.band?.from;
    const [begin, end] = place === undefined ? this.#bounds(c, now) : [place, place];
    const left = Math.max(x(begin), gutter);
    const top = c.band ? head - tall : head + index * tall;
    if (c.band) {
      draw(tip, causeFacts(c.band.cause));
    } else if (c.missed) {
      draw(tip, ...missedFacts(c.missed));
    } else if (c.why) {
      draw(tip, ...whyFacts(c.item, c.why));
    } else {
      const r = runs.run(c.row);
      link.href = runLink(r.id);
      link.setAttribute("aria-label", runText(r, now));
      draw(tip, ...runFacts(r, c.others, this.#errors.get(r.id), now));
      if (c.told !== undefined && c.told !== r.outcome) this.#tell(c, now); // it has ended
    }
    const size = Math.max(Math.min(x(end), gutter + width) - left, 6);
    Object.assign(link.style, { left: left - 1 + "px", top: top + "px", width: size + 2 + "px", height: tall + "px" });
    const room = (box.parentElement?.clientWidth ?? 0) - tip.offsetWidth;
    Object.assign(tip.style, { left: Math.max(Math.min(left, room), 0) + "px", top: box.offsetTop + top - (c.band ? 0 : box.scrollTop) + tall + 6 + "px" });
  }

  /** @param {Chosen} c @param {number} now */
  #tell(c, now) {
    const run = this.around.runs.run(c.row);
    c.told = run.outcome;
    this.around.say(runText(run, now));
  }

  /** When executions were loaded anew, what is chosen has another row: none until it is there again. */
  #renew() {
    const c = this.chosen;
    if (c?.id) c.row = this.around.runs.rows.get(c.id) ?? -1;
  }

  /** @param {Chosen} c @param {number} now @returns {[number, number]} */
  #bounds(c, now) {
    const { runs } = this.around;
    const lane = runs.lanes.get(c.item);
    const at = lane?.rows.indexOf(c.row) ?? -1;
    return [runs.begin[c.row], Math.min(lane?.until[at] ?? now, now)];
  }

  /** @param {number} item @param {number} place */
  #take(item, place) {
    const { runs, window, box, lanes } = this.around;
    const { head, tall } = this.around.place();
    const lane = runs.lanes.get(item);
    if (!lane) return;
    const row = lane.rows[Math.min(Math.max(place, 0), lane.count - 1)];
    window.show(runs.begin[row]);
    const top = lanes().findIndex((l) => l.item === item) * tall;
    box.scrollTop = Math.min(Math.max(box.scrollTop, top + head + tall - box.clientHeight), top);
    this.choose({ item, row, others: 0 }, true);
  }

  /** @param {string} id */
  async #loadError(id) {
    if (this.#errors.has(id)) return;
    this.#errors.set(id, "");
    try {
      this.#errors.set(id, (await ask("GET /namespaces/{namespace}/history/executions/{execution}", { namespace, execution: id })).error ?? "");
    } catch {
      this.#errors.delete(id); // its page tells what is wrong
    }
    this.around.changed();
  }
}
