// Why nothing runs at a place of a timeline: what the API answers, and how that is told.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { namespace } from "./facts.js";
import { causeFacts, causeText } from "./timeline-causes.js";
import { whenFull } from "./time.js";
import { problem } from "./ui.js";
import { term, w } from "./words.js";

/**
 * @typedef {import("./types/api").Answer} Answer
 * @typedef {{time: number, answer?: Answer, error?: unknown}} Why
 */

/** Asks why an item did not run at why.time, and keeps the answer there. @param {string} job @param {number} item @param {Why} why */
export async function explain(job, item, why) {
  try {
    why.answer = await ask("GET /namespaces/{namespace}/jobs/{job}/why", { namespace, job, item, at: new Date(why.time).toISOString() });
  } catch (e) {
    why.error = e;
  }
}

/** The answer beside the chart. @param {number} item @param {Why} why */
export function whyFacts(item, why) {
  const { answer: a, error } = why;
  if (error) return [problem(error)];
  if (!a) return [h("p", { class: "soft" }, w("ui.loading"))];
  return [
    h("p", { class: "head" }, h("strong", null, w("timeline.itemN", { n: item })), " ", term("verdict", a.verdict)),
    a.tick ? h("dl", null, h("div", null, h("dt", null, w("timeline.tick")), h("dd", null, whenFull(a.tick)))) : null,
    a.causes.map(causeFacts),
    a.unseen.map((text) => h("p", { class: "hint" }, text)),
  ];
}

/** The same in one line, for who hears it. @param {number} item @param {Why} why */
export function whyText(item, why) {
  const a = why.answer;
  if (!a) return "";
  return [w("timeline.itemN", { n: item }), a.tick ? whenFull(a.tick) : "", term("verdict", a.verdict), ...a.causes.map(causeText)].filter(Boolean).join(", ");
}
