// What a new job runs: a script, an HTTP request, or what a program offers.
import { h } from "./dom.js";
import { area, choice, field } from "./form.js";
import { propKey } from "./settings-model.js";
import { note } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./create-state.js").Draft} Draft */

/** @type {{type: import("./create-state.js").Type, text: () => string, about: () => string}[]} */
const types = [
  { type: "SCRIPT", text: () => w("create.script"), about: () => w("create.scriptAbout") },
  { type: "HTTP", text: () => w("create.http"), about: () => w("create.httpAbout") },
  { type: "", text: () => w("create.program"), about: () => w("create.programAbout") },
];

/**
 * @param {Draft} draft
 * @param {string[] | undefined} offers what processes offer; undefined: that is not known
 */
export function typeView(draft, offers) {
  const what = draft.type || draft.implementation;
  return [
    h("fieldset", { class: "types" }, h("legend", { class: "unseen" }, w("create.what")), types.map((t) => h("label", { key: t.type },
      h("input", { type: "radio", name: "type", value: t.type, checked: draft.type === t.type, onchange: () => draft.edit("type", () => (draft.type = t.type)) }),
      h("span", null, h("strong", null, t.text()), h("span", { class: "hint" }, t.about()))))),
    draft.type === "SCRIPT" ? script(draft) : draft.type === "HTTP" ? http(draft) : program(draft, offers ?? []),
    offers && what && !offers.includes(what) ? note("warn", w("create.notOffered", { what })) : null,
  ];
}

/**
 * What fields of properties have in common.
 * @param {Draft} draft
 * @param {string} name
 */
function prop(draft, name) {
  const key = propKey(name);
  return {
    id: name.replaceAll(".", "-"), value: draft.fields[key] ?? "", error: draft.error(key), code: true,
    change: (/** @type {string} */ v) => draft.edit(key, () => (draft.fields[key] = v)),
  };
}

/** A field of lines with names and values. @param {Draft} draft @param {string} prefix */
function lines(draft, prefix) {
  const key = propKey(prefix);
  return {
    id: prefix.replaceAll(".", "-"), value: draft.lines[prefix] ?? "", error: draft.error(key), code: true, rows: 3,
    change: (/** @type {string} */ v) => draft.edit(key, () => (draft.lines[prefix] = v)),
  };
}

/** @param {Draft} draft */
function script(draft) {
  const { command } = draft;
  const key = propKey("script.command.args");
  const hints = { shell: w("create.shellHint"), list: w("create.listHint"), line: w("create.lineHint") };
  return [
    area({
      id: "command", label: w("create.command"), hint: [hints[command.way], " ", w("create.contextHint")], rows: command.way === "line" ? 2 : 5, code: true, required: true,
      value: command.text, error: draft.error(key), change: (v) => draft.edit(key, () => (command.text = v)),
    }),
    choice({
      id: "way", label: w("create.way"), value: command.way, change: (v) => draft.edit("way", () => (command.way = /** @type {typeof command.way} */ (v))),
      options: [["shell", w("create.shell")], ["list", w("create.list")], ["line", w("create.line")]],
    }),
    h("details", null, h("summary", null, w("create.moreScript")), h("div", { class: "fields" },
      field({ ...prop(draft, "script.directory"), label: w("create.directory"), placeholder: "/srv/reports" }),
      field({ ...prop(draft, "script.user"), label: w("create.user"), hint: w("create.userHint") }),
      field({ ...prop(draft, "script.codes.success"), label: w("create.codes"), placeholder: "0", hint: w("create.codesHint") }),
      field({ ...prop(draft, "script.codes.retry"), label: w("create.codesRetry"), hint: w("create.codesRetryHint") }),
      field({ ...prop(draft, "script.grace"), label: w("create.grace"), placeholder: "10s", hint: w("create.graceHint") }),
      area({ ...lines(draft, "script.env."), label: w("create.environment"), hint: w("create.environmentHint"), placeholder: "TOKEN=${env:TOKEN}" }))),
  ];
}

/** @param {Draft} draft */
function http(draft) {
  const method = draft.fields[propKey("http.method")] || "GET";
  const hasBody = ["POST", "PUT", "PATCH", "DELETE"].includes(method);
  return [
    h("div", { class: "request" },
      choice({ ...prop(draft, "http.method"), label: w("create.method"), value: method, options: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((m) => [m, m]) }),
      field({ ...prop(draft, "http.uri"), label: w("create.uri"), placeholder: "https://example.com/settle/${shardingItem}", required: true })),
    h("p", { class: "hint" }, w("create.placeholders"), " ", h("code", null, "${shardingItem} ${shardingParameter} ${jobParameter} ${scheduledTime} ${env:NAME}")),
    hasBody ? area({ ...prop(draft, "http.data"), label: w("create.body"), placeholder: '{"city": ${json:shardingParameter}}', rows: 4 }) : null,
    hasBody ? field({ ...prop(draft, "http.content.type"), label: w("create.contentType"), list: ["application/json", "application/x-www-form-urlencoded", "text/plain"] }) : null,
    area({ ...lines(draft, "http.header."), label: w("create.headers"), hint: w("create.headersHint"), placeholder: "Authorization: Bearer ${env:TOKEN}" }),
    h("details", null, h("summary", null, w("create.moreHttp")), h("div", { class: "fields" },
      field({ ...prop(draft, "http.success.codes"), label: w("create.httpCodes"), placeholder: "200-399" }),
      field({ ...prop(draft, "http.read.timeout.milliseconds"), label: w("create.silence"), type: "number", placeholder: "5000", hint: w("create.silenceHint") }),
      field({ ...prop(draft, "http.retry.attempts"), label: w("create.httpRetries"), type: "number", placeholder: "2", hint: w("create.httpRetriesHint") }))),
  ];
}

/** @param {Draft} draft @param {string[]} offers */
function program(draft, offers) {
  return field({
    id: "implementation", label: w("create.implementation"), hint: w("create.implementationHint"), required: true, code: true, list: offers.filter((o) => o !== "SCRIPT" && o !== "HTTP").slice(0, 500),
    value: draft.implementation, error: draft.error("implementation"), change: (v) => draft.edit("implementation", () => (draft.implementation = v.trim())),
  });
}
