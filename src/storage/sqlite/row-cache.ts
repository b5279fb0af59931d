/**
 * Rows that many requests read, kept as they were read. Each write of our own forgets those that it touches, or changes
 * them as it changes the table; a write that is undone, and any write of another process, make all of them forgotten.
 */
import type { Tables } from './tables.ts';

/** More rows than this are not kept: the one that was kept first goes. */
const MOST = 10_000;

/** Rows of one kind by the keys under which they are touched. */
export class RowCache<Found> {
  readonly #tables: Tables;
  readonly #read: (key: string) => Found | null;
  readonly #kept = new Map<string, Found>();
  #version = Number.NaN;

  constructor(tables: Tables, read: (key: string) => Found | null) {
    this.#tables = tables;
    this.#read = read;
    tables.addCache(this);
  }

  /** A row as it is now, or null. Throws `StoreUnavailable`. */
  find(key: string): Found | null {
    const version = this.#tables.dataVersion();
    if (version !== this.#version) this.forgetAll();
    this.#version = version;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const found = this.#read(key);
    if (found !== null) this.keep(key, found);
    return found;
  }

  /** Keeps a row as the write makes it that is being run: before it is committed nobody reads. */
  keep(key: string, found: Found): void {
    if (this.#kept.size >= MOST) this.#kept.delete(this.#kept.keys().next().value as string);
    this.#kept.set(key, found);
  }

  /** The same for a row that may not be kept; then it is not. */
  change(key: string, change: (kept: Found) => Found): void {
    const kept = this.#kept.get(key);
    if (kept !== undefined) this.#kept.set(key, change(kept));
  }

  forget(keys: readonly string[]): void {
    for (const key of keys) this.#kept.delete(key);
  }

  forgetAll(): void {
    this.#kept.clear();
  }
}
