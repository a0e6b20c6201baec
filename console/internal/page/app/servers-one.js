// One server: its numbers, and the jobs that know it.
import { h } from "./dom.js";
import { inNamespace } from "./facts.js";
import { searchField } from "./filters.js";
import { may, maySome } from "./rights.js";
import { changeServerOf } from "./servers-actions.js";
import { drainNote } from "./servers-drain.js";
import { serverBadges } from "./servers-list.js";
import { by, sorted, table } from "./table.js";
import { badge, button, empty, instanceName, menu, pairs, section } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").JobServer} JobServer */
/** @typedef {import("./types/api").ServerInfo} ServerInfo */
/** @typedef {{info: ServerInfo, jobs: JobServer[]}} One */

const step = 200; // jobs that are drawn at first
const fewInstances = 3; // that are named
let bound = step;
let search = "";
let order = { by: "job", down: false };

/** @param {One} one @param {{again: () => void, done: () => void}} o */
export function serverView(one, o) {
  const { info, jobs } = one;
  const rows = jobs.filter((j) => j.job.toLowerCase().includes(search.trim().toLowerCase()));
  /** @type {import("./table.js").Column<JobServer>[]} */
  const columns = [
    { name: "job", text: w("servers.job"), cell: (j) => h("a", { href: inNamespace(["jobs", j.job]) }, j.job), sort: by((j) => j.job) },
    { name: "state", text: w("servers.state"), cell: (j) => (j.enabled ? badge("good", w("servers.enabled")) : badge("off", w("servers.disabled"))), sort: by((j) => (j.enabled ? 1 : 0)) },
    { name: "instances", text: w("servers.instances"), wide: true, cell: instancesOf, sort: by((j) => j.instances?.length ?? 0) },
  ];
  if (maySome("operator")) columns.push({ name: "menu", text: w("ui.menu"), unseen: true, cell: (j) => menuOf(j, o.done) });
  return [
    drainNote(one),
    section(w("servers.about"), { tools: h("a", { href: inNamespace(["instances"], { server: info.server }) }, w("servers.toInstances")) },
      pairs([
        [w("servers.state"), serverBadges(info)], [w("servers.jobs"), number(info.jobs)], [w("servers.instances"), number(info.instances)],
        [w("servers.items"), number(info.items)], [w("servers.running"), number(info.running)],
      ])),
    section(w("servers.jobs"), { class: "instances" },
      jobs.length > 10 ? h("form", { class: "narrow", role: "search", onsubmit: (/** @type {Event} */ e) => e.preventDefault() }, searchField(search, w("servers.searchJobs"), (text) => {
        search = text;
        bound = step;
        o.again();
      })) : null,
      table({
        label: w("servers.jobs"), rows: sorted(rows, columns, order).slice(0, bound), key: (j) => j.job, order, columns, empty: empty(jobs.length ? w("servers.noHits") : w("servers.noJobs")),
        turn: (to) => {
          order = to;
          o.again();
        },
      }),
      rows.length > bound ? h("p", null, button(w("ui.more"), () => {
        bound += 5 * step;
        o.again();
      })) : null),
  ];
}

/** @param {JobServer} j */
function instancesOf(j) {
  const all = j.instances ?? [];
  if (!all.length) return h("span", { class: "soft" }, w("servers.idle"));
  const rest = all.length - fewInstances;
  return h("div", { class: "badges" }, all.slice(0, fewInstances).map((id) => instanceName(id)), rest > 0 ? h("span", { class: "soft" }, w("actions.more", { n: rest })) : null);
}

/** @param {JobServer} j @param {() => void} done */
function menuOf(j, done) {
  if (!may("operator", j.job)) return null;
  return menu(w("ui.menu"), [
    j.enabled
      ? { text: w("servers.disable"), act: () => changeServerOf("disable", j.server, j.job, done), danger: true }
      : { text: w("servers.enable"), act: () => changeServerOf("enable", j.server, j.job, done) },
    { text: w("ui.remove"), act: () => changeServerOf("remove", j.server, j.job, done), danger: true },
  ], j.job, true);
}
