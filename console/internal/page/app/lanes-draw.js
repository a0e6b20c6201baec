// Draws what has become of a job: a letter for each cell of a time, as the API has them.
import { missedSign } from "./timeline-draw.js";
import { coloursOf, hatching } from "./timeline-paint.js";

/** @param {HTMLCanvasElement} canvas @param {string} cells */
export function drawCells(canvas, cells) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const c = canvas.getContext("2d");
  if (!c || !width) return;
  const dots = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * dots), Math.round(height * dots)];
  c.setTransform(dots, 0, 0, dots, 0, 0);
  const colours = laneColours(canvas);
  const hatch = hatching(c, colours.ground);
  const x = (/** @type {number} */ i) => Math.round((i / cells.length) * width);
  for (const { 0: letters, index } of cells.matchAll(/o+|[fx]+/g)) {
    const [left, right] = [x(index), Math.max(x(index + letters.length), x(index) + 2)];
    const isFailed = letters[0] !== "o";
    c.fillStyle = isFailed ? colours.bad : colours.bars[8];
    c.fillRect(left, isFailed ? 2 : 5, right - left, height - (isFailed ? 4 : 10));
    c.fillStyle = hatch;
    if (isFailed && right - left >= 4) c.fillRect(left, 4, right - left, height - 8);
  }
  let free = -Infinity; // signs do not cover each other
  for (const { index } of cells.matchAll(/[mx]/g)) {
    const middle = x(index + 0.5);
    if (middle < free) continue;
    missedSign(c, { laneHeight: height, colours }, middle, 0);
    free = middle + 12;
  }
}

/** @type {import("./timeline-paint.js").Colours | undefined} */
let known;

/** @param {HTMLElement} el */
function laneColours(el) {
  known ??= coloursOf(el.parentElement ?? el);
  return known;
}

/** The colours are others now. */
export function forgetColours() {
  known = undefined;
}
