/**
 * Rows that many requests read and few acts change, kept as they were read. They are forgotten by each act of our own on
 * their table, and as soon as another process has written anything.
 */
import type { Tables } from './tables.ts';

/** More rows than this are not kept: who has so many does not use them all at once. */
const MOST = 10_000;

/** The rows of one table by their ids. */
export class RowCache<Found> {
  readonly #tables: Tables;
  readonly #read: (id: string) => Found | null;
  readonly #kept = new Map<string, Found>();
  #version = Number.NaN;

  constructor(tables: Tables, read: (id: string) => Found | null) {
    this.#tables = tables;
    this.#read = read;
  }

  /** A row as it is now, or null. Throws `StoreUnavailable`. */
  find(id: string): Found | null {
    const version = this.#tables.dataVersion();
    if (version !== this.#version) this.forget();
    this.#version = version;
    const known = this.#kept.get(id);
    if (known !== undefined) return known;
    const found = this.#read(id);
    if (found !== null && this.#kept.size < MOST) this.#kept.set(id, found);
    return found;
  }

  /** Forgets all. An act does so where it writes: before it is committed nobody reads. */
  forget(): void {
    this.#kept.clear();
  }
}
