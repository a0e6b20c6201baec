// Figures of many values: quantiles, by time and how often.

/** @typedef {{n: number, p50: number, p95: number, p99: number, max: number}} Figures */

/** The value that a share of all is not above. @param {ArrayLike<number>} sorted @param {number} share */
export function quantile(sorted, share) {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** @param {ArrayLike<number>} sorted @returns {Figures} */
export function figuresOf(sorted) {
  return { n: sorted.length, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), p99: quantile(sorted, 0.99), max: sorted[sorted.length - 1] ?? 0 };
}

/**
 * Figures for each of some equally long times.
 * @param {{time: number, value: number}[]} points
 * @param {number} from @param {number} to @param {number} count
 * @returns {(Figures & {from: number, to: number})[]}
 */
export function byTime(points, from, to, count) {
  const length = (to - from) / count;
  /** @type {number[][]} */
  const values = Array.from({ length: count }, () => []);
  for (const p of points) values[Math.min(count - 1, Math.floor((p.time - from) / length))]?.push(p.value);
  return values.map((v, i) => ({ from: from + i * length, to: from + (i + 1) * length, ...figuresOf(v.sort((a, b) => a - b)) }));
}

/**
 * How many values there are in each of some ranges, which grow by a factor if the values are very different.
 * @param {ArrayLike<number>} sorted
 * @param {number} count
 * @returns {{isLogarithmic: boolean, bins: {from: number, to: number, n: number}[]}}
 */
export function histogram(sorted, count) {
  const max = Math.max(sorted[sorted.length - 1] ?? 0, 1);
  const min = Math.max(sorted[0] ?? 0, 1);
  const isLogarithmic = max > 30 * Math.max(quantile(sorted, 0.5), 1) || max > 100 * min;
  const edge = (/** @type {number} */ i) => (isLogarithmic ? min * (max / min) ** (i / count) : (max * i) / count);
  const bins = Array.from({ length: count }, (_, i) => ({ from: i || !isLogarithmic ? edge(i) : 0, to: edge(i + 1), n: 0 }));
  let bin = 0;
  for (let i = 0; i < sorted.length; i++) {
    while (bin < count - 1 && sorted[i] > bins[bin].to) bin++;
    bins[bin].n++;
  }
  return { isLogarithmic, bins };
}
