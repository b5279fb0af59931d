/**
 * Caches rows that many requests read. A write of this process forgets the rows that it touches, or changes them as it
 * changes the table. A write that is rolled back, and any write of another process, forget all rows.
 */

/** Default size of a cache's recent map. When it is full, the rows that were not used since it was empty go. */
const GENERATION = 8192;

/** All row caches of one database, with one counter. */
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

  /** A counter of forgotten rows: while it stays the same, cached rows change only in their cache. */
  changes(): number {
    this.refresh();
    return this.#changes;
  }

  /**
   * Forgets all rows if another process has written. The database is asked once for all calls before the next
   * microtask: a socket is read later, and what it brings may have been sent after another process wrote.
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

/** Rows of one kind, by the keys that writes touch. */
export class RowCache<Found> {
  readonly #all: RowCaches;
  readonly #read: (key: string) => Found | null;
  readonly #generation: number;
  /**
   * Two maps, of which the older one goes as a whole. To delete the oldest entries one by one is slow: a map has to
   * skip the holes of those deleted before. A row may be in both; then the recent map has its present state.
   */
  #recent = new Map<string, Found>();
  #older = new Map<string, Found>();

  constructor(all: RowCaches, read: (key: string) => Found | null, generation: number) {
    this.#all = all;
    this.#read = read;
    this.#generation = generation;
  }

  /** Returns a row as it is now, or null. Throws `StoreUnavailable`. */
  find(key: string): Found | null {
    this.#all.refresh();
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const found = this.#older.get(key) ?? this.#read(key);
    if (found !== null) this.keep(key, found);
    return found;
  }

  /** Keeps a row, also as the write that is running makes it: nobody reads before the commit. */
  keep(key: string, found: Found): void {
    if (this.#recent.size >= this.#generation) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#all.count(); // A later write to a row that went now would not be noticed.
    }
    this.#recent.set(key, found);
  }

  /** The cached row, or undefined; for a write that is running and changes it, or for a use mark. */
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
