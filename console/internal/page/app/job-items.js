// The items of a job: who has them, what they do, and what came of it.
import { h } from "./dom.js";
import { ranFor } from "./execution.js";
import { facts, inNamespace, namespace } from "./facts.js";
import { choice, field } from "./form.js";
import { itemMenu, itemsMenu } from "./job-item-actions.js";
import { begunOf, kinds, lateOf, ticksToCome, tookOf } from "./job-state.js";
import { query, setQuery } from "./query.js";
import { by, table } from "./table.js";
import { lasting, whenFull } from "./time.js";
import { at, badge, button, empty, instanceName, note, section, state as word } from "./ui.js";
import { number, term, w } from "./words.js";

/** @typedef {import("./types/api").ItemInfo} ItemInfo */
/** @typedef {import("./job-state.js").State} State */
/** @typedef {import("./dom.js").View} View */

/** How many rows are drawn at first, and how many more each time. */
const step = 50;

/** What is looked at: in the address, but for how many. */
export const look = { find: "", kind: "", by: "item", down: false, rows: step };

/** @type {import("./table.js").Kept} */
const kept = new Map();
/** Items as texts, which are made once for each. @type {WeakMap<ItemInfo, string>} */
const texts = new WeakMap();

/** What a row is made of. @param {State} state @param {ItemInfo} i */
function sign(state, i) {
  let text = texts.get(i);
  if (!text) texts.set(i, (text = JSON.stringify(i)));
  const late = lateOf(state, i);
  const goesOn = i.run || late?.overdue ? Math.floor(Date.now() / 1000) : 0;
  return [text, goesOn, state.view.info.paused ? "" : ticksToCome(state.view)[0], begunOf(state, i), late?.overdue ? "" : late?.seconds].join(" ");
}

/** Takes what the address says. */
export function readLook() {
  const q = query();
  const [by, down] = (q.sort ?? "item").split("-");
  Object.assign(look, { find: q.find ?? "", kind: q.items ?? "", by, down: down === "down", rows: step });
}

/** @param {Partial<typeof look>} change @param {() => void} again */
function turn(change, again) {
  Object.assign(look, { rows: step }, change);
  const sort = look.by + (look.down ? "-down" : "");
  setQuery({ find: look.find, items: look.kind, sort: sort === "item" ? "" : sort });
  again();
}

/**
 * The section of the items.
 * @param {State} state
 * @param {{again: () => void, others: ItemInfo[], loadOthers: () => Promise<void>}} o others are those beyond the first 1,000
 */
export function itemsSection(state, o) {
  const view = state.view;
  const all = o.others.length ? [...view.items, ...o.others] : view.items;
  const hits = all.filter((i) => (kinds[look.kind]?.(state, i) ?? true) && fits(i, look.find.trim().toLowerCase()));
  const isSome = hits.length < all.length;
  const total = all.length + (o.others.length ? 0 : view.more?.items ?? 0);
  return section(w("job.itemsTitle"), { id: "items", class: "job-items", tools: isSome && hits.length ? itemsMenu(hits) : null },
    h("div", { class: "fields item-filter" },
      field({ id: "find", type: "search", label: w("job.find"), value: look.find, placeholder: w("job.findHint"), change: (find) => turn({ find }, o.again) }),
      choice({ id: "kind", label: w("job.which"), value: look.kind, options: options(state, all), change: (kind) => turn({ kind }, o.again) })),
    h("p", { class: "hint", role: "status" }, hits.length < total ? w("job.itemsOf", { n: hits.length, all: total }) : w("job.itemsAllOf", { all: total })),
    table({
      label: w("job.itemsTitle"), rows: sortable(hits, state), columns: columns(state), key: (i) => i.item,
      order: { by: look.by, down: look.down }, turn: (order) => turn(order, o.again), rowClass: (i) => (lateOf(state, i)?.overdue ? "late" : null),
      keeps: { rows: kept, sign: (i) => sign(state, i) },
      empty: empty(all.length ? w("job.noHits") : w("job.noItems"), all.length ? button(w("job.showAll"), () => turn({ find: "", kind: "" }, o.again)) : null),
    }),
    hits.length > look.rows ? h("p", null, button(w("ui.more"), () => {
      look.rows += step * 4;
      o.again();
    })) : null,
    view.more?.items && !o.others.length ? note("info", h("p", null, w("job.moreItems", { n: view.more.items })), h("p", null, button(w("job.loadItems"), o.loadOthers))) : null,
    o.others.length ? h("p", { class: "hint" }, w("job.othersOld"), " ", button(w("ui.refresh"), o.loadOthers, { kind: "quiet" })) : null);
}

/**
 * The first rows in the order that is wanted: the table sorts no more than those that it draws.
 * @param {ItemInfo[]} hits
 * @param {State} state
 */
function sortable(hits, state) {
  const compare = columns(state).find((c) => c.name === look.by)?.sort;
  const sorted = compare && !(look.by === "item" && !look.down) ? hits.toSorted((a, b) => (look.down ? compare(b, a) : compare(a, b))) : hits;
  return sorted.slice(0, look.rows);
}

/** Whether an item has begun a tick: of a new one the registry has when its schedule came into force. @param {State} state @param {ItemInfo} i */
function hasBegun(state, i) {
  const age = Date.parse(state.view.since ?? "") - Date.parse(i.lastTick ?? "");
  return !(age >= 0 && age < 1000);
}

/** @param {ItemInfo} i @param {string} text */
function fits(i, text) {
  if (!text) return true;
  if (/^\d+$/.test(text) && String(i.item) === text) return true;
  return [i.parameter, i.instance, i.run?.instance, i.last?.error, i.pin?.label].some((t) => t?.toLowerCase().includes(text));
}

/** @param {State} state @param {ItemInfo[]} all @returns {[string, string][]} */
function options(state, all) {
  /** @type {Record<string, string>} */
  const names = {
    RUNNING: term("status", "RUNNING"), failing: w("job.failing"), late: w("job.late"), waits: w("job.waiting"), SHARDING_FLAG: w("job.unowned"),
    DISABLED: term("status", "DISABLED"), pinned: w("job.pinned"),
  };
  return [["", w("ui.all")], ...Object.keys(kinds).map((kind) => {
    const n = all.reduce((sum, i) => sum + (kinds[kind](state, i) ? 1 : 0), 0);
    return /** @type {[string, string]} */ ([kind, `${names[kind]} (${number(n)})`]);
  })];
}

/** @param {State} state @returns {import("./table.js").Column<ItemInfo>[]} */
function columns(state) {
  const next = ticksToCome(state.view)[0];
  /** @type {import("./table.js").Column<ItemInfo>[]} */
  const all = [
    { name: "item", text: w("job.item"), sort: by((i) => i.item), cell: (i) => [h("strong", { class: "num" }, String(i.item)), i.parameter ? h("span", { class: "parameter soft", title: i.parameter }, i.parameter) : null] },
    { name: "state", text: w("job.state"), sort: by((i) => i.status), cell: (i) => h("div", { class: "badges" }, badges(state, i)) },
    { name: "owner", text: w("job.owner"), sort: by((i) => i.instance), cell: owner },
    { name: "tick", text: w("job.lastTick"), sort: by((i) => i.lastTick), cell: (i) => (hasBegun(state, i) ? at(i.lastTick) : "–") },
    { name: "next", text: w("job.nextTick"), cell: (i) => (i.disabled || state.view.info.paused ? "–" : at(next)) },
    { name: "late", text: w("job.lateness"), num: true, sort: by((i) => lateOf(state, i)?.seconds), cell: (i) => late(state, i) },
    { name: "last", text: w("job.lastRun"), wide: true, sort: by((i) => i.last?.outcome), cell: (i) => last(i) },
    { name: "menu", text: w("ui.menu"), unseen: true, cell: (i) => itemMenu(() => state.view, i) },
  ];
  return all;
}

/** @param {State} state @param {ItemInfo} i */
function badges(state, i) {
  const begun = begunOf(state, i);
  return [
    i.run ? badge("busy", [term("status", "RUNNING"), " ", h("span", { class: "num", title: whenFull(begun) }, begun ? lasting(ranFor(begun)) : "")]) : word("status", i.status),
    i.run && i.status !== "RUNNING" ? word("status", i.status) : null,
    i.run?.lost ? badge("warn", w("job.lost"), w("job.lostText")) : null,
    i.killed ? badge("warn", w("job.killedItem")) : null,
    i.waits ? badge("warn", w("job.waitsItem"), w("job.waitsText")) : null,
    i.misfire ? badge("warn", w("job.misfire"), w("job.misfireText")) : null,
    i.requests?.length ? badge("off", w("job.requested", { n: i.requests.length })) : null,
    i.error ? badge("bad", w("job.unreadable"), i.error) : null,
  ];
}

/** @param {ItemInfo} i */
function owner(i) {
  const runner = i.run?.instance && i.run.instance !== i.instance ? i.run.instance : i.failover;
  const pin = i.pin && (i.pin.instance ?? i.pin.address ?? i.pin.label ?? i.pin.error ?? "");
  return [
    h("div", null, i.instance ? instanceName(i.instance) : h("span", { class: "soft" }, w("job.nobody"))),
    runner ? h("div", { class: "soft" }, w("job.runsOn"), " ", instanceName(runner)) : null,
    i.pin ? h("div", { class: "pin" }, badge(i.pin.holds ? "off" : "warn", w("job.pinnedTo", { where: pin ?? "" }), i.pin.holds ? w("job.pinHolds") : w("job.pinOpen"))) : null,
  ];
}

/** @param {State} state @param {ItemInfo} i */
function late(state, i) {
  const l = lateOf(state, i);
  if (!l) return "–";
  return l.overdue ? badge("warn", w("job.overdue", { time: lasting(l.seconds) })) : lasting(l.seconds);
}

/** @param {ItemInfo} i @returns {View} */
function last(i) {
  const l = i.last;
  if (!l) return h("span", { class: "soft" }, w("job.never"));
  const took = tookOf(l);
  const outcome = word("outcome", l.outcome);
  return [
    h("div", { class: "badges" },
      l.taskId && facts.databases?.[namespace] ? h("a", { href: inNamespace(["history", l.taskId]), "aria-label": w("job.toRun", { item: i.item }) }, outcome) : outcome,
      took !== undefined ? h("span", { class: "num" }, lasting(took)) : null,
      l.source && l.source !== "NORMAL_TRIGGER" ? h("span", { class: "soft" }, term("source", l.source)) : null,
      h("span", { class: "soft" }, at(l.ended))),
    l.error && l.outcome !== "OK" ? h("p", { class: "error-text", title: l.error }, l.error) : null,
  ];
}

