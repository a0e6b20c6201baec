// Form for a connection: to add one, or to change it, with a test before it is saved.
import { askAbout, isConflict } from "./actions.js";
import { answer, ask, Problem } from "./api.js";
import { connectionForm } from "./connections-form.js";
import { h } from "./dom.js";
import { button, note, refusal } from "./ui.js";
import { term, w } from "./words.js";

/** @typedef {import("./connections-form.js").Typed} Typed */
/** @typedef {import("./types/api").ConnectionTest} Test */

/** @type {Typed} */
const blank = {
  name: "", kind: "etcd", endpoints: "", namespace: "", driver: "mysql", address: "", database: "", user: "", password: "", stored: "", hasTLS: false,
  cacert: "", cert: "", key: "", serverName: "", grants: "",
};

/**
 * Asks for a connection. It resolves to whether it was saved.
 * @param {"namespaces" | "databases"} kind
 * @param {string | undefined} name the one to change; undefined: a new one
 * @param {import("./connections-form.js").Database[]} databases those that a namespace may have for its history
 */
export async function editConnection(kind, name, databases) {
  const isNew = name === undefined;
  const edit = { typed: blank, etag: "", theirs: /** @type {Typed | undefined} */ (undefined), test: /** @type {Test | Problem | undefined} */ (undefined) };
  if (!isNew) ({ typed: edit.typed, etag: edit.etag } = await read(kind, name));
  const begun = edit.typed;
  edit.typed = { ...begun };
  const put = async () => {
    const precondition = isNew ? { "If-None-Match": /** @type {const} */ ("*") } : { "If-Match": edit.etag };
    const params = { connection: edit.typed.name, ...precondition };
    try {
      if (kind === "namespaces") await ask("PUT /connections/namespaces/{connection}", params, namespaceBody(edit.typed));
      else await ask("PUT /connections/databases/{connection}", params, databaseBody(edit.typed));
    } catch (e) {
      if (isConflict(e) && !isNew) ({ typed: edit.theirs, etag: edit.etag } = await read(kind, name)); // who saves it again has seen what is there
      throw e;
    }
  };
  return askAbout({
    title: isNew ? (kind === "namespaces" ? w("connections.addNamespace") : w("connections.addDatabase")) : w("connections.editOf", { name }),
    does: w("ui.save"), run: put, valid: () => edit.typed.name !== "",
    form: (again, error) => [
      connectionForm({ kind, isNew, typed: edit.typed, databases, again, error }),
      h("div", { class: "several" },
        button(w("connections.test"), async () => {
          edit.test = await tryOut(kind, edit.typed).catch((e) => e);
          again();
        }),
        edit.test ? shown(edit.test) : null),
      edit.theirs && isConflict(error) ? conflict(begun, edit.theirs) : null,
    ],
  });
}

/** @param {"namespaces" | "databases"} kind @param {string} name */
async function read(kind, name) {
  const { value, etag } = kind === "namespaces"
    ? await answer("GET /connections/namespaces/{connection}", { connection: name })
    : await answer("GET /connections/databases/{connection}", { connection: name });
  const { tls, password, ...rest } = value;
  const endpoints = "endpoints" in value ? (value.endpoints ?? []).join("\n") : "";
  const typed = /** @type {Typed} */ ({ ...blank, ...rest, ...tls, endpoints, hasTLS: !!tls, stored: password ?? "", password: password?.startsWith("${") ? password : "" });
  return { typed, etag };
}

/** @param {Typed} t */
function common(t) {
  const some = (/** @type {string} */ text) => text || undefined;
  return {
    user: some(t.user), password: t.user ? some(t.password || t.stored) : some(t.password), database: some(t.database),
    tls: t.hasTLS ? { cacert: some(t.cacert), cert: some(t.cert), key: some(t.key), serverName: some(t.serverName) } : undefined,
  };
}

/** @param {Typed} t @returns {import("./types/api").NamespaceConnectionBody} */
function namespaceBody(t) {
  const endpoints = t.endpoints.split(/[\s,]+/).filter(Boolean);
  return { ...common(t), kind: t.kind, endpoints, namespace: t.namespace, grants: (t.kind === "zookeeper" && t.grants) || undefined };
}

/** @param {Typed} t @returns {import("./types/api").DatabaseConnectionBody} */
function databaseBody(t) {
  if (t.driver === "sqlite") return { driver: t.driver, address: t.address };
  return { ...common(t), driver: t.driver, address: t.address };
}

/** @param {"namespaces" | "databases"} kind @param {Typed} typed @returns {Promise<Test>} */
function tryOut(kind, typed) {
  const params = { connection: typed.name || "test" };
  return kind === "namespaces"
    ? ask("POST /connections/namespaces/{connection}/test", params, namespaceBody(typed))
    : ask("POST /connections/databases/{connection}/test", params, databaseBody(typed));
}

/** How a test has ended, in words. @param {Test} t */
export function testResult(t) {
  return t.ok ? w("connections.answers", { n: t.millis }) : term("reason", t.reason);
}

/** @param {Test | Problem} test */
function shown(test) {
  if (test instanceof Error) return refusal(test);
  return note(test.ok ? "good" : "bad", h("p", null, h("strong", null, testResult(test))), test.detail ? h("p", { class: "detail" }, test.detail) : null);
}

/** What somebody else has changed meanwhile. @param {Typed} begun @param {Typed} theirs */
function conflict(begun, theirs) {
  const names = /** @type {(keyof Typed)[]} */ (Object.keys(begun)).filter((n) => begun[n] !== theirs[n] && n in blank);
  return note("warn", h("p", null, w("connections.conflict")),
    h("ul", null, names.map((n) => h("li", null, h("code", null, n), ": ", String(theirs[n]) || w("ui.none")))));
}
