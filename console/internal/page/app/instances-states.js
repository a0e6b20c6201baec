// What can be said of an instance in one word: for badges, and to find those of which it holds.
import { h } from "./dom.js";
import { badge } from "./ui.js";
import { number, w } from "./words.js";

/** @typedef {import("./types/api").InstanceInfo} InstanceInfo */
/**
 * @typedef {{name: string, kind: "good" | "bad" | "warn" | "busy" | "off", text: () => string, title?: () => string, is: (i: InstanceInfo) => boolean, quiet?: boolean}} State
 * quiet is one that no badge tells, as there is another place for it.
 */

/** The worst ones first. @type {State[]} */
export const states = [
  { name: "faulty", kind: "bad", text: () => w("instances.faulty"), is: (i) => !!i.faults?.length || !!i.error },
  { name: "clock", kind: "bad", text: () => w("instances.clock"), title: () => w("instances.clockText"), is: (i) => !!i.clockOff || !!i.clockFar },
  { name: "refuses", kind: "bad", text: () => w("instances.refuses"), title: () => w("instances.refusesText"), is: (i) => !!i.refuses },
  { name: "behind", kind: "warn", text: () => w("instances.behind"), title: () => w("instances.behindText"), is: (i) => !!i.behind },
  { name: "old", kind: "warn", text: () => w("instances.old"), title: () => w("instances.oldText"), is: (i) => !!i.old },
  { name: "leaving", kind: "busy", text: () => w("instances.leaving"), title: () => w("instances.leavingText"), is: (i) => !!i.leaving },
  { name: "disabled", kind: "off", text: () => w("instances.disabled"), title: () => w("instances.disabledText"), is: (i) => !i.enabled },
  { name: "leader", kind: "good", text: () => w("instances.leader"), title: () => w("instances.leaderText"), is: (i) => !!i.leader },
  { name: "jvm", kind: "off", text: () => "JVM", is: (i) => !!i.jvm, quiet: true },
  { name: "running", kind: "busy", text: () => w("instances.running"), is: (i) => !!i.running?.length, quiet: true },
];

/** The badges of an instance. @param {InstanceInfo} i */
export function badgesOf(i) {
  return row(states.filter((s) => !s.quiet && s.is(i)).map((s) => badge(s.kind, s.text(), s.title?.())));
}

/** Those of several, with how many each holds of. @param {InstanceInfo[]} all @param {string} [not] a state that is not told */
export function badgesOfAll(all, not) {
  const there = states.filter((s) => !s.quiet && s.name !== not).map((s) => ({ s, n: all.filter(s.is).length })).filter(({ n }) => n > 0);
  return row(there.map(({ s, n }) => badge(s.kind, [s.text(), " ", h("span", { class: "num" }, number(n))], s.title?.())));
}

/** @param {import("./dom.js").Made[]} badges */
const row = (badges) => (badges.length ? h("div", { class: "badges" }, badges) : null);
