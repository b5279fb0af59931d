/**
 * Marks that are kept in memory and written later in batches, one write at a time. A crash loses at most the last second of
 * them, so that what rests on them must allow more then, and not less.
 */
import { StoreUnavailable } from '../oauth/store.ts';

/** What it needs. */
export type WriteBehindParts<Mark> = {
  /** Writes some, in the order of their keys; a mark in the database only grows, too. If it throws, it is tried again. */
  readonly write: (marks: readonly Mark[]) => Promise<unknown>;
  /** Maximum number of marks in one write, so that others do not wait long behind it. */
  readonly maxPerWrite: number;
};

/** Time between two writes: a mark is on disk at most this much later. */
const WRITE_EVERY_MS = 500;
/** Number of marks that are written at once, without waiting for the time. */
const EARLY_WRITE_SIZE = 8192;
/** Maximum number of marks. It is only reached if nothing can be written; then no new one is taken. */
const MAX_MARKS = 65_536;

/** The marks of one instance that are not written yet, by their keys. */
export class WriteBehind<Mark extends { readonly key: string }> {
  readonly #parts: WriteBehindParts<Mark>;
  readonly #marks = new Map<string, Mark>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: WriteBehindParts<Mark>) {
    this.#parts = parts;
  }

  /** The mark that is not written yet. */
  get(key: string): Mark | undefined {
    return this.#marks.size > 0 ? this.#marks.get(key) : undefined;
  }

  /** Takes a mark in place of the one before; false if there is no room for it. */
  set(mark: Mark): boolean {
    const isNew = !this.#marks.has(mark.key);
    if (isNew && this.#marks.size >= MAX_MARKS) return false;
    this.#marks.set(mark.key, mark);
    if (this.#marks.size === EARLY_WRITE_SIZE && isNew) void this.#write();
    if (!this.#timer) this.#schedule();
    return true;
  }

  /** Tries to write all marks that are noted by now, for a query over many rows. */
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
