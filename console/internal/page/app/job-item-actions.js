// Actions on items of a job.
import { askAbout, run } from "./actions.js";
import { ask } from "./api.js";
import { h } from "./dom.js";
import { mayRetry } from "./execution.js";
import { facts, inNamespace, job, namespace } from "./facts.js";
import { check, choice, field, itemsText } from "./form.js";
import { kill, retry, trigger } from "./job-runs.js";
import { may } from "./rights.js";
import { menu } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").ItemInfo} ItemInfo */
/** @typedef {import("./types/api").JobView} JobView */

const here = { namespace, job };

/** What can be done with an item. @param {() => JobView} view the job as it is then @param {ItemInfo} i */
export function itemMenu(view, i) {
  const isOperator = may("operator", job);
  return menu(w("ui.menu"), [
    isOperator && { text: w("job.trigger"), act: () => trigger([i.item]) },
    isOperator && mayRetry(i.last?.outcome) && { text: w("job.retryItem"), act: () => retry([i.item]) },
    isOperator && i.run && { text: w("job.kill"), act: () => kill([], { item: i.item, token: i.run?.token }), danger: true },
    isOperator && (i.disabled ? { text: w("job.enable"), act: () => enable([i.item]) } : { text: w("job.disable"), act: () => disable([i.item]) }),
    isOperator && { text: i.pin ? w("job.repin") : w("job.pin"), act: () => pin(view(), i) },
    isOperator && i.pin && { text: w("job.unpin"), act: () => unpin(i.item) },
    facts.databases?.[namespace] && { text: w("job.itemHistory"), act: () => location.assign(inNamespace(["history"], { job, items: i.item })) },
  ], w("job.itemN", { item: i.item }), true);
}

/** What can be done with the items that are shown. @param {ItemInfo[]} items */
export function itemsMenu(items) {
  if (!may("operator", job)) return null;
  const numbers = items.map((i) => i.item);
  const running = items.filter((i) => i.run).map((i) => i.item);
  return menu(w("job.withThese", { n: items.length }), [
    { text: w("job.trigger"), act: () => trigger(numbers) },
    items.some((i) => mayRetry(i.last?.outcome)) && { text: w("job.retry"), act: () => retry(numbers) },
    running.length > 0 && { text: w("job.kill"), act: () => kill(running), danger: true },
    items.some((i) => i.disabled) && { text: w("job.enable"), act: () => enable(numbers) },
    items.some((i) => !i.disabled) && { text: w("job.disable"), act: () => disable(numbers) },
  ]);
}

/** @param {number[]} items */
function enable(items) {
  return run({ title: w("job.enableItems", { items: itemsText(items) }), does: w("job.enable"), run: () => ask("POST /namespaces/{namespace}/jobs/{job}/items/enable", here, { items }) });
}

/** @param {number[]} items */
function disable(items) {
  return askAbout({
    title: w("job.disableItems", { items: itemsText(items) }), text: h("p", null, w("job.disableItemsText")), does: w("job.disable"), danger: true, preview: true,
    run: (o) => ask("POST /namespaces/{namespace}/jobs/{job}/items/disable", { ...here, dryRun: o.dryRun }, { items }),
  });
}

/** @param {number} item */
function unpin(item) {
  return run({ title: w("job.unpin"), does: w("job.unpin"), run: () => ask("DELETE /namespaces/{namespace}/jobs/{job}/items/{item}/pin", { ...here, item }) });
}

/** Gives an item to instances of one kind. @param {JobView} view @param {ItemInfo} i */
function pin(view, i) {
  const old = i.pin;
  const f = {
    kind: old?.instance ? "instance" : old?.address ? "address" : old?.label ? "label" : "address",
    value: old?.instance ?? old?.address ?? old?.label ?? "", strict: old?.strict ?? false,
  };
  /** @type {Record<string, string[]>} */
  const known = {
    instance: view.instances.map((n) => n.id), address: view.servers.map((s) => s.server), label: [...new Set(view.instances.flatMap((n) => n.labels ?? []))],
  };
  /** @param {Partial<typeof f>} change @param {() => void} again */
  const turn = (change, again) => {
    Object.assign(f, change);
    again();
  };
  return askAbout({
    title: w("job.pinAsk", { item: i.item }), text: h("p", { class: "hint" }, w("job.pinText")), does: w("job.pin"), preview: true,
    form: (again) => [
      choice({ id: "pin-kind", label: w("job.pinTo"), value: f.kind, options: [["address", w("job.pinAddress")], ["instance", w("job.pinInstance")], ["label", w("job.pinLabel")]], change: (kind) => turn({ kind, value: "" }, again) }),
      field({ id: "pin-value", label: w("job.pinValue"), value: f.value, required: true, list: known[f.kind], change: (value) => turn({ value }, again) }),
      check({ id: "pin-strict", label: w("job.pinStrict"), hint: w("job.pinStrictHint"), value: f.strict, change: (strict) => turn({ strict }, again) }),
    ],
    valid: () => f.value.trim() !== "",
    run: (o) => ask("PUT /namespaces/{namespace}/jobs/{job}/items/{item}/pin", { ...here, item: i.item, dryRun: o.dryRun }, { [f.kind]: f.value.trim(), strict: f.strict || undefined }),
  });
}
