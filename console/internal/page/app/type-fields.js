// The fields of what a job runs, if that is a script, an HTTP request, or a type that a program describes: where a job is made, and where it is changed.
import { h } from "./dom.js";
import { area, choice, field } from "./form.js";
import { propKey } from "./settings-model.js";
import { familyOf } from "./type-props.js";
import { w } from "./words.js";

/**
 * @typedef {{props: import("./type-props.js").TypeProps, error: (key: string) => string | undefined, edit: (key: string, act: () => void) => void, disabled?: boolean}} TypeForm
 */

/** The fields of a type; none if nobody describes it. @param {TypeForm} form @returns {(import("./dom.js").Made | null)[]} */
export function typeFields(form) {
  return form.props.type === "SCRIPT" ? script(form) : form.props.type === "HTTP" ? http(form) : described(form);
}

/** What fields of properties have in common. @param {TypeForm} form @param {string} name */
function prop({ props, error, edit, disabled }, name) {
  const key = propKey(name);
  return {
    id: name.replaceAll(".", "-"), value: props.values[name], error: error(key), code: true, disabled,
    change: (/** @type {string} */ v) => edit(key, () => (props.values[name] = v)),
  };
}

/** A field of lines with names and values. @param {TypeForm} form @param {string} prefix */
function lines({ props, error, edit, disabled }, prefix) {
  const key = propKey(prefix);
  return {
    id: prefix.replaceAll(".", "-"), value: props.lines[prefix], error: error(key), code: true, rows: 3, disabled,
    change: (/** @type {string} */ v) => edit(key, () => (props.lines[prefix] = v)),
  };
}

/** @param {TypeForm} form */
function script(form) {
  const { props: { command }, error, edit, disabled } = form;
  const key = propKey("script.command.args");
  const hints = { shell: w("create.shellHint"), list: w("create.listHint"), line: w("create.lineHint") };
  return [
    area({
      id: "command", label: w("create.command"), hint: [hints[command.way], " ", w("create.contextHint")], rows: command.way === "line" ? 2 : 5, code: true, required: true,
      value: command.text, error: error(key), disabled, change: (v) => edit(key, () => (command.text = v)),
    }),
    choice({
      id: "way", label: w("create.way"), value: command.way, disabled, change: (v) => edit("way", () => (command.way = /** @type {typeof command.way} */ (v))),
      options: [["shell", w("create.shell")], ["list", w("create.list")], ["line", w("create.line")]],
    }),
    h("details", null, h("summary", null, w("create.moreScript")), h("div", { class: "fields" },
      field({ ...prop(form, "script.directory"), label: w("create.directory"), placeholder: "/srv/reports" }),
      field({ ...prop(form, "script.user"), label: w("create.user"), hint: w("create.userHint") }),
      field({ ...prop(form, "script.codes.success"), label: w("create.codes"), placeholder: "0", hint: w("create.codesHint") }),
      field({ ...prop(form, "script.codes.retry"), label: w("create.codesRetry"), hint: w("create.codesRetryHint") }),
      field({ ...prop(form, "script.grace"), label: w("create.grace"), placeholder: "10s", hint: w("create.graceHint") }),
      area({ ...lines(form, "script.env."), label: w("create.environment"), hint: w("create.environmentHint"), placeholder: "TOKEN=${env:TOKEN}" }))),
  ];
}

/** @param {TypeForm} form */
function http(form) {
  const method = form.props.values["http.method"] || "GET";
  const hasBody = ["POST", "PUT", "PATCH", "DELETE"].includes(method);
  return [
    h("div", { class: "request" },
      choice({ ...prop(form, "http.method"), label: w("create.method"), value: method, options: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((m) => [m, m]) }),
      field({ ...prop(form, "http.uri"), label: w("create.uri"), placeholder: "https://example.com/settle/${shardingItem}", required: true })),
    h("p", { class: "hint" }, w("create.placeholders"), " ", h("code", null, "${shardingItem} ${shardingParameter} ${jobParameter} ${scheduledTime} ${env:NAME}")),
    hasBody ? area({ ...prop(form, "http.data"), label: w("create.body"), placeholder: '{"city": ${json:shardingParameter}}', rows: 4 }) : null,
    hasBody ? field({ ...prop(form, "http.content.type"), label: w("create.contentType"), list: ["application/json", "application/x-www-form-urlencoded", "text/plain"] }) : null,
    area({ ...lines(form, "http.header."), label: w("create.headers"), hint: w("create.headersHint"), placeholder: "Authorization: Bearer ${env:TOKEN}" }),
    h("details", null, h("summary", null, w("create.moreHttp")), h("div", { class: "fields" },
      field({ ...prop(form, "http.success.codes"), label: w("create.httpCodes"), placeholder: "200-399" }),
      field({ ...prop(form, "http.read.timeout.milliseconds"), label: w("create.silence"), type: "number", placeholder: "5000", hint: w("create.silenceHint") }),
      field({ ...prop(form, "http.retry.attempts"), label: w("create.httpRetries"), type: "number", placeholder: "2", hint: w("create.httpRetriesHint") }))),
  ];
}

/** A program's own type: a field for each property that it describes. @param {TypeForm} form */
function described(form) {
  return form.props.rows.map((p, i) => {
    const prefix = familyOf(p);
    const hints = [p.meaning, p.allowed && w("create.allowed", { what: p.allowed }), p.secret && w("create.secret"), prefix && w("create.lines")];
    const about = { id: "type-" + i, label: p.name, hint: hints.filter(Boolean).join("; "), placeholder: p.default, required: p.required };
    return prefix ? area({ ...lines(form, prefix), ...about }) : field({ ...prop(form, p.name), ...about });
  });
}
