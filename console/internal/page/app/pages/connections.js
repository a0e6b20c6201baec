// The namespaces and databases of the console: how it stands with each, and how to get there.
import { askAbout } from "../actions.js";
import { ask } from "../api.js";
import { editConnection, testResult } from "../connections-edit.js";
import { h } from "../dom.js";
import { inNamespace } from "../facts.js";
import { page, start, tell } from "../frame.js";
import { keep, Kept } from "../poll.js";
import { table } from "../table.js";
import { badge, button, empty, menu, problem, section, since, state } from "../ui.js";
import { term, w } from "../words.js";

/** @typedef {import("../types/api").NamespaceConnection} Namespace */
/** @typedef {import("../types/api").DatabaseConnection} Database */
/** @typedef {{namespaces: Namespace[], databases: Database[]}} Loaded */
/** @typedef {"namespaces" | "databases"} Kind */

/** @returns {Promise<Loaded>} */
async function load() {
  const [namespaces, databases] = await Promise.all([ask("GET /connections/namespaces", {}), ask("GET /connections/databases", {})]);
  return { namespaces: namespaces.rows, databases: databases.rows };
}

void start(load, (loaded) => {
  const all = new Kept(loaded, load, () => again());
  const again = page(() => [
    namespaces(all.now, all.refresh),
    databases(all.now, all.refresh),
  ]);
  keep(all.load, 5);
});

/** @param {Loaded} all @param {() => unknown} reload */
function namespaces(all, reload) {
  const add = button(w("connections.addNamespace"), async () => (await editConnection("namespaces", undefined, all.databases)) && reload(), { kind: "first" });
  return section(w("connections.namespaces"), { tools: add }, h("p", { class: "soft" }, w("connections.namespacesText")), table({
    label: w("connections.namespaces"), rows: all.namespaces, key: (n) => n.name, empty: empty(w("connections.noNamespaces")),
    columns: [
      { name: "name", text: w("connections.name"), cell: (n) => [h("a", { href: inNamespace([], {}, n.name) }, n.name), fixed(n)] },
      { name: "state", text: w("connections.state"), cell: phase },
      { name: "store", text: w("connections.store"), cell: (n) => h("div", { class: "several" }, n.kind ? term("kind", n.kind) : "–", (n.endpoints ?? []).map((e) => h("code", null, e))) },
      { name: "namespace", text: w("connections.namespace"), cell: (n) => (n.namespace ? h("code", null, n.namespace) : "–") },
      { name: "tls", text: "TLS", cell: (n) => encrypted(n) },
      { name: "database", text: w("connections.history"), cell: (n) => n.database ?? h("span", { class: "soft" }, w("ui.none")) },
      { name: "menu", text: w("ui.menu"), unseen: true, cell: (n) => actions("namespaces", n, all.databases, reload) },
    ],
  }));
}

/** @param {Loaded} all @param {() => unknown} reload */
function databases(all, reload) {
  const add = button(w("connections.addDatabase"), async () => (await editConnection("databases", undefined, [])) && reload());
  return section(w("connections.databases"), { tools: add }, h("p", { class: "soft" }, w("connections.databasesText")), table({
    label: w("connections.databases"), rows: all.databases, key: (d) => d.name, empty: empty(w("connections.noDatabases")),
    columns: [
      { name: "name", text: w("connections.name"), cell: (d) => [h("strong", null, d.name), fixed(d)] },
      { name: "state", text: w("connections.state"), cell: phase },
      { name: "driver", text: w("connections.driver"), cell: (d) => (d.driver ? term("kind", d.driver) : "–") },
      { name: "address", text: w("connections.address"), cell: (d) => h("div", { class: "several" }, d.address ? h("code", null, d.address) : "–", d.database ? h("code", null, d.database) : null) },
      { name: "tls", text: "TLS", cell: (d) => encrypted(d) },
      { name: "namespaces", text: w("connections.usedBy"), cell: (d) => d.namespaces.join(", ") || h("span", { class: "soft" }, w("connections.nobody")) },
      { name: "menu", text: w("ui.menu"), unseen: true, cell: (d) => actions("databases", d, [], reload) },
    ],
  }));
}

/** How it stands with a connection. @param {Namespace | Database} c */
function phase(c) {
  return h("div", { class: "several" }, h("span", null, state("phase", c.phase), " ", c.phase === "idle" ? null : since(c.since)), c.error ? h("span", { class: "reason" }, c.error) : null);
}

/** @param {Namespace | Database} c */
const fixed = (c) => (c.fixed ? [" ", badge("off", w("connections.fixed"), w("connections.fixedText"))] : null);

/** What the console does not know of a fixed one is left open. @param {Namespace | Database} c */
const encrypted = (c) => (c.tls ? w("ui.yes") : c.fixed ? "–" : w("ui.no"));

/** @param {Kind} kind @param {Namespace | Database} c @param {Database[]} databases @param {() => unknown} reload */
function actions(kind, c, databases, reload) {
  return menu(w("ui.menu"), [
    { text: w("connections.test"), act: () => test(kind, c.name) },
    !c.fixed && { text: w("ui.edit"), act: async () => (await editConnection(kind, c.name, databases)) && reload() },
    !c.fixed && { text: w("ui.remove"), danger: true, act: async () => (await remove(kind, c.name)) && reload() },
  ], c.name, true);
}

/** @param {Kind} kind @param {string} name */
async function test(kind, name) {
  try {
    const t = await ask(kind === "namespaces" ? "POST /connections/namespaces/{connection}/test" : "POST /connections/databases/{connection}/test", { connection: name });
    tell(t.ok ? "good" : "bad", h("p", null, h("strong", null, name), " ", testResult(t)), t.detail ? h("p", { class: "detail" }, t.detail) : null);
  } catch (e) {
    tell("bad", problem(e));
  }
}

/** @param {Kind} kind @param {string} name */
function remove(kind, name) {
  const isNamespace = kind === "namespaces";
  return askAbout({
    title: w("connections.removeAsk", { name }), text: isNamespace ? w("connections.removeNamespace") : w("connections.removeDatabase"), does: w("ui.remove"), danger: true,
    run: () => ask(isNamespace ? "DELETE /connections/namespaces/{connection}" : "DELETE /connections/databases/{connection}", { connection: name, "If-Match": "*" }),
  });
}
