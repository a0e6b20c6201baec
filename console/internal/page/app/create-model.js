// How a form has the parameters of items, which a configuration writes in another way. Nothing here draws.

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
