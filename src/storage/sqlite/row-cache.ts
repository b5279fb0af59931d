/**
 * Rows that many requests read, kept as they were read. A write of this process forgets the rows that it touches, or
 * changes them as it changes the table. A write that is undone, and any write of another process, forget all rows.
 */

/** Maximum number of new rows, if nothing else is said, before those go that nobody asked for meanwhile. */
const GENERATION = 8192;

/** All rows that are kept of one database, with one counter for all. */
export class RowCaches {
  readonly #readDataVersion: () => number;
  readonly #caches: RowCache<unknown>[] = [];
  #dataVersion = Number.NaN;
  #isFresh = false;
  #changes = 0;

  /** `readDataVersion` reads SQLite's count of other connections' commits, and may throw `StoreUnavailable`. */
  constructor(readDataVersion: () => number) {
    this.#readDataVersion = readDataVersion;
  }

  /** A cache of rows of one kind; `read` reads a row from its table. */
  add<Found>(read: (key: string) => Found | null, generation = GENERATION): RowCache<Found> {
    const cache = new RowCache(this, read, generation);
    this.#caches.push(cache);
    return cache;
  }

  /** A number that grows whenever a row is forgotten: while it stays, kept rows change only where they are kept. */
  changes(): number {
    this.refresh();
    return this.#changes;
  }

  /**
   * Forgets all rows if another process has written. Whoever calls without a pause after another shares its result. Nobody
   * gets a result from before a socket was read, since what was read may have been sent after the other process wrote.
   */
  refresh(): void {
    if (this.#isFresh) return;
    const dataVersion = this.#readDataVersion();
    this.#isFresh = true;
    queueMicrotask(() => {
      this.#isFresh = false;
    });
    if (dataVersion !== this.#dataVersion) this.forgetAll();
    this.#dataVersion = dataVersion;
  }

  /** Forgets rows of whatever kind, in the write that touches them. */
  forget(keys: readonly string[]): void {
    for (const cache of this.#caches) cache.forget(keys);
  }

  forgetAll(): void {
    for (const cache of this.#caches) cache.forgetAll();
  }

  /** A cache has forgotten rows. */
  count(): void {
    this.#changes += 1;
  }
}

/** Rows of one kind, by the keys under which writes touch them. */
export class RowCache<Found> {
  readonly #all: RowCaches;
  readonly #read: (key: string) => Found | null;
  readonly #generation: number;
  /**
   * Two maps, of which the older one goes as a whole: a map that deletes its oldest entry first has to look past the holes
   * of all that it deleted before. A row that both have is right in the recent one.
   */
  #recent = new Map<string, Found>();
  #older = new Map<string, Found>();

  constructor(all: RowCaches, read: (key: string) => Found | null, generation: number) {
    this.#all = all;
    this.#read = read;
    this.#generation = generation;
  }

  /** A row as it is now, or null. Throws `StoreUnavailable`. */
  find(key: string): Found | null {
    this.#all.refresh();
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const found = this.#older.get(key) ?? this.#read(key);
    if (found !== null) this.keep(key, found);
    return found;
  }

  /** Keeps a row as the write makes it that is being run: nobody reads before it is committed. */
  keep(key: string, found: Found): void {
    if (this.#recent.size >= this.#generation) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#all.count(); // A later write to a row that went now would not be noticed.
    }
    this.#recent.set(key, found);
  }

  /** What is kept of a row, for the write that is being run to change it, or for a mark; undefined when nothing is. */
  kept(key: string): Found | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  forget(keys: readonly string[]): void {
    for (const key of keys) {
      const wasRecent = this.#recent.delete(key);
      if (this.#older.delete(key) || wasRecent) this.#all.count();
    }
  }

  forgetAll(): void {
    this.#recent.clear();
    this.#older.clear();
    this.#all.count();
  }
}
