// Asks /api/v1. Operations, their parameters and answers have types: api.d.ts is made of the OpenAPI document.
import { heard } from "./hosttime.js";
import { facts } from "./facts.js";
import { logInAgain } from "./session.js";

/** @typedef {import("./types/api").Operations} Operations */

/** What the API refuses, or that it could not be asked. */
export class Problem extends Error {
  /**
   * @param {Partial<import("./types/api").Problem> & {code: string, status: number}} p
   * @param {number} [wait] after how many seconds to come again
   */
  constructor(p, wait = 0) {
    super(p.detail ?? p.code);
    this.wait = wait;
    this.status = p.status;
    this.code = p.code;
    this.errors = p.errors ?? [];
    this.changes = p.changes ?? [];
  }
}

/**
 * What the API says of a field of a body: undefined if nothing is wrong with it.
 * @param {unknown} error
 * @param {string} field
 */
export function reasonOf(error, field) {
  const wrong = error instanceof Problem ? error.errors.filter((e) => e.field === "body." + field || e.field.startsWith(`body.${field}[`)) : [];
  return wrong.map((e) => e.reason).join("; ") || undefined;
}

/** What the API says of the fields of a configuration, by their keys. @param {unknown} error @returns {Map<string, string>} */
export function reasonsOf(error) {
  const wrong = error instanceof Problem ? error.errors : [];
  return new Map(wrong.map((e) => [e.field.replace(/^body\.(config\.)?/, ""), e.reason]));
}

/**
 * Asks one operation: ask("GET /namespaces/{namespace}/jobs", {namespace, limit: 100}). Parameters stand in the path, in a
 * header if they begin with a capital, or in the query; what is undefined or empty is left out.
 * @template {keyof Operations} O
 * @param {O} operation
 * @param {Operations[O]["in"]} params
 * @param {Operations[O]["body"]} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<Operations[O]["out"]>}
 */
export async function ask(operation, params, body, signal) {
  return (await answer(operation, params, body, signal)).value;
}

/**
 * As ask, with the version of the answer, for If-Match. If the session has ended, the user logs in again, and it goes on.
 * @template {keyof Operations} O
 * @param {O} operation
 * @param {Operations[O]["in"]} params
 * @param {Operations[O]["body"]} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<{value: Operations[O]["out"], etag: string}>}
 */
export async function answer(operation, params, body, signal) {
  for (;;) {
    try {
      return await once(operation, params, body, signal);
    } catch (e) {
      if (!(e instanceof Problem) || e.status !== 401 || !facts.user) throw e;
      await logInAgain();
    }
  }
}

/**
 * As answer, of whoever is logged in: for what has to do with the log-in itself.
 * @template {keyof Operations} O
 * @param {O} operation
 * @param {Operations[O]["in"]} params
 * @param {Operations[O]["body"]} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<{value: Operations[O]["out"], etag: string}>}
 */
export async function once(operation, params, body, signal) {
  const [method, template] = operation.split(" ");
  const { href, headers } = address(template, params);
  /** @type {RequestInit} */
  const init = { method, headers: { Accept: "application/json", ...headers }, signal };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, "Content-Type": "application/json" };
  }
  let response;
  let text;
  try {
    response = await fetch(href, init);
    heard(response.headers.get("Date"));
    text = await response.text();
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Problem({ status: 0, code: "console-away" });
  }
  const value = valueOf(response, text);
  const wait = Number(response.headers.get("Retry-After")) || 0;
  if (!response.ok) throw new Problem(value?.code ? value : elsewhere(response, text), wait);
  return { value, etag: response.headers.get("ETag") ?? "" };
}

/** @param {Response} response @param {string} text */
function valueOf(response, text) {
  if (!text || !response.headers.get("Content-Type")?.includes("json")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem({ status: 0, code: "console-away" }); // another one has answered, or the answer was cut
  }
}

/** What has failed if it is not the API that says so, but a proxy before it. @param {Response} response @param {string} text */
function elsewhere(response, text) {
  if ([502, 503, 504].includes(response.status)) return { status: 0, code: "console-away" };
  const isText = response.headers.get("Content-Type")?.startsWith("text/plain");
  return { status: response.status, code: "http-" + response.status, detail: isText ? text.slice(0, 300) : undefined };
}

/**
 * A new Idempotency-Key: a request that is sent again with it, because its answer was lost, is made once. Browsers have
 * crypto.randomUUID on safe origins alone.
 */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("-");
}

/**
 * Where an operation is asked.
 * @param {string} template
 * @param {Record<string, any>} params
 */
export function address(template, params) {
  const rest = { ...params };
  const path = template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(value);
  });
  /** @type {Record<string, string>} */
  const headers = {};
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined || value === "" || value === false) continue;
    if (/^[A-Z]/.test(name)) headers[name] = String(value);
    else query.set(name, String(value));
  }
  const tail = query.size ? "?" + query : "";
  return { href: facts.root + "api/v1" + path + tail, headers };
}

/**
 * All rows of a list that comes in pages, up to a bound: more says that there are others.
 * @template {keyof Operations} O
 * @param {O} operation
 * @param {Operations[O]["in"]} params
 * @param {number} [bound]
 * @returns {Promise<{rows: Operations[O]["out"] extends {rows: (infer R)[]} ? R[] : never, more: boolean}>}
 */
export async function all(operation, params, bound = 10000) {
  /** @type {any[]} */
  const rows = [];
  let after = "";
  do {
    const page = /** @type {any} */ (await ask(operation, /** @type {any} */ ({ limit: 1000, ...params, after })));
    rows.push(...page.rows);
    after = page.next ?? "";
  } while (after && rows.length < bound);
  return { rows: /** @type {any} */ (rows), more: after !== "" };
}
