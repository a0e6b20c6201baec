// The instances and servers of a job.
import { h } from "./dom.js";
import { job } from "./facts.js";
import { itemsText } from "./form.js";
import { clearServers, removeServer, setServers, shutDown } from "./job-actions.js";
import { may } from "./rights.js";
import { table } from "./table.js";
import { badge, button, empty, instanceName, menu, section } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").InstanceInfo} InstanceInfo */
/** @typedef {import("./types/api").JobServer} JobServer */
/** @typedef {import("./job-state.js").State} State */

/** How many rows are drawn at first. */
const step = 50;
const shown = { instances: step, servers: step };

/** @param {State} state @param {() => void} again */
export function instancesSection(state, again) {
  const all = state.view.instances;
  return section(w("job.instances"), {},
    table({
      label: w("job.instances"), rows: all.slice(0, shown.instances), key: (i) => i.id,
      empty: empty(w("job.noInstances"), w("job.noInstancesNext", { implementation: state.view.info.implementation ?? "–" })),
      columns: [
        { name: "id", text: w("job.instance"), cell: (i) => [instanceName(i.id), h("div", { class: "badges" }, instanceBadges(i, state.view.triggers?.includes(i.id)))] },
        { name: "items", text: w("job.itemsTitle"), wide: true, cell: (i) => (i.items?.length ? h("span", { class: "clamp num", title: itemsText(i.items) }, itemsText(i.items)) : "–") },
        { name: "running", text: w("job.running"), num: true, cell: (i) => number(i.running?.length ?? 0) },
        { name: "labels", text: w("job.labels"), cell: (i) => (i.labels?.length ? i.labels.join(", ") : "–") },
        { name: "menu", text: w("ui.menu"), unseen: true, cell: (i) => (may("operator", job) ? menu(w("ui.menu"), [!i.leaving && { text: w("job.shutDown"), act: () => shutDown(i.id), danger: true }], i.id, true) : null) },
      ],
    }),
    more("instances", all.length, state.view.more?.instances, again));
}

/** @param {InstanceInfo} i @param {boolean} [isAsked] to run, in ElasticJob's way */
function instanceBadges(i, isAsked) {
  return [
    i.leader ? badge("good", w("job.leader")) : null,
    i.jvm ? badge("off", "JVM") : null,
    isAsked ? badge("busy", w("job.asked")) : null,
    i.leaving ? badge("busy", w("job.leaving")) : null,
    i.enabled ? null : badge("off", w("job.isDisabled")),
    i.clockOff || i.clockFar ? badge("bad", w("job.clockOff")) : null,
    i.old ? badge("warn", w("job.old"), w("job.oldText")) : null,
    i.refuses ? badge("bad", w("job.refuses")) : i.behind ? badge("warn", w("job.behind")) : null,
    i.faults?.length ? badge("bad", w("job.faultCount", { n: i.faults.length })) : null,
    i.error ? badge("bad", w("job.unreadable"), i.error) : null,
  ];
}

/** @param {State} state @param {() => void} again */
export function serversSection(state, again) {
  const all = state.view.servers;
  const mayAct = may("operator", job);
  const hasDead = all.some((s) => !s.instances?.length);
  return section(w("job.servers"), { tools: mayAct && hasDead ? button(w("job.clearServers"), clearServers) : null },
    table({
      label: w("job.servers"), rows: all.slice(0, shown.servers), key: (s) => s.server, empty: empty(w("job.noServers")),
      columns: [
        { name: "server", text: w("job.server"), cell: (s) => h("span", { class: "num" }, s.server) },
        { name: "state", text: w("job.state"), cell: (s) => (s.enabled ? badge("good", w("job.isEnabled")) : badge("off", w("job.isDisabled"))) },
        { name: "instances", text: w("job.instances"), num: true, cell: (s) => number(s.instances?.length ?? 0) },
        { name: "menu", text: w("ui.menu"), unseen: true, cell: (s) => (mayAct ? serverMenu(s) : null) },
      ],
    }),
    more("servers", all.length, state.view.more?.servers, again));
}

/** @param {JobServer} s */
function serverMenu(s) {
  return menu(w("ui.menu"), [
    s.enabled ? { text: w("job.disable"), act: () => setServers([s.server], false) } : { text: w("job.enable"), act: () => setServers([s.server], true) },
    { text: w("ui.remove"), act: () => removeServer(s.server), danger: true },
  ], s.server, true);
}

/** @param {"instances" | "servers"} name @param {number} n @param {number | undefined} beyond @param {() => void} again */
function more(name, n, beyond, again) {
  if (n > shown[name]) {
    return h("p", null, button(w("ui.more"), () => {
      shown[name] += step * 4;
      again();
    }));
  }
  return beyond ? h("p", { class: "hint" }, w("job.moreRows", { n: beyond })) : null;
}
