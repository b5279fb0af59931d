/**
 * Notes of which generation of a grant was used last, and when: kept here, answered with the grant at once, and written
 * behind in batches. A crash loses at most the last second of what a decision rests on, in the lenient direction.
 */
import type { Grant } from '../../oauth/grant.ts';
import { StoreUnavailable } from '../../oauth/store.ts';
import type { RowCache } from './row-cache.ts';
import { rowKey, type Tables } from './tables.ts';

type Mark = { readonly id: Buffer; readonly generation: number; readonly usedAt: number; readonly dueAt: number };

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
/** So many marks share one write, so that others do not wait long behind it. */
const MARKS_PER_WRITE = 128;

/** The marks of one store. They only ever grow, here and in the database. */
export class UseMarks {
  readonly #tables: Tables;
  readonly #grants: RowCache<Grant>;
  readonly #now: () => number;
  readonly #update;
  readonly #marks = new Map<string, Mark>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;

  /** `now` answers ms since the epoch. */
  constructor(tables: Tables, grants: RowCache<Grant>, now: () => number) {
    this.#tables = tables;
    this.#grants = grants;
    this.#now = now;
    this.#update = tables.change(
      `UPDATE oauth_grant
       SET used_generation = max(used_generation, ?), last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?`,
    );
  }

  /** Notes a use at `at` (ms). `grant` is as `findGrant` answered it, marks included. */
  note(grant: Grant, generation: number, at: number): void {
    if (generation <= grant.usedGeneration && at - (grant.lastUsedAt ?? 0) < SAME_USE_MS) return;
    const key = rowKey(grant.id);
    const mark = this.#marks.get(key);
    if (!mark && this.#marks.size >= MOST) return;
    const isNew = generation > Math.max(grant.usedGeneration, mark?.generation ?? 0);
    const dueAt = isNew ? at : (mark?.dueAt ?? (grant.lastUsedAt ?? 0) + SAME_GENERATION_MS);
    const grown: Mark = {
      id: grant.id,
      generation: Math.max(generation, mark?.generation ?? 0),
      usedAt: Math.max(at, mark?.usedAt ?? 0),
      dueAt,
    };
    this.#marks.set(key, grown);
    this.#grants.change(key, (kept) => withMark(kept, grown));
    if (this.#marks.size >= MANY && !this.#writing) void this.#write([...this.#marks]);
    this.#timer ??= setTimeout(() => this.#writeDue(), WRITE_EVERY_MS).unref();
  }

  /** The grant as it will be when its mark is written. */
  merge(grant: Grant): Grant {
    const mark = this.#marks.size > 0 ? this.#marks.get(rowKey(grant.id)) : undefined;
    return mark ? withMark(grant, mark) : grant;
  }

  /** Writes all marks, due or not. */
  async flush(): Promise<void> {
    await this.#writing;
    await this.#write([...this.#marks]);
  }

  #writeDue(): void {
    const now = this.#now();
    void this.#write([...this.#marks].filter(([, mark]) => mark.dueAt <= now)).finally(() => {
      this.#timer = this.#marks.size > 0 ? setTimeout(() => this.#writeDue(), WRITE_EVERY_MS).unref() : null;
    });
  }

  /** One after the other, so that marks never take the queue for themselves. */
  #write(due: readonly [string, Mark][]): Promise<void> {
    this.#writing ??= this.#writeAll(due).finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #writeAll(due: readonly [string, Mark][]): Promise<void> {
    // In the order of the rows, so that those of one page are written with it once.
    const sorted = due.toSorted(([one], [other]) => (one < other ? -1 : 1));
    try {
      for (let start = 0; start < sorted.length; start += MARKS_PER_WRITE)
        await this.#writeSome(sorted.slice(start, start + MARKS_PER_WRITE));
    } catch (error) {
      // What is not written stays here, and is tried again with what is due next.
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  /** Marks touch no row, as nobody waits for them: losing one is allowed. */
  async #writeSome(some: readonly [string, Mark][]): Promise<void> {
    await this.#tables.write([], () => {
      for (const [key, mark] of some) {
        this.#update(mark.generation, mark.usedAt, mark.id);
        this.#grants.change(key, (grant) => withMark(grant, mark));
      }
    });
    for (const [key, written] of some) this.#forget(key, written);
  }

  /** What a mark grew by while it was written waits, unless it is a new generation's first use. */
  #forget(key: string, written: Mark): void {
    const mark = this.#marks.get(key);
    if (mark === written) this.#marks.delete(key);
    else if (mark?.generation === written.generation)
      this.#marks.set(key, { ...mark, dueAt: written.usedAt + SAME_GENERATION_MS });
  }
}

/** The grant with a mark; itself when it has that already. */
function withMark(grant: Grant, { generation, usedAt }: Mark): Grant {
  if (generation <= grant.usedGeneration && usedAt <= (grant.lastUsedAt ?? 0)) return grant;
  return {
    ...grant,
    usedGeneration: Math.max(grant.usedGeneration, generation),
    lastUsedAt: Math.max(grant.lastUsedAt ?? 0, usedAt),
  };
}
