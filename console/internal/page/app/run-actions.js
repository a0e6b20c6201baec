// What can be done with an execution: end it, or run its item again for the same tick.
import { askAbout } from "./actions.js";
import { ask, newKey } from "./api.js";
import { mayRetry } from "./execution.js";
import { namespace } from "./facts.js";
import { check } from "./form.js";
import { may } from "./rights.js";
import { whenFull } from "./time.js";
import { button } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").ExecutionInfo} Execution */

/** Sources of what runs for a tick of the schedule. */
const scheduled = ["NORMAL_TRIGGER", "MISFIRE", "FAILOVER", "BACKFILL"];

/** The buttons of an execution, as far as the user may. @param {Execution} x @param {() => void} done */
export function runActions(x, done) {
  if (!may("operator", x.job)) return [];
  return [
    x.outcome === "RUNNING" ? button(w("run.kill"), () => kill(x, done), { kind: "danger" }) : null,
    mayRetry(x.outcome) && x.tick ? button(w("run.retry"), () => retry(x, done), { kind: "first" }) : null,
    x.outcome !== "RUNNING" && scheduled.includes(x.source ?? "") && x.tick ? button(w("run.backfill"), () => backfill(x, done)) : null,
  ];
}

/** @param {Execution} x @param {() => void} done */
async function kill(x, done) {
  let failover = false;
  await askAbout({
    title: w("run.killTitle", { job: x.job, item: x.item }), text: w("run.killText"), does: w("run.kill"), danger: true, preview: true,
    form: (again) => check({
      id: "kill-failover", label: w("run.killFailover"), hint: w("run.killFailoverHint"), value: failover, change: (v) => {
        failover = v;
        again();
      },
    }),
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/kill", { namespace, job: x.job, dryRun: o.dryRun }, { items: [x.item], token: x.token, failover }),
    done,
  });
}

/** Of what has failed last. @param {Execution} x @param {() => void} done */
async function retry(x, done) {
  const key = newKey();
  await askAbout({
    title: w("run.retryTitle", { job: x.job, item: x.item }), text: w("run.retryText"), does: w("run.retry"), preview: true,
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/retry", { namespace, job: x.job, dryRun: o.dryRun, "Idempotency-Key": key }, { items: [x.item], tick: x.tick }),
    done,
  });
}

/** However it has ended, and whatever ran later. @param {Execution} x @param {() => void} done */
async function backfill(x, done) {
  const key = newKey();
  const tick = x.tick ?? "";
  await askAbout({
    title: w("run.backfillTitle", { job: x.job, item: x.item, tick: whenFull(tick) }), text: w("run.backfillText"), does: w("run.backfill"), preview: true,
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/backfill", { namespace, job: x.job, dryRun: o.dryRun, "Idempotency-Key": key }, { items: [x.item], from: tick, to: tick }),
    done,
  });
}
