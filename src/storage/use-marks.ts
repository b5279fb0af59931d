/**
 * Notes of which generation of a grant was used last, and when: kept here, answered with the grant at once, and written
 * behind in batches. A crash loses at most the last second of what a decision rests on, in the lenient direction.
 */
import type { Grant } from '../oauth/grant.ts';
import { StoreUnavailable } from '../oauth/store.ts';
import { rowKey } from './row-key.ts';

/** What is written of a use: the grant's `rowKey`, and ms since the epoch. */
export type Use = { readonly key: string; readonly generation: number; readonly usedAt: number };

/** What marks work with. */
export type UseMarksParts = {
  /** Ms since the epoch. */
  readonly now: () => number;
  /** Writes some, in the order of their keys; they only ever grow in the database, too. What it throws is tried again. */
  readonly write: (uses: readonly Use[]) => Promise<unknown>;
  /** So many share one write at most, so that others do not wait long behind it. */
  readonly mostPerWrite: number;
};

/** How often due marks are written: a generation's first use is on disk this much later. */
const WRITE_EVERY_MS = 500;
/** The same generation of a grant is noted again at most this often. */
const SAME_USE_MS = 1000;
/** The same generation of a grant is written again at most this often. */
const SAME_GENERATION_MS = 60_000;
/** So many marks are written early, whether they are due or not. */
const MANY = 8192;
/** So many marks mean that nothing can be written at all; then grants that have none yet get none. */
const MOST = 65_536;

/** One grant's mark. It lives long and changes each second: written over in place, it is no garbage that grows old. */
class Mark {
  readonly key: string;
  generation = 0;
  usedAt = Number.NaN;
  dueAt = Number.NaN;

  constructor(key: string) {
    this.key = key;
  }
}

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

  /** Notes a use at `at` (ms), and says whether that is news. `grant` is as it was found, marks included. */
  note(grant: Grant, generation: number, at: number): boolean {
    if (generation <= grant.usedGeneration && at - (grant.lastUsedAt ?? 0) < SAME_USE_MS) return false;
    const key = rowKey(grant.id);
    let mark = this.#marks.get(key);
    if (!mark) {
      if (this.#marks.size >= MOST) return false;
      mark = new Mark(key);
      mark.usedAt = at;
      mark.dueAt = (grant.lastUsedAt ?? 0) + SAME_GENERATION_MS;
      this.#marks.set(key, mark);
    }
    if (generation > Math.max(grant.usedGeneration, mark.generation)) mark.dueAt = at;
    mark.generation = Math.max(generation, mark.generation);
    mark.usedAt = Math.max(at, mark.usedAt);
    if (this.#marks.size >= MANY && !this.#writing) void this.#write([...this.#marks.values()]);
    if (!this.#timer) this.#schedule();
    return true;
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

  /** Writes all marks, due or not, and then no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#writing;
    await this.#write([...this.#marks.values()]);
  }

  #schedule(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#writeDue(), WRITE_EVERY_MS).unref();
  }

  async #writeDue(): Promise<void> {
    const now = this.#parts.now();
    const due: Mark[] = [];
    for (const mark of this.#marks.values()) if (mark.dueAt <= now) due.push(mark);
    await this.#write(due);
    this.#timer = null;
    if (this.#marks.size > 0) this.#schedule();
  }

  /** One after the other, so that marks never take the database for themselves. */
  #write(due: readonly Mark[]): Promise<void> {
    this.#writing ??= this.#writeAll(due).finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  /** In the order of the rows: those of one page are written with it once, and statements do not wait in a circle. */
  async #writeAll(due: readonly Mark[]): Promise<void> {
    const sorted = due.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    const { mostPerWrite } = this.#parts;
    for (let start = 0; start < sorted.length; start += mostPerWrite) {
      const isServing = await this.#writeSome(sorted.slice(start, start + mostPerWrite).map(useOf));
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
    for (const use of uses) this.#forget(use);
    return true;
  }

  /** What a mark grew by while it was written waits, unless it is a new generation's first use. */
  #forget({ key, generation, usedAt }: Use): void {
    const mark = this.#marks.get(key);
    if (mark?.generation !== generation) return;
    if (mark.usedAt === usedAt) this.#marks.delete(key);
    else mark.dueAt = usedAt + SAME_GENERATION_MS;
  }
}

function useOf({ key, generation, usedAt }: Mark): Use {
  return { key, generation, usedAt };
}
