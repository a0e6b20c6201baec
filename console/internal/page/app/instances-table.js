// The table of instances: a row for each process or job, and below it, when it is open, those of its instances.
import { h } from "./dom.js";
import { inNamespace, manual } from "./facts.js";
import { itemsText } from "./form.js";
import { drain, shutDown } from "./instances-actions.js";
import { orders, serverOf } from "./instances-groups.js";
import { badgesOf, badgesOfAll } from "./instances-states.js";
import { ownerName } from "./owner.js";
import { may, mayAll, maySome } from "./rights.js";
import { sorted, table } from "./table.js";
import { lasting } from "./time.js";
import { button, instanceName, menu, since } from "./ui.js";
import { number, term, w } from "./words.js";

/** @typedef {import("./dom.js").View} View */
/** @typedef {import("./types/api").InstanceInfo} InstanceInfo */
/** @typedef {import("./instances-groups.js").Group} Group */
/** @typedef {import("./instances-groups.js").Way} Way */
/** @typedef {{group: Group, instance?: InstanceInfo, more?: number}} Row a group, one of its instances, or how many more it has */
/** @typedef {{way: Way, order: import("./table.js").Order, isOpen: (g: Group) => boolean, room: (g: Group) => number}} Shown room is how many instances of a group are drawn */
/** @typedef {{open: (g: Group, open: boolean) => void, more: (g: Group) => void, turn: (o: import("./table.js").Order) => void, done: () => void}} Acts */

/**
 * @param {Group[]} groups
 * @param {number} bound how many of them are drawn
 * @param {Shown} s
 * @param {Acts} acts
 * @param {View} empty
 */
export function instancesTable(groups, bound, s, acts, empty) {
  const isByJob = s.way === "job";
  const keys = Object.entries(orders).map(([name, sort]) => ({ name, text: "", cell: () => null, sort }));
  const rows = sorted(groups, keys, s.order).slice(0, bound).flatMap((g) => rowsOf(g, s));
  /** @param {string} name the rows are sorted already, as instances stay below their group */
  const sort = (name) => ({ name, sort: () => 0 });
  return table({
    label: w("instances.list"), rows, empty, order: s.order, turn: acts.turn,
    key: (r) => r.group.key + "\n" + (r.instance ? r.instance.job + "\n" + r.instance.id : r.more ? "more" : ""),
    rowClass: (r) => (r.instance || r.more ? "member" : "group"),
    columns: [
      { ...sort("name"), text: isByJob ? w("instances.job") : w("instances.process"), cell: (r) => (r.more ? more(r, acts) : r.instance ? nameOf(r.instance, isByJob) : groupName(r.group, s, acts)) },
      { ...sort("state"), text: w("instances.state"), cell: (r) => (r.more ? "" : r.instance ? badgesOf(r.instance) : badgesOfAll(r.group.all, isByJob ? "leader" : "")) },
      { ...sort("count"), text: isByJob ? w("instances.instances") : w("instances.jobs"), num: true, cell: (r) => (r.instance || r.more ? "" : number(r.group.all.length)) },
      { ...sort("items"), text: w("instances.items"), num: true, cell: (r) => (r.more ? "" : number(r.instance ? (r.instance.items?.length ?? 0) : r.group.items)) },
      { ...sort("running"), text: w("instances.running"), num: true, cell: (r) => (r.more ? "" : number(r.instance ? (r.instance.running?.length ?? 0) : r.group.running)) },
      { name: "details", text: w("instances.details"), wide: true, cell: (r) => (r.more ? "" : r.instance ? detailsOf(r.instance, isByJob) : isByJob ? jobDetails(r.group) : groupDetails(r.group)) },
      ...(maySome("operator") ? [{ name: "menu", text: w("ui.menu"), unseen: true, cell: (/** @type {Row} */ r) => (r.more ? "" : r.instance ? menuOf(r.instance, acts) : isByJob ? "" : groupMenu(r.group, acts)) }] : []),
    ],
  });
}

/** @param {Group} group @param {Shown} s @returns {Row[]} */
function rowsOf(group, s) {
  if (!s.isOpen(group)) return [{ group }];
  const room = s.room(group);
  const more = group.hits.length - room;
  return [{ group }, ...group.hits.slice(0, room).map((instance) => ({ group, instance })), ...(more > 0 ? [{ group, more }] : [])];
}

/** @param {Group} g @param {Shown} s @param {Acts} acts */
function groupName(g, s, acts) {
  const isOpen = s.isOpen(g);
  const isByJob = s.way === "job";
  const label = w("instances.show", { name: isByJob ? g.key : ownerName(g.key) });
  return h("div", { class: "fold" },
    g.hits.length ? h("button", { type: "button", class: "quiet", "aria-expanded": String(isOpen), "aria-label": label, title: label, onclick: () => acts.open(g, !isOpen) }, h("span", { "aria-hidden": "true" }, isOpen ? "▾" : "▸")) : null,
    h("strong", null, isByJob ? h("a", { href: inNamespace(["jobs", g.key]) }, g.key) : h("a", { href: inNamespace(["servers"], { server: serverOfGroup(g) }) }, instanceName(g.key))));
}

/** @param {Group} g */
const serverOfGroup = (g) => g.all[0]?.server ?? g.process?.server ?? serverOf(g.key);

/** @param {InstanceInfo} i @param {boolean} isByJob */
function nameOf(i, isByJob) {
  return h("div", { class: "within" }, isByJob ? instanceName(i.id) : h("a", { href: inNamespace(["jobs", i.job]), title: i.id }, i.job));
}

/** @param {Row} r @param {Acts} acts */
function more(r, acts) {
  return h("div", { class: "within" }, button(w("instances.moreOf", { n: r.more ?? 0 }), () => acts.more(r.group), { kind: "quiet" }));
}

/** What an instance has and runs, and what is wrong with it. @param {InstanceInfo} i @param {boolean} isByJob */
function detailsOf(i, isByJob) {
  const kept = facts([
    ...(isByJob ? [kindOf(i), ...sessionOf(i), labelsOf(i.labels)] : []),
    i.weight !== undefined && w("instances.weight", { n: i.weight }),
    i.revision !== undefined && w("instances.revision", { n: i.revision }),
  ]);
  if (!i.items?.length && !i.running?.length && !i.error && !i.faults?.length && !kept) return null;
  return h("div", { class: "details" },
    i.items?.length ? h("span", { class: "clamp num", title: itemsText(i.items) }, w("instances.has", { items: itemsText(i.items) })) : null,
    i.running?.length ? h("span", { class: "clamp num", title: itemsText(i.running) }, w("instances.runs", { items: itemsText(i.running) })) : null,
    kept,
    i.error ? h("span", { class: "error-text", lang: "en" }, i.error) : null,
    (i.faults ?? []).slice(0, 3).map((f) => h("span", { class: "error-text", title: f.cause }, h("a", manual("reference/faults", f.kind), term("fault", f.kind)), ": ", h("span", { lang: "en" }, f.cause), f.since ? [" ", since(f.since)] : null)),
    (i.faults?.length ?? 0) > 3 ? h("span", { class: "soft" }, w("actions.more", { n: (i.faults?.length ?? 0) - 3 })) : null);
}

/** @param {Group} g */
function jobDetails(g) {
  const leader = g.all.find((i) => i.leader);
  const jvm = g.all.filter((i) => i.jvm).length;
  return facts([leader && w("instances.led", { instance: ownerName(leader.id) }), jvm > 0 && `${number(jvm)} JVM`]);
}

/** @param {Group} g */
function groupDetails(g) {
  if (!g.all.length && g.process?.error) return h("span", { class: "error-text", lang: "en" }, g.process.error);
  const first = g.all[0];
  const p = g.process;
  const offers = p?.offers ?? [];
  return h("div", { class: "details" },
    facts([first ? kindOf(first) : "Go", ...(first ? sessionOf(first) : []), labelsOf(p?.labels ?? first?.labels, p?.moreLabels)]),
    offers.length ? h("span", { class: "clamp soft", title: offers.join(", ") }, w("instances.offers", { offers: offers.join(", ") }), p?.moreOffers ? " " + w("actions.more", { n: p.moreOffers }) : "") : null,
    g.all.length ? null : h("span", { class: "soft" }, w("instances.idle")));
}

/** @param {(string | false | undefined)[]} all */
function facts(all) {
  const there = all.filter(Boolean);
  return there.length ? h("span", { class: "soft num" }, there.join(" · ")) : null;
}

/** @param {InstanceInfo} i */
function kindOf(i) {
  const version = i.version ? " " + i.version : "";
  return i.jvm ? "JVM" : i.protocol === undefined ? "Go" + version : w("instances.protocol", { n: i.protocol, version });
}

/**
 * Its clock, of which a JVM tells nothing, and its session with the store.
 * @param {InstanceInfo} i
 * @returns {(string | false)[]}
 */
function sessionOf(i) {
  const off = i.clockAhead ?? 0;
  const clock = off > 0 ? w("instances.ahead", { time: lasting(off) }) : off < 0 ? w("instances.behind", { time: lasting(-off) }) : w("instances.inTime");
  return [i.jvm ? false : clock, i.session !== undefined && w("instances.session", { id: i.session })];
}

/** @param {string[] | undefined} labels @param {number} [more] @returns {string | false} */
function labelsOf(labels, more) {
  const all = labels ?? [];
  if (!all.length) return false;
  const rest = all.length - 5 + (more ?? 0);
  return w("instances.labels", { labels: all.slice(0, 5).join(", ") }) + (rest > 0 ? " " + w("actions.more", { n: rest }) : "");
}

/** @param {InstanceInfo} i @param {Acts} acts */
function menuOf(i, acts) {
  if (!may("operator", i.job) || i.leaving) return null;
  return menu(w("ui.menu"), [{ text: w("instances.shutDown"), act: () => shutDown(i, acts.done), danger: true }], `${i.job} ${ownerName(i.id)}`, true);
}

/** @param {Group} g @param {Acts} acts */
function groupMenu(g, acts) {
  const there = g.all.filter((i) => !i.leaving);
  const mayAct = there.length > 0 && (mayAll("operator") || there.every((i) => may("operator", i.job)));
  return menu(w("ui.menu"), [
    mayAct && { text: w("instances.drain"), act: () => drain(there, ownerName(g.key), acts.done), danger: true },
  ], ownerName(g.key), true);
}
