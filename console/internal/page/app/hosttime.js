// The time of the console's host: the clock of a browser may be minutes off, and then what runs would seem to be late, or yet to come.

/** How much later it is there, in milliseconds. */
let later = 0;

/** Takes the time of an answer, which is told in whole seconds. @param {string | null} date */
export function heard(date) {
  const apart = Date.parse(date ?? "") + 500 - Date.now();
  if (Number.isNaN(apart)) return;
  if (Math.abs(apart - later) > 2000) later = Math.abs(apart) > 2000 ? apart : 0;
}

/** Now, in milliseconds since 1970. */
export const hostNow = () => Date.now() + later;
