// Listens to the API: server-sent events of a namespace or a job. Nothing is open while nobody looks, as a browser has six
// connections for all its tabs.
import { address, ask, Problem } from "./api.js";
import { facts } from "./facts.js";
import { blindSince, hostNow, stand } from "./hosttime.js";
import { poll } from "./poll.js";

/**
 * @typedef {{
 *   reset?: (data: JobsChange) => void, update?: (data: JobsChange) => void, job?: (data: import("./types/api").JobView) => void,
 *   failed?: (error: unknown) => void, removed?: (reason: string) => void,
 * }} Listener
 * @typedef {{jobs?: import("./types/api").JobInfo[], removed?: string[], more?: boolean}} JobsChange
 */

/** For how long nothing may come, in milliseconds: a beat comes every 5 s. */
const patience = 12000;

/**
 * Listens until the page goes, and says how it stands. Failed is called if nothing was told yet, and removed when what the page
 * is about is gone.
 * @param {string} template "/namespaces/{namespace}/watch" or that of a job
 * @param {Record<string, string>} params with lastEventId it goes on from there
 * @param {Listener} listener
 * @returns {() => string} the id of the last event
 */
export function listen(template, params, listener) {
  /** @type {EventSource | undefined} */
  let source;
  let last = params.lastEventId ?? "";
  /** @type {any} */
  let view;
  let begun = false;
  let ended = false;
  let wait = 1000;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let silence;
  let heard = 0;

  // What is between may have gone, and the browser does not see it.
  const listenOn = () => {
    clearTimeout(silence);
    heard = hostNow();
    silence = setTimeout(() => {
      stand({ now: "away", since: heard });
      close();
      again();
    }, patience);
  };
  const open = () => {
    if (source || ended || document.hidden) return;
    stand({ now: "connecting", since: blindSince() });
    const s = new EventSource(address(template, { ...params, patches: !!listener.job, lastEventId: last }).href);
    source = s;
    listenOn();
    const on = (/** @type {string} */ name, /** @type {((data: any) => void) | undefined} */ tell) =>
      s.addEventListener(name, (e) => {
        const event = /** @type {MessageEvent} */ (e);
        if (event.lastEventId) last = event.lastEventId;
        wait = 1000;
        listenOn();
        tell?.(JSON.parse(event.data));
      });
    s.onopen = () => {
      begun = true;
      stand({ now: "live" });
      look().catch(() => {}); // it is asked for again soon
    };
    on("reset", listener.reset);
    on("update", listener.update);
    on("job", (d) => listener.job?.(view = d));
    on("patch", (d) => listener.job?.(view = patched(view, d)));
    on("beat", undefined);
    on("fault", (d) => stand({ now: d.fault ? "doubt" : "live", since: d.since && Date.parse(d.since), why: d.fault }));
    on("bye", (d) => {
      close();
      if (d.code === "removed") {
        ended = true;
        stand({ now: "removed" });
        listener.removed?.(d.reason);
      } else if (d.code === "denied") {
        stand({ now: "away", since: hostNow() });
        void findOut().then(again);
      } else again();
    });
    s.onerror = () => {
      stand({ now: "away", since: hostNow() }); // which is since it was blind already, if it was
      const isOver = s.readyState === EventSource.CLOSED; // else it comes again by itself
      if (isOver) close();
      if (isOver) void findOut().then(again);
      else if (!begun) void findOut();
    };
  };
  // A stream does not say why there is none: who is logged in no more is asked to log in, and who has lost the right is shown that.
  const findOut = async () => {
    const { namespace, job } = params;
    try {
      if (job) await ask("GET /namespaces/{namespace}/jobs/{job}", { namespace, job });
      else await ask("GET /namespaces/{namespace}/jobs", { namespace, limit: 1 });
    } catch (e) {
      if (begun && e instanceof Problem && e.status === 403) location.reload();
      else if (!begun) listener.failed?.(e);
    }
  };
  // With other rights the page begins anew, with the buttons of what may be done now. A stream ends when rights change.
  const look = async () => {
    const me = await ask("GET /me", {});
    if (rights(me) !== rights(facts)) location.reload();
  };
  const close = () => {
    clearTimeout(silence);
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
  poll(look, 300);
  open();
  return () => last;
}

/**
 * A value with others in it, by their JSON pointers; null is one that is gone. What has not changed is the same object as before.
 * @param {any} before
 * @param {Record<string, any>} patch
 */
function patched(before, patch) {
  const made = new Set();
  const copy = (/** @type {any} */ value) => {
    if (made.has(value)) return value;
    const own = Array.isArray(value) ? [...value] : { ...value };
    made.add(own);
    return own;
  };
  const now = copy(before);
  for (const [pointer, value] of Object.entries(patch)) {
    const path = pointer.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = /** @type {string} */ (path.pop());
    let at = now;
    for (const name of path) at = typeof at?.[name] === "object" ? (at[name] = copy(at[name])) : undefined;
    if (value !== null && at) at[last] = value;
    else if (at) delete at[last];
  }
  return now;
}

/** What somebody may do, as a text. @param {{grants?: import("./facts.js").Grant[], within?: import("./facts.js").Grant[]}} who */
function rights({ grants = [], within = [] }) {
  return JSON.stringify([grants, within].map((list) => list.map((g) => [g.role, g.namespaces ?? [], g.jobs ?? []])));
}
