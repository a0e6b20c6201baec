// The controls of a connection.
import { reasonOf } from "./api.js";
import { h } from "./dom.js";
import { area, check, choice, field } from "./form.js";
import { note } from "./ui.js";
import { term, w } from "./words.js";

/**
 * @typedef {{
 *   name: string, kind: "etcd" | "zookeeper", endpoints: string, namespace: string, driver: "sqlite" | "mysql" | "postgres", address: string,
 *   database: string, user: string, password: string, stored: string, hasTLS: boolean, cacert: string, cert: string, key: string,
 *   serverName: string, grants: string,
 * }} Typed
 * A connection as it is typed. stored stands for the password that the console has.
 * @typedef {import("./types/api").DatabaseConnection} Database
 */

/**
 * @param {{kind: "namespaces" | "databases", isNew: boolean, typed: Typed, databases: Database[], again: () => void, error: unknown}} f
 */
export function connectionForm(f) {
  const { typed } = f;
  /** @param {"name" | "endpoints" | "namespace" | "address" | "database" | "user" | "password" | "cacert" | "cert" | "key" | "serverName" | "grants"} name */
  const common = (name, of = name === "cacert" || name === "cert" || name === "key" || name === "serverName" ? "tls." + name : name) => ({
    id: "c-" + name, value: typed[name], error: reasonOf(f.error, of),
    change: (/** @type {string} */ v) => {
      typed[name] = v;
      f.again();
    },
  });
  const name = f.isNew ? field({ ...common("name"), label: w("connections.name"), required: true, autofocus: true, hint: w("connections.nameHint") }) : null;
  const login = [
    field({ ...common("user"), label: w("connections.user") }),
    field({
      ...common("password"), label: w("connections.password"), type: typed.password.startsWith("$") ? "text" : "password", autocomplete: "new-password",
      placeholder: typed.stored ? w("connections.unchanged") : "", hint: w("connections.passwordHint"),
    }),
  ];
  const tls = [
    check({
      id: "c-tls", label: w("connections.tls"), value: typed.hasTLS,
      change: (v) => {
        typed.hasTLS = v;
        f.again();
      },
    }),
    typed.hasTLS ? h("div", { class: "fields" },
      field({ ...common("cacert"), label: w("connections.cacert"), hint: w("connections.cacertHint"), code: true }),
      field({ ...common("serverName"), label: w("connections.serverName"), hint: w("connections.serverNameHint") }),
      field({ ...common("cert"), label: w("connections.cert"), code: true }),
      field({ ...common("key"), label: w("connections.key"), code: true })) : null,
  ];
  if (f.kind === "namespaces") return h("div", { class: "formrows" }, name, store(f, common), h("div", { class: "fields" }, login), tls, more(f, common));
  const isFile = typed.driver === "sqlite";
  return h("div", { class: "formrows" },
    name,
    choice({
      id: "c-driver", label: w("connections.driver"), value: typed.driver, options: ["mysql", "postgres", "sqlite"].map((d) => [d, term("kind", d)]), error: reasonOf(f.error, "driver"),
      change: (v) => {
        typed.driver = /** @type {Typed["driver"]} */ (v);
        f.again();
      },
    }),
    field({ ...common("address"), label: isFile ? w("connections.file") : w("connections.address"), required: true, code: true, hint: isFile ? w("connections.fileHint") : w("connections.addressHint") }),
    isFile ? null : [field({ ...common("database"), label: w("connections.schema"), required: true }), h("div", { class: "fields" }, login), tls]);
}

/** @typedef {Parameters<typeof connectionForm>[0]} Form */
/** @typedef {(name: "endpoints" | "namespace" | "database" | "grants") => {id: string, value: string, error?: string, change: (v: string) => void}} Common */

/** Where a namespace is. @param {Form} f @param {Common} common */
function store(f, common) {
  const { typed } = f;
  return [
    choice({
      id: "c-kind", label: w("connections.store"), value: typed.kind, options: ["etcd", "zookeeper"].map((k) => [k, term("kind", k)]), error: reasonOf(f.error, "kind"),
      change: (v) => {
        typed.kind = /** @type {Typed["kind"]} */ (v);
        f.again();
      },
    }),
    area({ ...common("endpoints"), label: w("connections.endpoints"), required: true, rows: 3, code: true, hint: w("connections.endpointsHint"), placeholder: typed.kind === "etcd" ? "etcd-1:2379" : "zookeeper-1:2181" }),
    field({ ...common("namespace"), label: w("connections.namespace"), required: true, code: true, hint: w("connections.namespaceHint") }),
  ];
}

/** What else a namespace has. @param {Form} f @param {Common} common */
function more(f, common) {
  const others = f.databases.find((d) => d.name === f.typed.database)?.namespaces.filter((n) => n !== f.typed.name) ?? [];
  return [
    f.typed.kind === "zookeeper" && f.typed.user ? field({ ...common("grants"), label: w("connections.grants"), hint: w("connections.grantsHint"), code: true }) : null,
    choice({ ...common("database"), label: w("connections.history"), hint: w("connections.historyHint"), options: [["", w("ui.none")], ...f.databases.map((d) => /** @type {[string, string]} */ ([d.name, d.name]))] }),
    others.length ? note("warn", w("connections.historyShared", { names: others.join(", ") })) : null,
  ];
}
