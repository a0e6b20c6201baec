// What the doctor finds: what is wrong, why, what to do about it, and the command that does it.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { actionOf } from "./finding-actions.js";
import { facts, inNamespace, manual, namespace } from "./facts.js";
import { itemsText } from "./form.js";
import { query, setQuery } from "./query.js";
import { button, copy, empty, instanceName, note, problem, since, state } from "./ui.js";
import { number, term, w } from "./words.js";

/** @typedef {import("./types/api").Finding} Finding */
/** @typedef {import("./types/api").Effect} Effect */
/** @typedef {import("./types/api").Report} Report */

const severities = ["critical", "warning", "info"];
const few = 3; // findings of a kind that are shown at first
const step = 20;

/**
 * The findings of the namespace, or of a job. An examination may take half a minute: load resolves to its report, and view
 * shows what there is until then.
 * @param {{job?: string, again: () => void}} o again draws the page
 */
export function findings(o) {
  /** @type {Report | undefined} */
  let report;
  /** @type {unknown} */
  let error;
  /** @type {Map<string, number>} how many findings of a kind are shown */
  const shown = new Map();
  let only = severities.includes(query().severity) ? query().severity : "";

  const load = async () => {
    try {
      report = await ask("GET /namespaces/{namespace}/findings", { namespace, job: o.job });
      error = undefined;
      return report;
    } catch (e) {
      error = e;
      throw e;
    } finally {
      o.again();
    }
  };
  const look = () => load().catch(() => {}); // view shows why
  const choose = (/** @type {string} */ severity) => {
    only = only === severity ? "" : severity;
    setQuery({ severity: only });
    o.again();
  };
  const more = (/** @type {string} */ kind, /** @type {number} */ n) => {
    shown.set(kind, n + step);
    o.again();
  };

  const view = () => {
    if (!report) return error ? problem(error, () => void look()) : h("p", { class: "waiting" }, w("findings.looking"));
    const all = report.findings;
    const wanted = only ? all.filter((f) => f.severity === only) : all;
    return [
      error ? problem(error, () => void look()) : null,
      all.length > 1 || only ? filter(all, only, choose) : null,
      wanted.length ? h("ul", { class: "findings" }, kinds(wanted).map(([kind, some]) => group(kind, some, shown.get(kind) ?? few, more, !o.job, look)))
        : all.length ? empty(w("findings.noneSuch")) : note("good", h("p", null, w("findings.none"))),
      report.noHistory ? h("p", { class: "hint" }, w("findings.noHistory"), " ", h("span", { lang: "en" }, report.noHistory)) : null,
      report.more ? h("p", { class: "hint" }, w("findings.more", { n: report.more })) : null,
      h("div", { class: "examined" }, h("span", { class: "hint" }, w("findings.at"), " ", since(report.at)), button(w("findings.again"), look, { kind: "quiet" })),
    ];
  };
  return { load, view, report: () => report };
}

/** Findings, and what follows from them. @param {Finding[]} all @returns {(Finding | Effect)[]} */
export function withEffects(all) {
  return all.flatMap((f) => [f, ...(f.effects ?? [])]);
}

/** @param {Finding[]} all @param {string} only @param {(severity: string) => void} choose */
function filter(all, only, choose) {
  return h("div", { class: "severities", role: "group", "aria-label": w("findings.filter") }, severities.map((s) => {
    const n = all.filter((f) => f.severity === s).length;
    if (n === 0 && only !== s) return null;
    return h("button", { type: "button", "aria-pressed": String(only === s), onclick: () => choose(s), key: s }, state("severity", s), h("span", { class: "num" }, number(n)));
  }));
}

/** Findings of the same kind stand together, where the worst of them stands. @param {Finding[]} all */
function kinds(all) {
  /** @type {Map<string, Finding[]>} */
  const out = new Map();
  for (const f of all) {
    const key = f.severity + " " + f.kind;
    const some = out.get(key);
    if (some) some.push(f);
    else out.set(key, [f]);
  }
  return [...out];
}

/** @param {string} kind @param {Finding[]} all @param {number} n @param {(kind: string, n: number) => void} more @param {boolean} namesJob @param {() => void} look */
function group(kind, all, n, more, namesJob, look) {
  const first = all[0];
  const same = all.every((f) => f.advice === first.advice);
  return h("li", { class: "finding " + first.severity, key: kind },
    h("div", { class: "head" }, state("severity", first.severity), h("h3", null, h("a", manual("reference/findings", first.kind), term("finding", first.kind))), all.length > 1 ? h("span", { class: "soft num" }, "× " + number(all.length)) : null),
    same || facts.language !== "en" ? adviceOf(first) : null,
    h("ul", null, all.slice(0, n).map((f, i) => one(f, i, namesJob, !same, look))),
    all.length > n ? h("p", null, button(w("findings.next", { n: Math.min(step, all.length - n), all: all.length }), () => more(kind, n), { kind: "quiet" })) : null);
}

/** @param {Finding} f */
function adviceOf(f) {
  // The doctor speaks English: in other languages there is an advice for each kind.
  const text = facts.language === "en" ? h("span", null, f.advice) : h("span", null, term("advice", f.kind));
  return h("p", { class: "advice" }, h("span", { "aria-hidden": "true" }, "→"), text);
}

/** @param {Finding} f @param {number} i @param {boolean} namesJob @param {boolean} advises @param {() => void} look */
function one(f, i, namesJob, advises, look) {
  const others = (f.others?.length ?? 0) + (f.moreOthers ?? 0);
  const about = [
    namesJob && f.job ? h("a", { href: inNamespace(["jobs", f.job]) }, f.job) : null,
    itemsOf(f),
    f.instance ? instanceName(f.instance) : null,
    f.path ? h("code", null, f.path) : null,
    others ? h("span", null, w("findings.others", { n: others })) : null,
    f.since ? h("span", { class: "soft" }, since(f.since)) : null,
  ].filter(Boolean);
  return h("li", { key: [f.job, f.instance, f.path, f.items?.[0], i].join(" ") },
    about.length ? h("div", { class: "about" }, about) : null,
    h("p", { class: "cause", lang: "en", dir: "auto" }, f.cause),
    advises && facts.language === "en" ? adviceOf(f) : null,
    f.command || f.action ? h("div", { class: "command" }, actionOf(f, look), f.command ? [h("code", null, f.command), copy(f.command)] : null) : null,
    f.effects ? h("ul", { "aria-label": w("findings.effects") }, f.effects.map(effect)) : null);
}

/** What follows from a finding. @param {Effect} e */
function effect(e) {
  return h("li", { key: e.kind },
    h("div", { class: "about" }, state("severity", e.severity), h("a", manual("reference/findings", e.kind), term("finding", e.kind)), itemsOf(e),
      e.instance ? instanceName(e.instance) : null, e.more ? h("span", null, w("findings.others", { n: e.more })) : null),
    h("p", { class: "cause", lang: "en", dir: "auto" }, e.cause));
}

/** @param {Finding | Effect} f */
function itemsOf(f) {
  return f.items?.length ? h("span", null, w("findings.items", { n: f.items.length + (f.moreItems ?? 0), items: itemsText(f.items) + (f.moreItems ? " …" : "") })) : null;
}
