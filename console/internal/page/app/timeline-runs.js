// Executions of a job in columns, by lanes: a lane is an item. 100,000 of them are found by time without looking at each.

/**
 * @typedef {import("./types/api").ColumnsInfo} Columns
 * @typedef {{id: string, item: number, tick: number, begin: number, end: number, outcome: string, source: string, owner: string}} Run
 * Times are in milliseconds since 1970; tick is NaN and end Infinity while they are not known.
 * @typedef {{item: number, rows: Int32Array, count: number, until: Float64Array, reach: Float64Array}} Lane
 * rows are the executions by begin; until is when each of them has ended as far as one can tell, and reach the latest of these so far.
 */

/** Words by numbers. */
class Words {
  /** @type {string[]} */ list = [];
  /** @type {Map<string, number>} */ places = new Map();

  /** @param {string} word */
  place(word) {
    let n = this.places.get(word);
    if (n === undefined) {
      n = this.list.push(word) - 1;
      this.places.set(word, n);
    }
    return n;
  }
}

export class Runs {
  outcomes = new Words();
  sources = new Words();
  owners = new Words();
  count = 0;
  /** @type {string[]} */ ids = [];
  /** @type {Map<string, number>} */ rows = new Map();
  /** @type {Map<number, Lane>} */ lanes = new Map();
  begin = new Float64Array(1024);
  end = new Float64Array(1024);
  tick = new Float64Array(1024);
  item = new Int32Array(1024);
  outcome = new Uint8Array(1024);
  source = new Uint8Array(1024);
  owner = new Uint16Array(1024);

  /** Adds what the API answers. @param {Columns} c */
  addColumns(c) {
    const zero = Date.parse(c.begin);
    const outcomes = c.outcomes.map((word) => this.outcomes.place(word));
    const sources = c.sources.map((word) => this.sources.place(word));
    const owners = c.instances.map((word) => this.owners.place(word));
    /** @type {Set<number>} */
    const touched = new Set();
    for (let i = 0; i < c.ids.length; i++) {
      const tick = c.ticks[i] < 0 ? NaN : zero + c.ticks[i];
      const begin = c.begun[i] < 0 ? tick : zero + c.begun[i];
      if (Number.isNaN(begin)) continue; // of an execution without any time nothing can be drawn
      const end = c.duration[i] < 0 ? Infinity : begin + c.duration[i];
      this.#put(c.ids[i], c.items[i], tick, begin, end, outcomes[c.outcome[i]], sources[c.source[i]], owners[c.instance[i]], touched);
    }
    this.#arrange(touched);
  }

  /** Adds what the live view tells. @param {Run[]} runs */
  addRuns(runs) {
    /** @type {Set<number>} */
    const touched = new Set();
    for (const r of runs) {
      this.#put(r.id, r.item, r.tick, r.begin, r.end, this.outcomes.place(r.outcome), this.sources.place(r.source), this.owners.place(r.owner), touched);
    }
    this.#arrange(touched);
  }

  /** Forgets all executions. */
  clear() {
    this.count = 0;
    this.ids = [];
    this.rows.clear();
    this.lanes.clear();
  }

  /** One execution. @param {number} row @returns {Run} */
  run(row) {
    return {
      id: this.ids[row], item: this.item[row], tick: this.tick[row], begin: this.begin[row], end: this.end[row],
      outcome: this.outcomes.list[this.outcome[row]], source: this.sources.list[this.source[row]], owner: this.owners.list[this.owner[row]],
    };
  }

  /**
   * The places in a lane's rows whose executions are in a span of time: from the first to before the second.
   * @param {Lane} lane @param {number} from @param {number} to @returns {[number, number]}
   */
  within(lane, from, to) {
    const high = search(lane.count, (i) => this.begin[lane.rows[i]] >= to);
    return [Math.min(search(lane.count, (i) => lane.reach[i] > from), high), high];
  }

  /**
   * @param {string} id @param {number} item @param {number} tick @param {number} begin @param {number} end
   * @param {number} outcome @param {number} source @param {number} owner @param {Set<number>} touched
   */
  #put(id, item, tick, begin, end, outcome, source, owner, touched) {
    let row = this.rows.get(id);
    if (row === undefined) {
      row = this.count++;
      if (row === this.begin.length) this.#grow();
      this.rows.set(id, row);
      this.ids[row] = id;
      this.owner[row] = owner;
      this.source[row] = source;
      this.#lane(item, row);
    } else if (this.end[row] < Infinity && end === Infinity) {
      return; // the older news came later
    } else {
      // Of what runs, the live view does not tell all.
      if (this.owners.list[owner]) this.owner[row] = owner;
      if (this.sources.list[source]) this.source[row] = source;
    }
    this.item[row] = item;
    this.tick[row] = tick;
    this.begin[row] = begin;
    this.end[row] = end;
    this.outcome[row] = outcome;
    touched.add(item);
  }

  /** @param {number} item @param {number} row */
  #lane(item, row) {
    let lane = this.lanes.get(item);
    if (!lane) {
      lane = { item, rows: new Int32Array(16), count: 0, until: new Float64Array(16), reach: new Float64Array(16) };
      this.lanes.set(item, lane);
    }
    if (lane.count === lane.rows.length) lane.rows = larger(lane.rows, Int32Array);
    lane.rows[lane.count++] = row;
  }

  #grow() {
    for (const column of /** @type {const} */ (["begin", "end", "tick"])) this[column] = larger(this[column], Float64Array);
    this.item = larger(this.item, Int32Array);
    this.outcome = larger(this.outcome, Uint8Array);
    this.source = larger(this.source, Uint8Array);
    this.owner = larger(this.owner, Uint16Array);
  }

  /** Sorts lanes, and finds out when what nobody has told the end of has ended: an item runs once at a time. @param {Set<number>} touched */
  #arrange(touched) {
    for (const item of touched) {
      const lane = this.lanes.get(item);
      if (!lane) continue;
      const rows = lane.rows.subarray(0, lane.count);
      if (rows.some((row, i) => i > 0 && this.begin[rows[i - 1]] > this.begin[row])) rows.sort((a, b) => this.begin[a] - this.begin[b]);
      if (lane.until.length < lane.rows.length) {
        lane.until = new Float64Array(lane.rows.length);
        lane.reach = new Float64Array(lane.rows.length);
      }
      for (let i = 0; i < lane.count; i++) {
        const end = this.end[rows[i]];
        lane.until[i] = end < Infinity || i + 1 === lane.count ? end : this.begin[rows[i + 1]];
        lane.reach[i] = i > 0 ? Math.max(lane.reach[i - 1], lane.until[i]) : lane.until[i];
      }
    }
  }
}

/**
 * @template {Int32Array | Float64Array | Uint8Array | Uint16Array} A
 * @param {A} before @param {new (n: number) => A} make
 */
function larger(before, make) {
  const now = new make(before.length * 2);
  now.set(before);
  return now;
}

/** The first number below count for which a condition holds that goes on to hold; count if there is none. @param {number} count @param {(i: number) => boolean} holds */
export function search(count, holds) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
