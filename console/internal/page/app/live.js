// Listens to the API: server-sent events of a namespace or a job. Nothing is open while nobody looks, as a browser has six
// connections for all its tabs.
import { address, ask, Problem } from "./api.js";
import { hostNow, stand } from "./hosttime.js";
import { poll } from "./poll.js";

/**
 * @typedef {{
 *   reset?: (data: JobsChange) => void, update?: (data: JobsChange) => void, job?: (data: import("./types/api").JobView) => void,
 *   state: (now: LiveState, why?: string) => void,
 * }} Listener
 * @typedef {{jobs?: import("./types/api").JobInfo[], removed?: string[], more?: boolean}} JobsChange
 * @typedef {"connecting" | "live" | "doubt" | "away" | "removed" | "denied"} LiveState
 */

/**
 * Listens until the page goes. State says how it stands: "doubt" is that what was told may be incomplete or old, with the reason.
 * What may be old is so since some time: then the page is blind until it is over.
 * @param {string} template "/namespaces/{namespace}/watch" or that of a job
 * @param {Record<string, string>} params
 * @param {Listener} listener
 */
export function listen(template, params, listener) {
  /** @type {EventSource | undefined} */
  let source;
  let last = "";
  let ended = false;
  let wait = 1000;

  const open = () => {
    if (source || ended || document.hidden) return;
    listener.state("connecting");
    const s = new EventSource(address(template, { ...params, lastEventId: last }).href);
    source = s;
    const on = (/** @type {string} */ name, /** @type {((data: any) => void) | undefined} */ tell) =>
      s.addEventListener(name, (e) => {
        const event = /** @type {MessageEvent} */ (e);
        if (event.lastEventId) last = event.lastEventId;
        wait = 1000;
        tell?.(JSON.parse(event.data));
      });
    const state = (/** @type {LiveState} */ now, /** @type {number | undefined} */ since, /** @type {string | undefined} */ why) => {
      stand(since);
      listener.state(now, why);
    };
    s.onopen = () => state("live", undefined, undefined);
    on("reset", listener.reset);
    on("update", listener.update);
    on("job", listener.job);
    on("fault", (d) => state(d.fault ? "doubt" : "live", d.since && Date.parse(d.since), d.fault));
    on("bye", (d) => {
      close();
      if (d.code === "removed") {
        ended = true;
        listener.state("removed", d.reason);
      } else if (d.code === "denied") {
        state("away", hostNow(), undefined);
        void findOut();
      } else again();
    });
    s.onerror = () => {
      state("away", hostNow(), undefined); // which is since it was blind already, if it was
      if (s.readyState !== EventSource.CLOSED) return; // it comes again by itself
      close();
      void findOut();
    };
  };
  // A stream does not say why there is none: who is logged in no more is asked to log in, and who has lost the right is shown that.
  const findOut = async () => {
    const { namespace, job } = params;
    try {
      if (job) await ask("GET /namespaces/{namespace}/jobs/{job}", { namespace, job });
      else await ask("GET /namespaces/{namespace}/jobs", { namespace, limit: 1 });
    } catch (e) {
      if (e instanceof Problem && e.status === 403) location.reload();
    }
    again();
  };
  const close = () => {
    source?.close();
    source = undefined;
  };
  const again = () => {
    setTimeout(open, wait);
    wait = Math.min(wait * 2, 30000);
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  // A stream is no use of a session, and somebody who looks at a page is not idle.
  poll(() => ask("GET /me", {}), 300);
  open();
}
