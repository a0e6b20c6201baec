// Ticks in a zone.
import { h } from "./dom.js";
import { whenIn } from "./time.js";

/**
 * @param {string[]} list
 * @param {string | undefined} zone that of the job; if it has none, that of the browser
 */
export function tickList(list, zone) {
  return h("ol", { class: "ticks" }, list.map((t) => h("li", null, h("time", { datetime: t, class: "num" }, whenIn(t, zone)))));
}
