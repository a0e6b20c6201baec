// How a form has what a configuration writes in another way: parameters of items, commands, and lists in properties. Nothing here draws.

/**
 * The parameters of items by their numbers: 0=north,1=south. A comma and an equals sign in one are written \, and \=.
 * @param {string} text
 * @returns {string[]}
 */
export function parametersOf(text) {
  /** @type {string[]} */
  const out = [];
  let fields = [""];
  const end = () => {
    const item = Number(fields[0].trim());
    if (fields.length > 1 && Number.isInteger(item) && item >= 0 && item < 100000) out[item] = fields.slice(1).join("=").trim();
    fields = [""];
  };
  for (const [, run, sign, other] of text.matchAll(/(\\*)([,=])|([^,=\\]+|\\+)/g)) {
    if (other !== undefined) fields[fields.length - 1] += other;
    else {
      // Before a comma and an equals sign two backslashes are one; one that is left over makes the sign a letter.
      fields[fields.length - 1] += "\\".repeat(Math.floor(run.length / 2)) + (run.length % 2 ? sign : "");
      if (run.length % 2) continue;
      if (sign === ",") end();
      else fields.push("");
    }
  }
  end();
  return Array.from(out, (parameter) => parameter ?? "");
}

/** The text of parameters; items without one are left out. @param {string[]} parameters */
export function parametersText(parameters) {
  const pairs = [];
  for (const [item, parameter] of parameters.entries()) {
    if (parameter?.trim()) pairs.push(`${item}=` + parameter.trim().replace(/(\\*)([,=])/g, "$1$1\\$2"));
  }
  return pairs.map((pair, i) => (i < pairs.length - 1 ? pair.replace(/\\+$/, "$&$&") : pair)).join(",");
}

/** @typedef {"shell" | "list" | "line"} Way how a command is written: a text for a shell, one argument a line, or a line split at spaces */

/**
 * The command of a script job.
 * @param {string | undefined} line script.command.line
 * @param {string | undefined} args script.command.args
 * @returns {{way: Way, text: string}}
 */
export function commandOf(line, args) {
  if (line) return { way: "line", text: line };
  /** @type {unknown} */
  let list;
  try {
    list = JSON.parse(args ?? "");
  } catch {
    return { way: "shell", text: "" }; // none, or none that is a list
  }
  if (!Array.isArray(list)) return { way: "shell", text: "" };
  if (list.length === 3 && list[0] === "/bin/sh" && list[1] === "-c") return { way: "shell", text: list[2] };
  const isPlain = list.every((a) => !a.includes("\n")) && !list[0]?.startsWith("[");
  return { way: "list", text: isPlain ? list.join("\n") : JSON.stringify(list) };
}

/**
 * The properties of a command.
 * @param {{way: Way, text: string}} command
 * @returns {Record<string, string>}
 */
export function commandProps({ way, text }) {
  if (!text.trim()) return {};
  if (way === "line") return { "script.command.line": text.trim() };
  if (way === "shell") return { "script.command.args": JSON.stringify(["/bin/sh", "-c", text]) };
  const isList = text.trimStart().startsWith("[");
  return { "script.command.args": isList ? text.trim() : JSON.stringify(text.split("\n").filter((line) => line !== "")) };
}

/**
 * Properties with names that begin in the same way, as lines of names and values.
 * @param {Record<string, string>} props
 * @param {string} prefix
 * @param {string} between what stands between name and value
 */
export function linesOf(props, prefix, between) {
  return Object.entries(props).filter(([name]) => name.startsWith(prefix)).map(([name, value]) => name.slice(prefix.length) + between + value).join("\n");
}

/**
 * The properties of such lines, and those lines that are none.
 * @param {string} text
 * @param {string} prefix
 * @param {string} between
 */
export function propsOfLines(text, prefix, between) {
  const sign = between.trim();
  /** @type {Record<string, string>} */
  const props = {};
  /** @type {string[]} */
  const wrong = [];
  for (const line of text.split("\n")) {
    const at = line.indexOf(sign);
    if (at > 0) props[prefix + line.slice(0, at).trim()] = line.slice(at + sign.length).trim();
    else if (line.trim()) wrong.push(line.trim());
  }
  return { props, wrong };
}
