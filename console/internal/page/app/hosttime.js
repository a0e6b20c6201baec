// The time of the console's host: the clock of a browser may be minutes off, and then what runs would seem to be late, or yet to come.

/** How much later it is there, in milliseconds. */
let later = 0;

/** Takes the time of an answer, which is told in whole seconds. @param {string | null} date */
export function heard(date) {
  const apart = Date.parse(date ?? "") + 500 - Date.now();
  if (Number.isNaN(apart)) return;
  if (Math.abs(apart - later) > 2000) later = Math.abs(apart) > 2000 ? apart : 0;
}

/**
 * How it stands with what the page shows. What may be old is so since some time, in milliseconds since 1970: then the page is
 * blind, with a reason.
 * @typedef {{now: "connecting" | "live" | "doubt" | "away" | "removed", since?: number, why?: string}} Standing
 */
/** @type {Standing | undefined} */
let standing;
let changed = () => {};

/**
 * Says how it stands with what the page shows: what follows it says so. While the page is blind its time stands still: what was
 * so then is shown as it was, in grey, and nothing is counted.
 * @param {Standing} [now] none: nothing of it changes any more
 */
export function stand(now) {
  const [a, b] = [standing, now];
  if (a?.now === b?.now && a?.since === b?.since && a?.why === b?.why) return;
  standing = now;
  document.documentElement.classList.toggle("blind", now?.since !== undefined);
  changed();
}

/** How it stands with what the page shows; undefined for what does not change. */
export const standingOf = () => standing;

/** Calls a function whenever it stands otherwise. @param {() => void} f */
export const onStanding = (f) => (changed = f);

/** Since when what the page shows may be old; undefined if it is not. */
export const blindSince = () => standing?.since;

/** Now, in milliseconds since 1970; while the page is blind, since when it is. */
export const hostNow = () => standing?.since ?? Date.now() + later;
