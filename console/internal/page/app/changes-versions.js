// Versions of a configuration, as far as the audit has them: two are compared, and one is put in force again.
import { askAbout, isConflict } from "./actions.js";
import { ask } from "./api.js";
import { diffView } from "./diff-view.js";
import { h } from "./dom.js";
import { inNamespace, job, namespace } from "./facts.js";
import { choice } from "./form.js";
import { tell } from "./frame.js";
import { may } from "./rights.js";
import { planView } from "./settings-plan.js";
import { whenFull } from "./time.js";
import { button, empty, note, problem, section } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./types/api").AuditEntry} AuditEntry */
/** @typedef {{id: string, at?: string, by?: string, document: string, isCut: boolean}} Version */

/**
 * All versions that are known, the newest first: the first one is in force.
 * @param {AuditEntry[]} entries those that have written a whole configuration, the newest first
 * @param {string} current
 * @returns {Version[]}
 */
export function versionsOf(entries, current) {
  /** @type {Version[]} */
  const versions = [];
  for (const e of entries) if (e.after) versions.push({ id: e.id ?? "", at: e.at, by: e.by, document: e.after, isCut: e.cut === true });
  const last = entries.at(-1);
  if (last?.before) versions.push({ id: "before", document: last.before, isCut: last.cut === true });
  // What a program has written leaves no entry. Of a cut text the beginning is enough to know it.
  const newest = versions[0];
  const isKnown = newest && (newest.document.trim() === current.trim() || (newest.isCut && current.startsWith(newest.document.slice(0, 1000))));
  if (!isKnown) versions.unshift({ id: "now", document: current, isCut: false });
  else versions[0] = { ...newest, document: current, isCut: false };
  return versions;
}

/**
 * @param {Version[]} versions
 * @param {{from: string, to: string}} chosen ids
 * @param {(chosen: {from?: string, to?: string}) => void} choose
 * @param {() => unknown} done
 */
export function versionsView(versions, chosen, choose, done) {
  const to = versions.find((v) => v.id === chosen.to) ?? versions[0];
  const from = versions.find((v) => v.id === chosen.from) ?? versions[versions.indexOf(to) + 1];
  const edit = h("a", { href: inNamespace(["jobs", job, "settings"]) }, w("title.settings"));
  if (!from) return section(w("changes.versions"), {}, empty(w("changes.oneVersion"), edit));
  /** @type {[string, string][]} */
  const options = versions.map((v, i) => [v.id, nameOf(v, i === 0)]);
  const isBackwards = versions.indexOf(from) <= versions.indexOf(to);
  return section(w("changes.versions"), {},
    h("div", { class: "fields" },
      choice({ id: "from", label: w("changes.from"), value: from.id, options, change: (id) => choose({ from: id }) }),
      choice({ id: "to", label: w("changes.to"), value: to.id, options, change: (id) => choose({ to: id }) })),
    from.isCut || to.isCut ? note("warn", h("p", null, w("changes.cut"))) : null,
    isBackwards && from !== to ? h("p", { class: "hint" }, w("changes.backwards")) : null,
    diffView(from.document, to.document),
    may("admin", job) ? h("div", { class: "tools" }, [from, to].filter((v) => v !== versions[0] && !v.isCut).map((v) =>
      button(w("changes.rollBack", { version: nameOf(v, false) }), () => rollBack(v, done), { key: v.id }))) : null);
}

/** @param {Version} v @param {boolean} isInForce */
function nameOf(v, isInForce) {
  const name = v.at ? `${whenFull(v.at)} · ${v.by || w("changes.nobody")}` : v.id === "now" ? w("changes.program") : w("changes.before");
  return isInForce ? w("changes.inForce", { version: name }) : name;
}

/**
 * Asks about an earlier version with what it would change, and writes it.
 * @param {Version} v
 * @param {() => unknown} done
 */
async function rollBack(v, done) {
  const here = { namespace, job };
  let plan;
  try {
    plan = await ask("POST /namespaces/{namespace}/jobs/{job}/plan", here, { document: v.document });
  } catch (e) {
    tell("bad", problem(e));
    return;
  }
  if (plan.before === plan.after) {
    tell("good", h("p", null, w("changes.sameAsNow")));
    return;
  }
  const version = plan.version;
  const was = await askAbout({
    title: w("changes.rollBackTitle"), does: w("changes.rollBackDoes"), danger: true, quiet: true,
    text: [h("p", null, w("changes.rollBackText", { version: nameOf(v, false) })), planView(plan, undefined, undefined)],
    run: async ({ dryRun }) => {
      try {
        await ask("PUT /namespaces/{namespace}/jobs/{job}/settings", { ...here, dryRun, "If-Match": `"${version}"` }, { document: v.document });
      } catch (e) {
        if (isConflict(e)) await done(); // what is in force now is shown behind the question
        throw e;
      }
    },
  });
  if (!was) return;
  tell("good", h("p", null, w("changes.rolledBack", { version: nameOf(v, false) })));
  await done();
}
