// How live a page is: a word beside its heading.
import { badge } from "./ui.js";
import { w } from "./words.js";

/** @typedef {import("./live.js").LiveState} LiveState */

/**
 * Says whether the page shows what is, or what was.
 * @param {LiveState} now
 * @param {string} [why]
 */
export function liveness(now, why) {
  if (now === "live") return badge("good", w("ui.live"));
  if (now === "connecting") return badge("busy", w("ui.connecting"));
  if (now === "doubt") return badge("warn", w("ui.doubt"), why);
  return badge("bad", w("ui.away"), why);
}
