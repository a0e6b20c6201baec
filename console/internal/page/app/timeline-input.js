// What people do on a timeline with mouse, fingers and keys.

/**
 * @typedef {{
 *   gutter: () => number, width: () => number,
 *   point: (x: number, y: number) => void, ask: (x: number, y: number) => void, leave: () => void, close: () => void,
 *   pan: (part: number) => void, zoom: (factor: number, part: number) => void,
 *   step: (lanes: number, runs: number) => void, end: (isLast: boolean) => void, cause: (later: boolean) => void, open: () => void, why: () => void, now: () => void,
 * }} Acts
 * point is where the mouse is, from the corner of the box, and ask where it was clicked; pan moves by a part of the span; zoom keeps what is at a part of the width.
 */

/** @param {HTMLElement} box @param {Acts} acts */
export function takeInput(box, acts) {
  takePointers(box, acts);
  box.addEventListener("wheel", (e) => {
    const sideways = e.shiftKey ? e.deltaY : e.deltaX;
    if (e.ctrlKey || e.metaKey) acts.zoom(Math.exp(Math.max(Math.min(e.deltaY, 100), -100) * 0.004), partAt(box, acts, e.clientX));
    else if (Math.abs(sideways) > (e.shiftKey ? 0 : Math.abs(e.deltaY))) acts.pan(sideways / acts.width());
    else return;
    e.preventDefault();
  }, { passive: false });
  box.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const key = (e.shiftKey ? "Shift+" : "") + e.key;
    const act = keys[key] ?? keys[e.key];
    if (!act) return;
    e.preventDefault();
    act(acts);
  });
}

/** @type {Record<string, (acts: Acts) => void>} */
const keys = {
  ArrowLeft: (a) => a.step(0, -1), ArrowRight: (a) => a.step(0, 1), ArrowUp: (a) => a.step(-1, 0), ArrowDown: (a) => a.step(1, 0),
  "Shift+ArrowLeft": (a) => a.pan(-0.2), "Shift+ArrowRight": (a) => a.pan(0.2), PageUp: (a) => a.pan(-0.9), PageDown: (a) => a.pan(0.9),
  "+": (a) => a.zoom(0.5, 0.5), "=": (a) => a.zoom(0.5, 0.5), "-": (a) => a.zoom(2, 0.5), Home: (a) => a.end(false), End: (a) => a.end(true),
  Enter: (a) => a.open(), w: (a) => a.why(), c: (a) => a.cause(false), C: (a) => a.cause(true), n: (a) => a.now(), Escape: (a) => a.close(),
};

/** @param {HTMLElement} box @param {Acts} acts @param {number} clientX */
function partAt(box, acts, clientX) {
  return Math.min(Math.max((clientX - box.getBoundingClientRect().left - acts.gutter()) / acts.width(), 0), 1);
}

/** Pointing, dragging, and two fingers. @param {HTMLElement} box @param {Acts} acts */
function takePointers(box, acts) {
  /** @type {Map<number, PointerEvent>} */
  const down = new Map();
  let moved = 0;
  const at = (/** @type {MouseEvent} */ e, /** @type {(x: number, y: number) => void} */ act) => {
    const r = box.getBoundingClientRect();
    act(e.clientX - r.left, e.clientY - r.top);
  };
  const point = (/** @type {PointerEvent} */ e) => at(e, acts.point);
  box.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    down.set(e.pointerId, e);
    moved = 0;
    point(e);
  });
  box.addEventListener("pointermove", (e) => {
    const before = down.get(e.pointerId);
    if (!before) return point(e);
    const others = [...down.values()].filter((o) => o.pointerId !== e.pointerId);
    const by = e.clientX - before.clientX;
    moved += Math.abs(by) + Math.abs(e.clientY - before.clientY);
    if (moved < 5) return;
    if (!box.hasPointerCapture(e.pointerId)) box.setPointerCapture(e.pointerId);
    down.set(e.pointerId, e);
    if (others.length === 1) {
      const [was, is] = [before, e].map((p) => Math.max(Math.abs(p.clientX - others[0].clientX), 10));
      acts.zoom(was / is, partAt(box, acts, (e.clientX + others[0].clientX) / 2));
    } else if (!others.length) {
      acts.pan(-by / acts.width());
      if (e.pointerType === "mouse") box.scrollTop -= e.clientY - before.clientY;
    }
  });
  const up = (/** @type {PointerEvent} */ e) => down.delete(e.pointerId);
  box.addEventListener("pointerup", up);
  box.addEventListener("pointercancel", up);
  box.addEventListener("pointerleave", () => !down.size && acts.leave());
  box.addEventListener("dragstart", (e) => e.preventDefault());
  // The end of a drag is no click on what is below it.
  box.addEventListener("click", (e) => (moved >= 5 ? e.preventDefault() : at(e, acts.ask)), true);
}
