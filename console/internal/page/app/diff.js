// Which lines of a text have changed.

/** @typedef {{kind: "same" | "del" | "ins", text: string}} Line */

/** Longer changes are told as a whole: comparing each line with each takes too long then. */
const most = 4_000_000;

/**
 * The lines of both texts in their order, with the longest common ones.
 * @param {string} before
 * @param {string} after
 * @returns {Line[]}
 */
export function diff(before, after) {
  const a = linesOf(before);
  const b = linesOf(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return [
    ...mark("same", a.slice(0, head)),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...mark("same", a.slice(a.length - tail)),
  ];
}

/** @param {string} text */
function linesOf(text) {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}

/** @param {Line["kind"]} kind @param {string[]} lines @returns {Line[]} */
const mark = (kind, lines) => lines.map((text) => ({ kind, text }));

/** @param {string[]} a @param {string[]} b @returns {Line[]} */
function middle(a, b) {
  if (a.length * b.length > most) return [...mark("del", a), ...mark("ins", b)];
  // common[i * width + j] is how many lines a from i and b from j have in common.
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j;
      common[at] = a[i] === b[j] ? common[at + width + 1] + 1 : Math.max(common[at + width], common[at + 1]);
    }
  }
  /** @type {Line[]} */
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: "same", text: a[i++] });
      j++;
    } else if (j === b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) out.push({ kind: "del", text: a[i++] });
    else out.push({ kind: "ins", text: b[j++] });
  }
  return out;
}
