// The time of the console's host: the clock of a browser may be minutes off, and then what runs would seem to be late, or yet to come.

/** How much later it is there, in milliseconds. */
let later = 0;

/** Takes the time of an answer, which is told in whole seconds. @param {string | null} date */
export function heard(date) {
  const apart = Date.parse(date ?? "") + 500 - Date.now();
  if (Number.isNaN(apart)) return;
  if (Math.abs(apart - later) > 2000) later = Math.abs(apart) > 2000 ? apart : 0;
}

/** @type {number | undefined} */
let blind;

/**
 * Says since when what the page shows may be old; undefined if it is not. The time of the page stands still there: what was so
 * then is shown as it was, in grey, and nothing is counted.
 * @param {number | undefined} t
 */
export function stand(t) {
  blind = t;
  document.documentElement.classList.toggle("blind", t !== undefined);
}

/** Since when what the page shows may be old, in milliseconds since 1970; undefined if it is not. */
export const blindSince = () => blind;

/** Now, in milliseconds since 1970; while the page is blind, since when it is. */
export const hostNow = () => blind ?? Date.now() + later;
