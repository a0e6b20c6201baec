// What the server has put into the document: see type facts of document.go.

/**
 * @typedef {{
 *   page: string, root: string, language: "en" | "zh", theme?: "light" | "dark", zone?: "job" | "utc",
 *   params: Record<string, string>, production?: boolean, user?: string, grants?: Grant[], within?: Grant[],
 *   databases?: Record<string, boolean>, passwords: boolean, users: boolean, provider?: string,
 *   version?: string, code?: string, reason?: string,
 * }} Facts
 * @typedef {import("./types/api").GrantInfo} Grant
 */

/** @type {Facts} */
export const facts = JSON.parse(document.getElementById("facts")?.textContent ?? "{}");

/** The namespace that the page is in; empty if it is in none. */
export const namespace = facts.params.namespace ?? "";

/** The job that the page is about; empty if it is about none. */
export const job = facts.params.job ?? "";

/**
 * A link to a page of the console: its parts are escaped.
 * @param {string[]} parts
 * @param {Record<string, string | number | undefined>} [query] what is undefined or empty is left out
 */
export function link(parts, query = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") search.set(name, String(value));
  }
  const tail = search.size ? "?" + search : "";
  return facts.root + parts.map(encodeURIComponent).join("/") + tail;
}

/**
 * A link to a page of the documentation, in a tab of its own: what stands here stays. Props of <a>.
 * @param {string} page @param {string} name a heading, or the name of a fault, a finding or a field, of which this makes the anchor
 */
export function manual(page, name) {
  return { href: facts.root + "docs/" + page + "#" + name.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-"), target: "elasticjob-docs" };
}

/**
 * A link to a page of a namespace.
 * @param {string[]} parts
 * @param {Record<string, string | number | undefined>} [query]
 */
export function inNamespace(parts, query, name = namespace) {
  return link(["namespaces", name, ...parts], query);
}
