// Actions that make items of the job run, or end what runs.
import { askAbout } from "./actions.js";
import { ask, newKey } from "./api.js";
import { h } from "./dom.js";
import { job, namespace } from "./facts.js";
import { check, field, itemsOf, itemsText } from "./form.js";
import { local, offset, unlocal, whenIn } from "./time.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").JobView} JobView */

const here = { namespace, job };

/**
 * Keys for one question: the same one as long as the same is asked for.
 * @returns {(o: {dryRun: boolean}, body: unknown) => string | undefined}
 */
function keys() {
  let last = "";
  let key = "";
  return (o, body) => {
    if (o.dryRun) return undefined;
    const text = JSON.stringify(body);
    if (text !== last) key = newKey();
    last = text;
    return key;
  };
}

/** @typedef {{items: string, parameter: string}} Meant */

/** @param {Meant} f @param {() => void} again @param {string} hint */
function itemsField(f, again, hint) {
  return field({
    id: "run-items", label: w("job.items"), value: f.items, placeholder: "0-3, 7", hint,
    error: itemsOf(f.items) ? "" : w("job.itemsWrong"),
    change: (v) => {
      f.items = v;
      again();
    },
  });
}

/** @param {Meant} f @param {() => void} again */
function parameterField(f, again) {
  return field({
    id: "run-parameter", label: w("job.parameter"), value: f.parameter, hint: w("job.parameterHint"),
    change: (v) => {
      f.parameter = v;
      again();
    },
  });
}

/** Those that are meant; undefined for all. @param {string} text */
function meant(text) {
  const items = itemsOf(text) ?? [];
  return items.length ? items : undefined;
}

/**
 * JVM members run more than they are asked for.
 * @param {import("./types/api").Requested} answer
 */
function ofJVM(answer) {
  if (!answer?.jvm?.length) return null;
  return [
    h("p", { class: "hint" }, w("job.runsAllOfJVM", { instances: answer.jvm.join(", ") })),
    answer.beside?.length ? h("p", { class: "hint" }, w("job.runsBeside", { items: itemsText(answer.beside) })) : null,
  ];
}

/** Runs items now. @param {number[]} [items] */
export function trigger(items) {
  const f = { items: itemsText(items), parameter: "" };
  const key = keys();
  return askAbout({
    title: w("job.triggerAsk", { job }), does: w("job.trigger"), preview: true, warns: ofJVM,
    text: h("p", { class: "hint" }, w("job.triggerText")),
    form: (again) => [itemsField(f, again, w("job.itemsAll")), parameterField(f, again)],
    valid: () => itemsOf(f.items) !== undefined,
    run: (o) => {
      const body = { items: meant(f.items), parameter: f.parameter || undefined };
      return ask("POST /namespaces/{namespace}/jobs/{job}/trigger", { ...here, dryRun: o.dryRun, "Idempotency-Key": key(o, body) }, body);
    },
  });
}

/** Runs again what has failed. @param {number[]} [items] @param {string} [of] the job; default that of the page */
export function retry(items, of = job) {
  const f = { items: itemsText(items), parameter: "" };
  const key = keys();
  return askAbout({
    title: w("job.retryAsk", { job: of }), does: w("job.retry"), preview: true, warns: ofJVM,
    text: h("p", { class: "hint" }, w("job.retryText")),
    form: (again) => [itemsField(f, again, w("job.itemsFailed")), parameterField(f, again)],
    valid: () => itemsOf(f.items) !== undefined,
    run: (o) => {
      const body = { items: meant(f.items), parameter: f.parameter || undefined };
      return ask("POST /namespaces/{namespace}/jobs/{job}/retry", { namespace, job: of, dryRun: o.dryRun, "Idempotency-Key": key(o, body) }, body);
    },
  });
}

/** Runs items for ticks of the past. @param {JobView} view */
export function backfill(view) {
  const minute = Math.floor(Date.now() / 60000) * 60000;
  const f = { items: "", parameter: "", from: local(minute - 3600000), to: local(minute), stop: false };
  const key = keys();
  const zone = view.info.timeZone;
  /** @param {"from" | "to"} name @param {() => void} again */
  const time = (name, again) => field({
    id: "run-" + name, type: "datetime-local", label: w(name === "from" ? "job.from" : "job.to", { zone: offset(unlocal(f[name]) || Date.now()) }), value: f[name], required: true,
    change: (v) => {
      f[name] = v;
      again();
    },
  });
  return askAbout({
    title: w("job.backfillAsk", { job }), does: w("job.backfill"), preview: true, warns: ofJVM,
    text: h("p", { class: "hint" }, w("job.backfillText")),
    form: (again) => [
      h("div", { class: "fields" }, time("from", again), time("to", again)),
      itemsField(f, again, w("job.itemsAll")), parameterField(f, again),
      check({
        id: "run-stop", label: w("job.stopAtFailure"), value: f.stop, change: (v) => {
          f.stop = v;
          again();
        },
      }),
    ],
    valid: () => itemsOf(f.items) !== undefined && f.from !== "" && f.to !== "" && f.from <= f.to,
    shows: (answer) => ticksOf(answer.ticks ?? [], zone),
    run: (o) => {
      const body = {
        from: new Date(unlocal(f.from)).toISOString(), to: new Date(unlocal(f.to)).toISOString(), items: meant(f.items), parameter: f.parameter || undefined,
        stopAtFailure: f.stop || undefined,
      };
      return ask("POST /namespaces/{namespace}/jobs/{job}/backfill", { ...here, dryRun: o.dryRun, "Idempotency-Key": key(o, body) }, body);
    },
  });
}

/** @param {string[]} ticks @param {string | undefined} zone */
function ticksOf(ticks, zone) {
  const short = ticks.length > 6 ? [...ticks.slice(0, 4), "", ticks[ticks.length - 1]] : ticks;
  return [h("p", null, w("job.ticks", { n: ticks.length })), h("ul", { class: "plain num" }, short.map((t) => h("li", null, t ? whenIn(t, zone) : "…")))];
}

/**
 * Ends what runs.
 * @param {number[]} running what is offered
 * @param {{item: number, token?: number}} [one] only this execution, and none that follows it
 */
export function kill(running, one) {
  const f = { items: itemsText(one ? [one.item] : running), parameter: "", failover: false };
  return askAbout({
    title: one ? w("job.killItemAsk", { item: one.item }) : w("job.killAsk", { job }), does: w("job.kill"), danger: true, preview: true,
    text: h("p", { class: "hint" }, w("job.killText")),
    form: (again) => [
      one ? null : itemsField(f, again, w("job.itemsRunning")),
      check({
        id: "run-failover", label: w("job.killFailover"), value: f.failover, hint: w("job.killFailoverHint"), change: (v) => {
          f.failover = v;
          again();
        },
      }),
    ],
    valid: () => itemsOf(f.items) !== undefined,
    shows: (answer) => h("p", null, w("job.killed", { n: answer.killed?.length ?? 0 })),
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/kill", { ...here, dryRun: o.dryRun }, { items: meant(f.items), token: one?.token, failover: f.failover || undefined }),
  });
}

/** Ends a request. @param {string} request */
export function cancel(request) {
  return askAbout({
    title: w("job.cancelAsk"), text: h("p", null, w("job.cancelText")), does: w("job.cancelRequest"), danger: true, preview: true,
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/requests/{request}/cancel", { ...here, request, dryRun: o.dryRun }),
  });
}
