// What somebody may do: grants in words, and a form for them.
import { reasonOf } from "./api.js";
import { h } from "./dom.js";
import { facts } from "./facts.js";
import { choice, field } from "./form.js";
import { fits } from "./rights.js";
import { button } from "./ui.js";
import { term, w } from "./words.js";

/** @typedef {import("./facts.js").Grant} Grant */
/** @typedef {import("./types/api").GrantInfo} GrantInfo */
/** @typedef {{key: number, role: string, namespaces: string, jobs: string}} Row a grant as it is typed */

/** A grant in words. @param {Grant} g */
function grantText(g) {
  const namespaces = (g.namespaces ?? []).join(", ");
  const jobs = (g.jobs ?? []).join(", ");
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

/** @param {Grant[]} grants @returns {Row[]} */
export function rowsOf(grants) {
  return grants.map((g) => ({ key: ++count, role: g.role, namespaces: (g.namespaces ?? []).join(", "), jobs: (g.jobs ?? []).join(", ") }));
}

/** @param {string} text */
const namesIn = (text) => text.split(/[\s,，]+/).filter(Boolean);

/** @param {Row[]} rows @returns {GrantInfo[]} */
export function grantsOf(rows) {
  const list = (/** @type {string} */ text) => {
    const names = namesIn(text);
    return names.length ? names : undefined;
  };
  return rows.map((r) => ({ role: /** @type {GrantInfo["role"]} */ (r.role), namespaces: list(r.namespaces), jobs: list(r.jobs) }));
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
      }, { kind: "quiet", label: w("grants.remove", { n: i + 1 }) }))),
    h("p", null, button(w("grants.add"), () => {
      rows.push({ key: ++count, role: "viewer", namespaces: "", jobs: "" });
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
    field({ id: id + "namespaces", label: w("grants.namespaces"), value: row.namespaces, change: set("namespaces"), placeholder: w("grants.all"), list: Object.keys(facts.databases ?? {}), hint: unknownIn(row.namespaces) }),
    field({ id: id + "jobs", label: w("grants.jobs"), value: row.jobs, change: set("jobs"), placeholder: w("grants.all") }),
  ];
}
