// The state of a page that stands in its address, so that it can be sent to others, and the way back works.

/** @returns {Record<string, string>} */
export function query() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/**
 * Changes the address without loading the page; what is empty leaves it.
 * @param {Record<string, string | undefined>} change
 * @param {boolean} [isStep] whether the way back comes to the address of now
 */
export function setQuery(change, isStep = false) {
  const search = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change)) {
    if (value) search.set(name, value);
    else search.delete(name);
  }
  const href = location.pathname + (search.size ? "?" + search : "") + location.hash;
  if (isStep) history.pushState(null, "", href);
  else history.replaceState(null, "", href);
}

/** Calls act when the user goes back or forth. @param {() => void} act */
export function onWayBack(act) {
  addEventListener("popstate", act);
}
