// What the doctor finds: what is wrong, why, what to do about it, and the command that does it.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { inNamespace, namespace } from "./facts.js";
import { itemsText } from "./form.js";
import { query, setQuery } from "./query.js";
import { button, copy, empty, note, problem, since, state } from "./ui.js";
import { term, w } from "./words.js";

/** @typedef {import("./types/api").Finding} Finding */
/** @typedef {import("./types/api").Report} Report */

const severities = ["critical", "warning", "info"];
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
  let shown = step;
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
  const look = () => void load().catch(() => {}); // view shows why
  /** @param {string} severity */
  const choose = (severity) => {
    only = only === severity ? "" : severity;
    shown = step;
    setQuery({ severity: only });
    o.again();
  };
  const filter = (/** @type {Finding[]} */ all) => h("div", { class: "filter", role: "group", "aria-label": w("findings.filter") },
    severities.map((s) => {
      const n = all.filter((f) => f.severity === s).length;
      return (n > 0 || only === s) && h("button", { type: "button", "aria-pressed": String(only === s), onclick: () => choose(s), key: s }, state("severity", s), h("span", { class: "num" }, n));
    }));

  const view = () => {
    if (!report) return error ? problem(error, look) : h("p", { class: "waiting" }, w("findings.looking"));
    const all = report.findings;
    const wanted = only ? all.filter((f) => f.severity === only) : all;
    return [
      error ? problem(error, look) : null,
      all.length > 1 ? filter(all) : null,
      wanted.length ? h("ul", { class: "findings" }, wanted.slice(0, shown).map((f, i) => finding(f, i, !o.job)))
        : all.length ? empty(w("findings.noneSuch")) : note("good", h("p", null, w("findings.none"))),
      wanted.length > shown ? h("p", null, button(w("findings.next", { n: Math.min(step, wanted.length - shown), all: wanted.length }), () => {
        shown += step;
        o.again();
      })) : null,
      report.more ? h("p", { class: "hint" }, w("findings.more", { n: report.more })) : null,
      h("p", { class: "hint" }, w("findings.at"), " ", since(report.at)),
    ];
  };
  return { load, view, report: () => report };
}

/** @param {Finding} f @param {number} i @param {boolean} namesJob */
function finding(f, i, namesJob) {
  const key = [f.kind, f.job, f.instance, f.path, f.items?.[0], f.cause].join(" ").slice(0, 300) + i;
  return h("li", { class: "finding " + f.severity, key },
    h("div", { class: "title" },
      state("severity", f.severity), h("h3", null, term("finding", f.kind)),
      namesJob && f.job ? h("a", { href: inNamespace(["jobs", f.job]) }, f.job) : null,
      f.items?.length ? h("span", null, w("findings.items", { n: f.items.length + (f.moreItems ?? 0), items: itemsText(f.items) + (f.moreItems ? " …" : "") })) : null,
      f.instance ? h("span", { class: "soft" }, f.instance) : null,
      f.since ? h("span", { class: "soft" }, since(f.since)) : null),
    h("p", { lang: "en" }, f.cause),
    h("p", { lang: "en", class: "advice" }, h("span", { "aria-hidden": "true" }, "→ "), f.advice),
    f.path ? h("p", { class: "soft" }, h("code", null, f.path)) : null,
    f.command ? h("div", { class: "command" }, h("code", null, f.command), copy(f.command)) : null);
}
