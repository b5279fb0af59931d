/**
 * Rows that many requests read, kept as they were read. Each write of our own forgets those that it touches, or changes
 * them as it changes the table; a write that is undone, and any write of another process, make all of them forgotten.
 */
import type { ForgettingCache, Tables } from './tables.ts';

/**
 * With so many new rows, if nothing else is said, those that nobody asked for since there were as many the last time go,
 * all together: to find its oldest entry a map has to look past the holes of those that went before.
 */
const GENERATION = 8192;

/** Rows of one kind by the keys under which they are touched. */
export class RowCache<Found> implements ForgettingCache {
  readonly #tables: Tables;
  readonly #read: (key: string) => Found | null;
  readonly #generation: number;
  /** What a row is stands in the newer map that has it. */
  #recent = new Map<string, Found>();
  #older = new Map<string, Found>();
  #version = Number.NaN;
  #changes = 0;

  constructor(tables: Tables, read: (key: string) => Found | null, generation = GENERATION) {
    this.#tables = tables;
    this.#read = read;
    this.#generation = generation;
    tables.addCache(this);
  }

  /** A number that grows whenever a row is forgotten: as long as it does not, rows only change where they are kept. */
  changes(): number {
    this.#refresh();
    return this.#changes;
  }

  /** A row as it is now, or null. Throws `StoreUnavailable`. */
  find(key: string): Found | null {
    this.#refresh();
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const found = this.#older.get(key) ?? this.#read(key);
    if (found !== null) this.keep(key, found);
    return found;
  }

  /** Keeps a row as the write makes it that is being run: before it is committed nobody reads. */
  keep(key: string, found: Found): void {
    if (this.#recent.size >= this.#generation) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#changes += 1;
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
      if (this.#older.delete(key) || wasRecent) this.#changes += 1;
    }
  }

  forgetAll(): void {
    this.#changes += 1;
    this.#recent.clear();
    this.#older.clear();
  }

  /** Sees whether another process has written. */
  #refresh(): void {
    const version = this.#tables.dataVersion();
    if (version !== this.#version) this.forgetAll();
    this.#version = version;
  }
}
