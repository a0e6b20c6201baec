// Which jobs a grant is for, of those that there are now: a pattern may fit more than one thinks, or nothing.
import { all } from "./api.js";
import { draw, h } from "./dom.js";
import { facts } from "./facts.js";
import { fits } from "./rights.js";
import { w } from "./words.js";

const maxNamespaces = 10; // whose jobs are asked for
const maxJobs = 2000; // of each of them
const shown = 10; // names of each of them

/** @typedef {{rows: {name: string}[], more: boolean} | undefined} Found undefined: it cannot be told */
/** Jobs by namespace, once they were asked for. @type {Map<string, Promise<Found>>} */
const asked = new Map();

/** @param {string} namespace */
function jobsOf(namespace) {
  let found = asked.get(namespace);
  found ??= all("GET /namespaces/{namespace}/jobs", { namespace }, maxJobs).catch(() => void asked.delete(namespace));
  asked.set(namespace, found);
  return found;
}

/** The jobs, for who opens it. @param {string[]} namespaces @param {string[]} jobs patterns */
export function grantPreview(namespaces, jobs) {
  if (!namespaces.length || !jobs.length) return null;
  const show = async (/** @type {Event} */ e) => {
    const el = /** @type {HTMLDetailsElement} */ (e.currentTarget);
    const into = /** @type {Element} */ (el.lastElementChild);
    if (!el.open) return draw(into);
    const those = Object.keys(facts.databases ?? {}).filter((n) => fits(namespaces, n));
    draw(into, those.length ? h("p", { class: "waiting" }, w("ui.loading")) : h("p", null, w("grants.nothing")));
    const lines = await Promise.all(those.slice(0, maxNamespaces).map(async (n) => lineOf(n, await jobsOf(n), jobs)));
    if (lines.length && el.open) draw(into, h("ul", null, lines), those.length > lines.length ? h("p", null, w("grants.more", { n: those.length - lines.length })) : null);
  };
  // Another pattern is another preview, which is shut.
  return h("details", { class: "grant-preview", key: namespaces + "/" + jobs, ontoggle: show }, h("summary", null, w("grants.preview")), h("div", { role: "status" }));
}

/** @param {string} namespace @param {Found} found @param {string[]} jobs */
function lineOf(namespace, found, jobs) {
  if (!found) return h("li", null, w("grants.away", { namespace }));
  const hits = found.rows.map((j) => j.name).filter((name) => fits(jobs, name));
  const names = [...hits.slice(0, shown), ...(hits.length > shown ? ["…"] : [])].join(", ");
  return h("li", null, w(found.more ? "grants.hitsOfFirst" : "grants.hits", { namespace, n: hits.length, all: found.rows.length }), names && ": ", names);
}
