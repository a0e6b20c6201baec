// What can be done with an execution: end it, or run its item again for the same tick.
import { ask as request } from "./api.js";
import { ask } from "./actions.js";
import { namespace } from "./facts.js";
import { check } from "./form.js";
import { may } from "./rights.js";
import { button } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").ExecutionInfo} Execution */

const failed = ["FAILED", "PANIC", "TIMEOUT", "CUT", "KILLED"];

/** The buttons of an execution, as far as the user may. @param {Execution} x @param {() => void} done */
export function runActions(x, done) {
  if (!may("operator", x.job)) return [];
  return [
    x.outcome === "RUNNING" ? button(w("run.kill"), () => kill(x, done), { kind: "danger" }) : null,
    failed.includes(x.outcome) && x.tick ? button(w("run.retry"), () => retry(x, done), { kind: "first" }) : null,
  ];
}

/** @param {Execution} x @param {() => void} done */
async function kill(x, done) {
  let failover = false;
  await ask({
    title: w("run.killTitle", { job: x.job, item: x.item }), text: w("run.killText"), does: w("run.kill"), danger: true, preview: true,
    form: (again) => check({
      id: "kill-failover", label: w("run.killFailover"), hint: w("run.killFailoverHint"), value: failover, change: (v) => {
        failover = v;
        again();
      },
    }),
    run: (o) => request("POST /namespaces/{namespace}/jobs/{job}/kill", { namespace, job: x.job, dryRun: o.dryRun }, { items: [x.item], token: x.token, failover }),
    done,
  });
}

/** @param {Execution} x @param {() => void} done */
async function retry(x, done) {
  await ask({
    title: w("run.retryTitle", { job: x.job, item: x.item }), text: w("run.retryText"), does: w("run.retry"), preview: true,
    run: (o) => request("POST /namespaces/{namespace}/jobs/{job}/retry", { namespace, job: x.job, dryRun: o.dryRun }, { items: [x.item], tick: x.tick }),
    done,
  });
}
