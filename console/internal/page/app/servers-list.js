// The list of servers: where jobs run, and where an operator keeps them from running.
import { h } from "./dom.js";
import { inNamespace } from "./facts.js";
import { changeServer } from "./servers-actions.js";
import { by, table } from "./table.js";
import { badge, menu } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./dom.js").View} View */
/** @typedef {import("./types/api").ServerInfo} ServerInfo */

/** What a list can be narrowed to. @type {{name: string, text: () => string, is: (s: ServerInfo) => boolean}[]} */
export const kinds = [
  { name: "running", text: () => w("servers.running"), is: (s) => s.running > 0 },
  { name: "disabled", text: () => w("servers.disabled"), is: (s) => !!s.disabledJobs },
  { name: "idle", text: () => w("servers.idle"), is: (s) => !s.instances },
];

/**
 * Those that are looked for.
 * @param {ServerInfo[]} rows
 * @param {string} search
 * @param {string} only a name of kinds; empty for all
 */
export function narrowed(rows, search, only) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = kinds.find((k) => k.name === only);
  return rows.filter((s) => (!kind || kind.is(s)) && words.every((word) => s.server.toLowerCase().includes(word)));
}

/** How servers are sorted, by the name of the column. @type {Record<string, (a: ServerInfo, b: ServerInfo) => number>} */
export const orders = {
  server: by((s) => s.server),
  state: by((s) => -(s.disabledJobs ?? 0)),
  jobs: by((s) => s.jobs),
  instances: by((s) => s.instances),
  items: by((s) => s.items),
  running: by((s) => s.running),
};

/** Whether a server may have items, in as few words as can be. @param {{jobs: number, disabledJobs?: number, instances: number}} s */
export function serverBadges(s) {
  const n = s.disabledJobs ?? 0;
  return h("div", { class: "badges" },
    !n ? badge("good", w("servers.enabled")) : n >= s.jobs ? badge("off", w("servers.disabled")) : badge("warn", w("servers.disabledIn", { n, jobs: s.jobs })),
    s.instances ? null : badge("off", w("servers.idle")));
}

/**
 * @param {ServerInfo[]} rows those that are drawn, as they are sorted
 * @param {{order: import("./table.js").Order, turn: (o: import("./table.js").Order) => void, mayAct: boolean, done: () => void, empty: View}} o
 */
export function serversTable(rows, o) {
  const sort = () => 0; // they are sorted already, as some are left out after that
  return table({
    label: w("servers.list"), rows, key: (s) => s.server, order: o.order, turn: o.turn, empty: o.empty,
    columns: [
      { name: "server", text: w("servers.server"), sort, cell: (s) => h("a", { class: "num", href: inNamespace(["servers"], { server: s.server }) }, s.server) },
      { name: "state", text: w("servers.state"), sort, cell: serverBadges },
      { name: "jobs", text: w("servers.jobs"), num: true, sort, cell: (s) => number(s.jobs) },
      { name: "instances", text: w("servers.instances"), num: true, sort, cell: (s) => number(s.instances) },
      { name: "items", text: w("servers.items"), num: true, sort, cell: (s) => number(s.items) },
      { name: "running", text: w("servers.running"), num: true, sort, cell: (s) => number(s.running) },
      ...(o.mayAct ? [{ name: "menu", text: w("ui.menu"), unseen: true, cell: (/** @type {ServerInfo} */ s) => menu(w("ui.menu"), serverActions(s, o.done), s.server, true) }] : []),
    ],
  });
}

/**
 * What may be done with a server in all jobs.
 * @param {{server: string, jobs: number, disabledJobs?: number, instances: number}} s
 * @param {() => void} done
 */
export function serverActions(s, done) {
  const n = s.disabledJobs ?? 0;
  return [
    n > 0 && { text: w("servers.enable"), act: () => changeServer("enable", s.server, done) },
    n < s.jobs && { text: w("servers.drain"), act: () => changeServer("disable", s.server, () => location.assign(inNamespace(["servers"], { server: s.server }))), danger: true },
    s.instances > 0 && { text: w("servers.shutDown"), act: () => changeServer("shutdown", s.server, done), danger: true },
    { text: w("ui.remove"), act: () => changeServer("remove", s.server, done), danger: true },
  ];
}
