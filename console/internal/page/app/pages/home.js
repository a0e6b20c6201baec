// All namespaces that the user may see something of, with how their jobs are.
import { ask } from "../api.js";
import { h } from "../dom.js";
import { facts, inNamespace } from "../facts.js";
import { page, start, tools } from "../frame.js";
import { keep } from "../poll.js";
import { mayEverywhere } from "../rights.js";
import { badge, empty, problem, since, state } from "../ui.js";
import { number, w } from "../words.js";

/** @typedef {import("../types/api").NamespaceInfo} NamespaceInfo */
/** @typedef {import("../types/api").NamespaceConnection} Connection */
/** @typedef {import("../types/api").Totals} Totals */
/** @typedef {{totals?: Totals, asOf?: string, error?: unknown}} Known */

const atOnce = 4; // requests: a store that does not answer keeps one for 30 s, and holds up no other card
const isAdmin = mayEverywhere("admin");

/** @param {NamespaceInfo[]} first */
function begin(first) {
  let spaces = first;
  /** @type {Map<string, Known>} */
  const known = new Map();
  /** @type {Map<string, Connection>} */
  let connections = new Map();

  const again = page(() => [
    spaces.length
      ? h("ul", { class: "spacecards" }, spaces.map((n) => card(n, known.get(n.name) ?? {}, connections.get(n.name), () => void look(n))))
      : none(),
  ]);
  if (isAdmin) tools(h("a", { class: "button", href: facts.root + "connections" }, w("home.connections")));

  const look = async (/** @type {NamespaceInfo} */ n) => {
    try {
      const { totals, asOf } = await ask("GET /namespaces/{namespace}/jobs", { namespace: n.name, limit: 1 });
      known.set(n.name, { totals, asOf });
    } catch (error) {
      known.set(n.name, { ...known.get(n.name), error });
    }
    again();
  };
  let isLooking = false;
  const lookAtAll = async () => {
    if (isLooking) return; // a store that is away takes long
    isLooking = true;
    const left = [...spaces];
    const next = async () => {
      for (let n = left.shift(); n; n = left.shift()) await look(n);
    };
    await Promise.all(Array.from({ length: atOnce }, next));
    isLooking = false;
  };
  keep(async () => {
    spaces = (await ask("GET /namespaces", {})).rows;
    if (isAdmin) connections = new Map((await ask("GET /connections/namespaces", {})).rows.map((c) => [c.name, c]));
    again();
    void lookAtAll(); // each card tells for itself how its store is
  }, 8).now();
}

/** What to do if there is nothing to see. */
function none() {
  if (isAdmin) return h("div", { class: "block" }, empty(w("home.noneAdmin"), h("a", { class: "button first", href: facts.root + "connections" }, w("home.connect"))));
  return h("div", { class: "block" }, empty(w("home.none", { user: facts.user ?? "" }), w("home.noneNext"), " ", h("a", { href: facts.root + "account" }, w("home.account"))));
}

/** @param {NamespaceInfo} n @param {Known} k @param {Connection | undefined} c @param {() => void} again */
function card(n, k, c, again) {
  const t = k.totals;
  return h("li", { class: "block spacecard" + (k.error ? " old" : ""), key: n.name },
    h("div", { class: "blockhead" },
      h("h2", null, h("a", { href: inNamespace([], {}, n.name) }, n.name)),
      c ? state("phase", c.phase) : k.error ? badge("bad", w("home.away")) : t ? badge("good", w("home.there")) : null),
    k.error ? problem(k.error, again) : null,
    t ? [numbers(n.name, t), health(n.name, t)] : k.error ? null : h("p", { class: "waiting" }, w("ui.loading")),
    h("p", { class: "hint" },
      [n.database ? w("home.history", { database: n.database }) : w("home.noHistory"), n.allJobs ? "" : w("home.someJobs")].filter(Boolean).join(" · "),
      k.error && k.asOf ? [" · ", w("home.asOf"), " ", since(k.asOf)] : null));
}

/** @param {string} name @param {Totals} t */
function numbers(name, t) {
  const one = (/** @type {number} */ n, /** @type {string} */ text, /** @type {string} */ href) =>
    h("a", { class: "figure", href }, h("span", { class: "count num" }, number(n)), " ", h("span", { class: "soft" }, text));
  return h("div", { class: "figures" },
    one(t.jobs, w("home.jobs"), inNamespace(["jobs"], {}, name)),
    one(t.running, w("home.running"), inNamespace([], {}, name)),
    one(t.instances, w("home.instances"), inNamespace(["instances"], {}, name)));
}

/** What is not as it should be, each a way to these jobs. @param {string} name @param {Totals} t */
function health(name, t) {
  /** @param {number} n @param {"bad" | "warn" | "off"} kind @param {string} text @param {Record<string, string>} filter */
  const some = (n, kind, text, filter) => n > 0 && h("a", { href: inNamespace(["jobs"], filter, name) }, badge(kind, text));
  const wrong = [
    some(t.crashed, "bad", w("home.crashed", { n: t.crashed }), { status: "CRASHED" }),
    some(t.stopped, "bad", w("home.stopped", { n: t.stopped }), { status: "STOPPED" }),
    some(t.neverStarted, "warn", w("home.neverStarted", { n: t.neverStarted }), { status: "NEVER_STARTED" }),
    some(t.failing, "bad", w("home.failing", { n: t.failing }), { failing: "true" }),
    some(t.begunLate, "warn", w("home.late", { n: t.begunLate }), { late: "true" }),
    some(t.faulty, "bad", w("home.faulty", { n: t.faulty }), { faulty: "true" }),
    some(t.shardingFlag, "warn", w("home.toDeal", { n: t.shardingFlag }), { status: "SHARDING_FLAG" }),
    some(t.paused, "off", w("home.paused", { n: t.paused }), { paused: "true" }),
    some(t.disabled, "off", w("home.disabled", { n: t.disabled }), { status: "DISABLED" }),
  ].filter(Boolean);
  return h("div", { class: "health" }, wrong.length ? wrong : t.jobs ? badge("good", w("home.well")) : h("span", { class: "soft" }, w("home.empty")));
}

await start(async () => (await ask("GET /namespaces", {})).rows, begin);
