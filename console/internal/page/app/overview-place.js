// Where jobs run, and what the store tells of itself.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { inNamespace, namespace } from "./facts.js";
import { mayAll } from "./rights.js";
import { badge, empty, note, pairs } from "./ui.js";
import { number, term, w } from "./words.js";

/** @typedef {import("./types/api").JobInfo} JobInfo */
/** @typedef {import("./types/api").ServerInfo} ServerInfo */
/** @typedef {import("./types/api").StoreFacts} StoreFacts */
/** @typedef {import("./types/api").MemberFacts} MemberFacts */
/** @typedef {{servers: ServerInfo[], more: boolean, processes?: number, moreProcesses?: boolean}} Places */

const maxServers = 8;

/** @returns {Promise<Places>} */
export async function loadPlaces() {
  const [servers, processes] = await Promise.all([
    ask("GET /namespaces/{namespace}/servers", { namespace, limit: 1000 }),
    mayAll("viewer") ? ask("GET /namespaces/{namespace}/processes", { namespace, limit: 1000 }) : undefined,
  ]);
  return { servers: servers.rows, more: !!servers.next, processes: processes?.rows.length, moreProcesses: !!processes?.next };
}

/** @param {number} n @param {boolean | undefined} more */
const atLeast = (n, more) => number(n) + (more ? "+" : "");

/** @param {Places} p @param {Iterable<JobInfo>} jobs */
export function places(p, jobs) {
  const sums = { go: 0, jvm: 0, leaving: 0, faults: 0 };
  for (const j of jobs) {
    sums.go += j.instances - (j.jvm ?? 0);
    sums.jvm += j.jvm ?? 0;
    sums.leaving += j.leaving ?? 0;
    sums.faults += j.faults ?? 0;
  }
  if (!p.servers.length) return empty(w("overview.noServers"), w("overview.noServersNext"));
  const rows = p.servers.toSorted((a, b) => b.items - a.items).slice(0, maxServers);
  return [
    pairs([
      [w("overview.servers"), atLeast(p.servers.length, p.more)],
      p.processes !== undefined && [w("overview.processes"), atLeast(p.processes, p.moreProcesses)],
      [w("overview.go"), number(sums.go)],
      [w("overview.jvm"), number(sums.jvm)],
      [w("overview.leaving"), number(sums.leaving)],
      [w("overview.faults"), sums.faults ? h("a", { href: inNamespace(["jobs"], { faulty: "true" }) }, badge("bad", number(sums.faults))) : "0"],
    ]),
    h("table", null,
      h("caption", { class: "unseen" }, w("overview.servers")),
      h("thead", null, h("tr", null, [w("overview.server"), w("overview.jobsOf"), w("overview.items"), w("overview.runs")].map((text, i) => h("th", { scope: "col", class: i ? "num" : null }, text)))),
      h("tbody", null, rows.map((s) => h("tr", { key: s.server },
        h("td", null, h("a", { href: inNamespace(["instances"], { server: s.server }) }, s.server), s.disabledJobs ? [" ", badge("off", w("overview.disabledIn", { n: s.disabledJobs }))] : null),
        h("td", { class: "num" }, number(s.jobs)), h("td", { class: "num" }, number(s.items)), h("td", { class: "num" }, number(s.running)))))),
    p.servers.length > rows.length ? h("p", null, h("a", { href: inNamespace(["servers"]) }, w("overview.moreServers", { n: p.servers.length - rows.length }))) : null,
  ];
}

/** @param {StoreFacts} s */
export function store(s) {
  const yes = (/** @type {string} */ word) => term("overview", word);
  return [
    ...(s.alarms ?? []).map((a) => note("bad", h("p", null, h("strong", null, w("overview.alarm")), " ", a))),
    h("ul", { class: "members" }, s.members.map((m) => member(m))),
    pairs([[w("overview.store"), s.product], [w("overview.reads"), yes(s.reads)], [w("overview.writes"), yes(s.writes)], s.product === "etcd" && [w("overview.compacts"), yes(s.compacts)]]),
  ];
}

/** @param {MemberFacts} m */
function member(m) {
  const health = m.silent ? badge("bad", w("overview.silent")) : m.unsupported ? badge("bad", w("overview.unsupported")) : m.why || m.mended ? badge("warn", m.mended ? w("overview.mended", { version: m.mended }) : w("overview.unwell")) : badge("good", w("overview.well"));
  return h("li", { key: m.address },
    h("div", { class: "what" }, h("strong", { class: "num" }, m.address), m.version ? h("span", { class: "soft num" }, m.version) : null, m.leads ? h("span", { class: "soft" }, w("overview.leads")) : null, health),
    m.size !== undefined ? quota(m.size, m.quota) : null,
    m.why ? h("p", { class: "soft", lang: "en" }, m.why) : null);
}

/** @param {number} size @param {number | undefined} quota */
function quota(size, quota) {
  if (!quota) return h("p", { class: "soft num" }, w("overview.size", { size: bytes(size) }));
  const text = w("overview.sizeOf", { size: bytes(size), quota: bytes(quota), percent: Math.round((100 * size) / quota) });
  return h("div", { class: "quota" },
    h("meter", { min: 0, max: quota, low: quota * 0.8, high: quota * 0.95, optimum: 0, value: size, "aria-label": text }),
    h("span", { class: "soft num", "aria-hidden": "true" }, text));
}

/** @param {number} n */
function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${number(n < 10 && i > 0 ? Math.round(n * 10) / 10 : Math.round(n))} ${units[i]}`;
}
