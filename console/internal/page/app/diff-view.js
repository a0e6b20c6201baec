// Shows what of a text has changed: lines that have gone, lines that are new, and a few around them.
import { diff } from "./diff.js";
import { h } from "./dom.js";
import { w } from "./words.js";

const around = 2;
const most = 2000;

/**
 * @param {string} before
 * @param {string} after
 * @param {string} [label]
 */
export function diffView(before, after, label = w("diff.label")) {
  const lines = diff(before, after);
  if (lines.every((l) => l.kind === "same")) return h("p", { class: "hint" }, w("diff.same"));
  const isNear = lines.map(() => false);
  lines.forEach((l, i) => l.kind !== "same" && isNear.fill(true, Math.max(0, i - around), i + around + 1));
  const out = [];
  for (let i = 0; i < lines.length && out.length < most; ) {
    if (isNear[i]) {
      out.push(line(lines[i++]));
      continue;
    }
    let j = i;
    while (j < lines.length && !isNear[j]) j++;
    out.push(h("div", { class: "skipped" }, w("diff.skipped", { n: j - i })));
    i = j;
  }
  return h("div", { class: "diff code", role: "group", "aria-label": label }, out, out.length >= most ? h("p", { class: "hint" }, w("diff.more")) : null);
}

/** @param {import("./diff.js").Line} l */
function line(l) {
  const sign = { same: " ", del: "-", ins: "+" }[l.kind];
  return h(l.kind === "same" ? "div" : l.kind, { class: "line" }, h("span", { class: "mark", "aria-hidden": "true" }, sign), h("span", null, l.text || " "));
}
