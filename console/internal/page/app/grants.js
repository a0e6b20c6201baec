// What somebody may do: grants in words, and a form for them.
import { reasonOf } from "./api.js";
import { h } from "./dom.js";
import { facts } from "./facts.js";
import { choice, field } from "./form.js";
import { grantPreview } from "./grants-preview.js";
import { fits, isAll } from "./rights.js";
import { button } from "./ui.js";
import { term, w } from "./words.js";

/** @typedef {import("./facts.js").Grant} Grant */
/** @typedef {{key: number, role: string, namespaces: string, jobs: string}} Row a grant as it is typed */

/** A grant in words. @param {Grant} g */
function grantText(g) {
  const [namespaces, jobs] = [g.namespaces, g.jobs].map((names) => (isAll(names) ? "" : names.join(", ")));
  if (!namespaces && !jobs) return w("grants.everything");
  if (!jobs) return w("grants.ofNamespaces", { namespaces });
  if (!namespaces) return w("grants.ofJobs", { jobs });
  return w("grants.ofBoth", { namespaces, jobs });
}

/**
 * Grants in words, at most so many of them.
 * @param {Grant[]} grants
 * @param {number} [most]
 */
export function grantList(grants, most = 100) {
  if (!grants.length) return h("span", { class: "soft" }, w("grants.nothing"));
  return h("ul", { class: "grants" },
    grants.slice(0, most).map((g) => h("li", null, h("strong", null, term("role", g.role)), " ", grantText(g))),
    grants.length > most ? h("li", { class: "soft" }, w("grants.more", { n: grants.length - most })) : null);
}

let count = 0;

/** A grant of which nothing is typed yet. @returns {Row} */
export const newRow = () => ({ key: ++count, role: "viewer", namespaces: "", jobs: "" });

/** @param {Grant[]} grants @returns {Row[]} */
export function rowsOf(grants) {
  return grants.map((g) => ({ key: ++count, role: g.role, namespaces: g.namespaces.join(", "), jobs: g.jobs.join(", ") }));
}

/** @param {string} text */
const namesIn = (text) => text.split(/[\s,，]+/).filter(Boolean);

/** @param {Row[]} rows @returns {Grant[]} */
export function grantsOf(rows) {
  return rows.map((r) => ({ role: /** @type {Grant["role"]} */ (r.role), namespaces: namesIn(r.namespaces), jobs: namesIn(r.jobs) }));
}

/**
 * Controls for grants: rows is changed, and changed is called.
 * @param {Row[]} rows
 * @param {() => void} changed
 * @param {unknown} [error] why the API has refused them
 * @param {boolean} [hasHeading] whether a heading above says already what it is
 */
export function grantForm(rows, changed, error, hasHeading) {
  return h("fieldset", { class: "grantform" },
    h("legend", { class: hasHeading ? "unseen" : null }, w("grants.title")),
    h("p", { class: "hint" }, w("grants.hint")),
    rows.map((row, i) => h("div", { class: "grant", key: row.key, role: "group", "aria-label": w("grants.one", { n: i + 1 }) },
      controls(row, i, changed, error),
      button("×", (e) => {
        const form = /** @type {Element} */ (e.currentTarget).closest("fieldset");
        rows.splice(i, 1);
        changed();
        /** @type {HTMLElement | null} */ (form?.querySelector("p > button"))?.focus(); // this button goes
      }, { kind: "quiet", label: w("grants.remove", { n: i + 1 }) }),
      grantPreview(namesIn(row.namespaces), namesIn(row.jobs)))),
    h("p", null, button(w("grants.add"), () => {
      rows.push(newRow());
      changed();
    })));
}

/** A hint at names that no namespace has: one is named after its context, or after the last part of its own name. @param {string} text */
function unknownIn(text) {
  const names = namesIn(text).filter((name) => !Object.keys(facts.databases ?? {}).some((n) => fits([name], n)));
  return names.length ? w("grants.unknown", { names: names.join(", ") }) : "";
}

/** @param {Row} row @param {number} i @param {() => void} changed @param {unknown} error */
function controls(row, i, changed, error) {
  const set = (/** @type {"role" | "namespaces" | "jobs"} */ name) => (/** @type {string} */ value) => {
    row[name] = value;
    changed();
  };
  const id = `grant-${row.key}-`;
  return [
    choice({
      id: id + "role", label: w("grants.role"), value: row.role, change: set("role"),
      options: ["viewer", "operator", "admin"].map((r) => [r, term("role", r)]), error: reasonOf(error, `grants[${i}]`),
    }),
    names(row, "namespaces", { id, error: reasonOf(error, `grants[${i}].namespaces`), change: set("namespaces"), list: Object.keys(facts.databases ?? {}), hint: unknownIn(row.namespaces) }),
    names(row, "jobs", { id, error: reasonOf(error, `grants[${i}].jobs`), change: set("jobs") }),
  ];
}

/**
 * A field for patterns of names. An empty one grants nothing, as all is granted by a star alone.
 * @param {Row} row @param {"namespaces" | "jobs"} name
 * @param {{id: string, change: (value: string) => void, error?: string, list?: string[], hint?: string}} o
 */
function names(row, name, { id, ...o }) {
  return field({ ...o, id: id + name, label: w(name === "jobs" ? "grants.jobs" : "grants.namespaces"), value: row[name], required: true, hint: row[name].trim() ? o.hint : w("grants.needed") });
}
