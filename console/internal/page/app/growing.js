// A list that comes in pages, the newest first, and grows at its beginning while one looks at it.

const first = 50;
const most = 200; // rows that are asked for again, to see what has changed
const gathered = 200; // new rows that may come beyond those that somebody asked for, while the page is open

/**
 * @template {{id?: string}} R
 */
export class Growing {
  /** @type {R[]} */ rows = [];
  #next = "";
  #wanted = first;
  #ask;

  /** @param {(after: string | undefined, limit: number) => Promise<{rows: R[], next?: string}>} ask asks for what the address wants */
  constructor(ask) {
    this.#ask = ask;
  }

  /** Whether there are older ones that are not loaded. */
  get isMore() {
    return this.#next !== "";
  }

  /** The newest ones, new or again. Older ones that were loaded stay, if nothing is missing between, and they are not too many. */
  async load() {
    const address = location.search;
    const page = await this.#ask(undefined, Math.min(Math.max(this.rows.length, first), most));
    if (address !== location.search) return; // others are on their way
    const known = new Set(page.rows.map((r) => r.id));
    const older = this.rows.filter((r) => !known.has(r.id));
    const isFew = page.rows.length + older.length <= this.#wanted + gathered;
    const isJoined = isFew && page.next && older.length > 0 && older.length < this.rows.length;
    if (isJoined) {
      this.rows = [...page.rows, ...older];
    } else {
      this.rows = page.rows;
      this.#next = page.next ?? "";
      this.#wanted = first;
    }
  }

  async more() {
    const address = location.search;
    const page = await this.#ask(this.#next, first);
    if (address !== location.search) return;
    const known = new Set(this.rows.map((r) => r.id));
    this.rows = [...this.rows, ...page.rows.filter((r) => !known.has(r.id))];
    this.#next = page.next ?? "";
    this.#wanted = this.rows.length;
  }

  /** Forgets all: other filters count. */
  clear() {
    this.rows = [];
    this.#next = "";
    this.#wanted = first;
  }
}
