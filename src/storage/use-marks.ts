/**
 * Use marks: the highest generation of a grant that was used, and when, to ten minutes. They are kept in memory, merged
 * into each grant that is found, and written later in batches. A crash loses at most the last second, and then allows
 * more and not less.
 */
import { type Grant, USE_IS_NEWS_AFTER_MS, type Use } from '../oauth/grant.ts';
import { StoreUnavailable } from '../oauth/store.ts';
import { rowKey } from './row-key.ts';

/** A grant's mark, as it is written: its `rowKey`, the highest generation used, and the last time. */
export type Mark = Use & { readonly key: string };

/** What use marks need. */
export type UseMarksParts = {
  /** Writes some, in the order of their keys; a mark in the database only grows, too. If it throws, it is tried again. */
  readonly write: (marks: readonly Mark[]) => Promise<unknown>;
  /** Maximum number of marks in one write, so that others do not wait long behind it. */
  readonly maxPerWrite: number;
};

/** Time between two writes: a mark is on disk at most this much later. */
const WRITE_EVERY_MS = 500;
/** Number of marks that are written at once, without waiting for the time. */
const EARLY_WRITE_SIZE = 8192;
/** Maximum number of marks. It is only reached if nothing can be written; then no grant gets its first mark. */
const MAX_MARKS = 65_536;

/** The marks of one instance. They only ever grow. */
export class UseMarks {
  readonly #parts: UseMarksParts;
  readonly #marks = new Map<string, Mark>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: UseMarksParts) {
    this.#parts = parts;
  }

  /**
   * Notes a use, unless the mark says the same to ten minutes. Returns the time that the mark has now, or
   * null if there is no room for it. `grant` is as it was found, with its mark merged in.
   */
  note(grant: Grant, { generation, usedAt }: Use): number | null {
    const lastUsedAt = grant.lastUsedAt ?? 0;
    if (generation <= grant.usedGeneration && usedAt - lastUsedAt < USE_IS_NEWS_AFTER_MS) return lastUsedAt;
    const key = rowKey(grant.id);
    const mark = this.#marks.get(key);
    if (!mark && this.#marks.size >= MAX_MARKS) return null;
    const grown = {
      generation: Math.max(generation, mark?.generation ?? 0),
      usedAt: Math.max(usedAt, mark?.usedAt ?? 0),
    };
    this.#marks.set(key, { key, ...grown });
    if (this.#marks.size === EARLY_WRITE_SIZE && !mark) void this.#write();
    if (!this.#timer) this.#schedule();
    return usedAt;
  }

  /** Returns the grant as it will be when its mark is written. */
  merge(grant: Grant): Grant {
    const mark = this.#marks.size > 0 ? this.#marks.get(rowKey(grant.id)) : undefined;
    if (!mark) return grant;
    return {
      ...grant,
      usedGeneration: Math.max(grant.usedGeneration, mark.generation),
      lastUsedAt: Math.max(grant.lastUsedAt ?? 0, mark.usedAt),
    };
  }

  /** Tries to write all marks that are noted by now, for a query over many grants. */
  async flush(): Promise<void> {
    if (this.#marks.size === 0) return;
    await this.#writing; // It may have begun before some were noted.
    await this.#write();
  }

  /** Writes all marks, and then no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.flush();
  }

  #schedule(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#writeInTime(), WRITE_EVERY_MS).unref();
  }

  async #writeInTime(): Promise<void> {
    await this.#write();
    this.#timer = null;
    if (this.#marks.size > 0) this.#schedule();
  }

  /** One write at a time, so that marks never occupy the whole database. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  /** In the order of the rows: then each page is written once, and two statements cannot deadlock. */
  async #writeAll(): Promise<void> {
    const sorted = [...this.#marks.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
    const { maxPerWrite } = this.#parts;
    for (let start = 0; start < sorted.length; start += maxPerWrite) {
      const isServing = await this.#writeSome(sorted.slice(start, start + maxPerWrite));
      if (!isServing) return;
    }
  }

  /** Marks that are not written stay here and are tried again. Returns false if the store is unavailable: stop for now. */
  async #writeSome(marks: readonly Mark[]): Promise<boolean> {
    try {
      await this.#parts.write(marks);
    } catch (error) {
      return !(error instanceof StoreUnavailable);
    }
    for (const mark of marks) if (this.#marks.get(mark.key) === mark) this.#marks.delete(mark.key);
    return true;
  }
}
