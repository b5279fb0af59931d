/**
 * Notes of which generation of a grant was used last, and when, to ten minutes: kept here, answered with the grant at
 * once, and written behind in batches. A crash loses at most the last second, in the lenient direction.
 */
import { type Grant, USE_IS_NEWS_AFTER_MS } from '../oauth/grant.ts';
import { StoreUnavailable } from '../oauth/store.ts';
import { rowKey } from './row-key.ts';

/** A grant's mark, as it is written: its `rowKey`, the highest generation used, and when, in ms since the epoch. */
export type Use = { readonly key: string; readonly generation: number; readonly usedAt: number };

/** What marks work with. */
export type UseMarksParts = {
  /** Writes some, in the order of their keys; they only ever grow in the database, too. What it throws is tried again. */
  readonly write: (uses: readonly Use[]) => Promise<unknown>;
  /** So many share one write at most, so that others do not wait long behind it. */
  readonly mostPerWrite: number;
};

/** How often marks are written: a use that is noted is on disk this much later. */
const WRITE_EVERY_MS = 500;
/** So many marks are written before it is time. */
const MANY = 8192;
/** So many marks mean that nothing can be written at all; then grants that have none yet get none. */
const MOST = 65_536;

/** The marks of one instance. They only ever grow. */
export class UseMarks {
  readonly #parts: UseMarksParts;
  readonly #marks = new Map<string, Use>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: UseMarksParts) {
    this.#parts = parts;
  }

  /**
   * Notes a use at `at` (ms), if that is news; answers when the use was that is noted, and null when no more can be.
   * `grant` is as it was found, marks included.
   */
  note(grant: Grant, generation: number, at: number): number | null {
    const lastUsedAt = grant.lastUsedAt ?? 0;
    if (generation <= grant.usedGeneration && at - lastUsedAt < USE_IS_NEWS_AFTER_MS) return lastUsedAt;
    const key = rowKey(grant.id);
    const mark = this.#marks.get(key);
    if (!mark && this.#marks.size >= MOST) return null;
    const grown = { generation: Math.max(generation, mark?.generation ?? 0), usedAt: Math.max(at, mark?.usedAt ?? 0) };
    this.#marks.set(key, { key, ...grown });
    if (this.#marks.size === MANY && !mark) void this.#write();
    if (!this.#timer) this.#schedule();
    return at;
  }

  /** The grant as it will be when its mark is written. */
  merge(grant: Grant): Grant {
    const mark = this.#marks.size > 0 ? this.#marks.get(rowKey(grant.id)) : undefined;
    if (!mark) return grant;
    return {
      ...grant,
      usedGeneration: Math.max(grant.usedGeneration, mark.generation),
      lastUsedAt: Math.max(grant.lastUsedAt ?? 0, mark.usedAt),
    };
  }

  /** Tries to write all marks that are noted by now, for a search that puts grants together. */
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

  /** One after the other, so that marks never take the database for themselves. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  /** In the order of the rows: those of one page are written with it once, and statements do not wait in a circle. */
  async #writeAll(): Promise<void> {
    const sorted = [...this.#marks.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
    const { mostPerWrite } = this.#parts;
    for (let start = 0; start < sorted.length; start += mostPerWrite) {
      const isServing = await this.#writeSome(sorted.slice(start, start + mostPerWrite));
      if (!isServing) return;
    }
  }

  /** What is not written stays here, and is tried again: nobody waits for it. Answers whether there is a point in going on. */
  async #writeSome(uses: readonly Use[]): Promise<boolean> {
    try {
      await this.#parts.write(uses);
    } catch (error) {
      return !(error instanceof StoreUnavailable);
    }
    for (const use of uses) if (this.#marks.get(use.key) === use) this.#marks.delete(use.key);
    return true;
  }
}
