// What a change of many jobs would come to.
import { h } from "./dom.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").JobOutcome} JobOutcome */

/** How many failures are shown. */
const bound = 10;

/**
 * How many jobs change, have it so already, and cannot be changed, with the reasons.
 * @param {{outcomes: JobOutcome[], untried?: string}} answer
 */
export function summaryOf({ outcomes, untried }) {
  const failed = outcomes.filter((o) => o.error);
  const changed = outcomes.filter((o) => !o.error && o.changes.length > 0).length;
  const already = outcomes.length - failed.length - changed;
  return [
    h("p", { class: "num" }, [
      w("instances.nChange", { n: changed }), already ? w("instances.nAlready", { n: already }) : "", failed.length ? w("instances.nFail", { n: failed.length }) : "",
    ].filter(Boolean).join(" · ")),
    failed.length ? h("ul", { class: "changes" }, failed.slice(0, bound).map((o) => h("li", null, `${o.job}: ${o.error?.detail}`)),
      failed.length > bound ? h("li", null, w("actions.more", { n: failed.length - bound })) : null) : null,
    untried ? h("p", { class: "detail" }, untried) : null,
  ];
}
