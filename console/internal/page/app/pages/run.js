// One execution: what it was, what it said, how it ended, and what came before and after it for the same tick.
import { ask } from "../api.js";
import { hostNow } from "../hosttime.js";
import { h } from "../dom.js";
import { durationOf, latenessOf } from "../execution.js";
import { facts, inNamespace, namespace } from "../facts.js";
import { crumbs, heading, page, start, tellZoneOf, tools } from "../frame.js";
import { number, term, w } from "../words.js";
import { runActions } from "../run-actions.js";
import { Lines } from "../run-lines.js";
import { keep } from "../poll.js";
import { table } from "../table.js";
import { lasting } from "../time.js";
import { ownerName } from "../owner.js";
import { at, badge, copy, pairs, section, since, state } from "../ui.js";

/** @typedef {import("../types/api").ExecutionInfo} Execution */

const execution = facts.params.execution;

await start(async () => {
  const loaded = await load();
  await tellZoneOf(loaded.x.job);
  return loaded;
}, (loaded) => {
  let x = loaded.x;
  let chain = loaded.chain;
  let openUntil = 0;
  const isRunning = () => x.outcome === "RUNNING";
  // Lines and a failover may come a little after the end.
  const isOpen = () => isRunning() || hostNow() < openUntil;
  const lines = new Lines(execution, isOpen, () => again());
  const again = page(() => {
    showHead();
    return [
      section(w("run.facts"), {}, factsOf(x)),
      x.error ? section(w("run.error"), { tools: copy(x.error) }, errorOf(x.error)) : null,
      chain.length > 1 ? section(w("run.chain"), {}, chainOf(chain)) : null,
      section(w("run.log"), {}, lines.view(isRunning())),
      x.output ? section(w("run.output"), { tools: copy(x.output) }, h("pre", { tabindex: "0", "aria-label": w("run.output"), class: "run-output" }, x.output)) : null,
    ];
  });
  const asking = keep(async () => {
    const open = isOpen();
    if (open) await refresh();
    else again();
    return open;
  }, 2);
  asking.now();

  function showHead() {
    tools(state("outcome", x.outcome), h("a", { class: "button", href: timelineOf(x) }, w("run.timeline")), runActions(x, more));
  }

  /** What was asked for comes soon. */
  function more() {
    openUntil = hostNow() + 60000;
    asking.now();
  }

  async function refresh() {
    ({ x, chain } = await load());
    if (isRunning()) openUntil = hostNow() + 30000;
    again();
  }
  crumbs([namespace, inNamespace([])], [w("nav.jobs"), inNamespace(["jobs"])], [x.job, inNamespace(["jobs", x.job])], [w("nav.history"), inNamespace(["history"], { job: x.job })]);
  heading(w("run.heading", { job: x.job, item: x.item }));
});

async function load() {
  const asked = { namespace, execution };
  const x = await ask("GET /namespaces/{namespace}/history/executions/{execution}", asked);
  return { x, chain: (await ask("GET /namespaces/{namespace}/history/executions/{execution}/chain", asked)).rows };
}

/** The timeline of the job around the execution. @param {Execution} x */
function timelineOf(x) {
  const length = Math.max(900, Math.round(x.durationSeconds * 3));
  const until = x.begun ? new Date(Date.parse(x.begun) + (x.durationSeconds + length / 3) * 1000) : undefined;
  const isPast = until && until.getTime() < hostNow();
  return inNamespace(["jobs", x.job], { span: length === 900 ? "15m" : length, until: isPast ? until.toISOString() : undefined });
}

/** @param {Execution} x */
function lateness(x) {
  const late = latenessOf(x) ?? 0;
  return late >= 0.5 ? h("span", { class: "soft" }, " ", w("run.late", { time: lasting(late) })) : null;
}

/** @param {Execution} x */
function tookOf(x) {
  const seconds = durationOf(x);
  return seconds === undefined ? "–" : lasting(seconds);
}

/** @param {Execution} x */
function factsOf(x) {
  return pairs([
    [w("run.job"), h("a", { href: inNamespace(["jobs", x.job]) }, x.job)],
    [w("run.item"), h("a", { href: inNamespace(["history"], { job: x.job, items: x.item }), title: w("run.itemHistory") }, String(x.item))],
    [w("run.source"), x.source ? term("source", x.source) : "–"],
    [w("run.tick"), at(x.tick)],
    [w("run.begun"), [at(x.begun), lateness(x)]],
    [w("run.ended"), x.ended ? [at(x.ended), h("span", { class: "soft" }, " ", since(x.ended))] : x.outcome === "RUNNING" ? w("run.notYet") : "–"],
    [w("run.took"), h("span", { class: "num" }, tookOf(x))],
    [w("run.waited"), x.waitedSeconds >= 0.0005 ? lasting(x.waitedSeconds) : null],
    [w("run.attempts"), x.attempts ? number(x.attempts) : null],
    [w("run.instance"), x.instance ? h("a", { href: inNamespace(["history"], { job: x.job, instance: x.instance }) }, h("code", null, x.instance)) : "–"],
    [w("run.host"), [x.hostname, x.address].filter(Boolean).join(" · ")],
    [w("run.token"), x.token ? h("span", { class: "num" }, String(x.token)) : null],
    [w("run.request"), x.request ? h("a", { href: inNamespace(["history"], { job: x.job, request: x.request }) }, h("code", null, x.request)) : null],
    [w("run.original"), x.original && x.original !== x.id ? h("a", { href: inNamespace(["history", x.original]) }, h("code", null, x.original)) : null],
    [w("run.id"), h("code", null, x.taskId)],
  ]);
}

/** The error, and the stack below it. @param {string} error */
function errorOf(error) {
  const [first, ...rest] = error.split("\n");
  return [
    h("p", { class: "run-error" }, first),
    rest.length ? h("details", { class: "run-stack", open: rest.length <= 40 }, h("summary", null, w("run.stack", { n: rest.length })), h("pre", { tabindex: "0", "aria-label": w("run.error") }, rest.join("\n"))) : null,
  ];
}

/** @param {Execution[]} chain */
function chainOf(chain) {
  const here = chain.findIndex((c) => c.id === execution);
  return table({
    label: w("run.chain"), rows: chain, key: (c) => c.id, rowClass: (c) => (c.id === execution ? "run-here" : null),
    columns: [
      { name: "run", text: w("run.execution"), cell: (c) => placeOf(chain.indexOf(c), here, c) },
      { name: "outcome", text: w("run.outcome"), cell: (c) => state("outcome", c.outcome) },
      { name: "source", text: w("run.source"), cell: (c) => (c.source ? term("source", c.source) : "–") },
      { name: "instance", text: w("run.instance"), cell: (c) => h("span", { title: c.instance }, ownerName(c.instance ?? "")) },
      { name: "begun", text: w("run.begun"), cell: (c) => at(c.begun) },
      { name: "took", text: w("run.took"), num: true, cell: (c) => tookOf(c) },
    ],
  });
}

/** @param {number} i @param {number} here @param {Execution} c */
function placeOf(i, here, c) {
  if (i === here) return badge("off", w("run.this"));
  return h("a", { href: inNamespace(["history", c.id]) }, i < here ? w("run.before") : w("run.after"));
}
