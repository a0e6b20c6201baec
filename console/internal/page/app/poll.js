// Asks again and again for what no stream tells.

/**
 * Calls load every so many seconds while somebody looks, one after the other, and less often after failures.
 * @param {() => Promise<unknown>} load
 * @param {number} seconds
 * @returns {{now: () => void}} now asks at once
 */
export function poll(load, seconds) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let failures = 0;
  let busy = false;
  const run = async () => {
    clearTimeout(timer);
    if (busy) return;
    busy = true;
    try {
      await load();
      failures = 0;
    } catch {
      failures++; // load shows what is wrong
    }
    busy = false;
    if (!document.hidden) timer = setTimeout(run, seconds * 1000 * Math.min(2 ** failures, 16));
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (!document.hidden) void run();
  });
  timer = setTimeout(run, seconds * 1000);
  return { now: () => void run() };
}
