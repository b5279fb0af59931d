/**
 * Marks that are kept in memory and written later in batches, one write at a time. A crash loses at most the last
 * second of marks, so losing one must never make a check stricter.
 */
import { StoreUnavailable } from '../../oauth/store.ts';

/** The dependencies of a `WriteBehind`. */
export type WriteBehindParts<Mark> = {
  /**
   * Writes marks, in key order; must never lower a mark in the database. Returns those to retry; if it throws, all are
   * retried.
   */
  readonly write: (marks: readonly Mark[]) => Promise<readonly Mark[]>;
  /** Maximum number of marks in one write, so that other writes do not wait long behind it. */
  readonly maxPerWrite: number;
};

/** Maximum time until a mark is written (ms). */
const WRITE_EVERY_MS = 500;
/** Number of marks at which a write starts early. */
const EARLY_WRITE_SIZE = 8192;
/** Maximum number of marks, reached only if writes fail; further new marks are then refused. */
const MAX_MARKS = 65_536;

/** The unwritten marks of one instance, by their keys. */
export class WriteBehind<Mark extends { readonly key: string }> {
  readonly #parts: WriteBehindParts<Mark>;
  readonly #marks = new Map<string, Mark>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: WriteBehindParts<Mark>) {
    this.#parts = parts;
  }

  /** Returns the unwritten mark of a key. */
  get(key: string): Mark | undefined {
    return this.#marks.size > 0 ? this.#marks.get(key) : undefined;
  }

  /** Replaces the mark of its key; returns false if there is no room for a new key. */
  set(mark: Mark): boolean {
    const isNew = !this.#marks.has(mark.key);
    if (isNew && this.#marks.size >= MAX_MARKS) return false;
    this.#marks.set(mark.key, mark);
    if (this.#marks.size === EARLY_WRITE_SIZE && isNew) void this.#write();
    if (!this.#timer) this.#schedule();
    return true;
  }

  /** Tries to write all marks noted so far, before a query over many rows. */
  async flush(): Promise<void> {
    if (this.#marks.size === 0) return;
    await this.#writing; // That write may have begun before some marks were noted.
    await this.#write();
  }

  /** Writes all marks, and stops the scheduled writes. */
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

  /** Writes in row order, so that each page is written once and two statements cannot deadlock. */
  async #writeAll(): Promise<void> {
    const sorted = [...this.#marks.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
    const { maxPerWrite } = this.#parts;
    for (let start = 0; start < sorted.length; start += maxPerWrite) {
      const isServing = await this.#writeSome(sorted.slice(start, start + maxPerWrite));
      if (!isServing) return;
    }
  }

  /** Keeps unwritten marks for a retry. Returns false if the store is unavailable: stop for now. */
  async #writeSome(marks: readonly Mark[]): Promise<boolean> {
    let unwritten: ReadonlySet<Mark>;
    try {
      unwritten = new Set(await this.#parts.write(marks));
    } catch (error) {
      return !(error instanceof StoreUnavailable);
    }
    for (const mark of marks)
      if (!unwritten.has(mark) && this.#marks.get(mark.key) === mark) this.#marks.delete(mark.key);
    return true;
  }
}

/** Writes each mark on its own; returns those that failed. If all failed, throws the error of the first. */
export async function writeEach<Mark>(
  marks: readonly Mark[],
  write: (mark: Mark) => Promise<unknown>,
): Promise<readonly Mark[]> {
  const outcomes = await Promise.allSettled(marks.map(write));
  const failed = marks.filter((_, index) => outcomes[index]?.status === 'rejected');
  const [first] = outcomes;
  if (failed.length === marks.length && first?.status === 'rejected') throw first.reason;
  return failed;
}
