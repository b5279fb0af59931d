/**
 * Notes of which generation of a grant was used last, and when: kept here, answered with the grant at once, and written
 * behind in batches, so that other instances see them within a second. A crash loses at most the last second of what a
 * decision rests on, in the lenient direction.
 */
import { type Grant, grantIdText } from '../../oauth/grant.ts';
import { json } from './connection.ts';
import type { Database } from './database.ts';

type Mark = { readonly id: string; readonly generation: number; readonly usedAt: number; readonly dueAt: number };

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
/** So many marks share one statement, so that others do not wait long behind it. */
const MARKS_PER_STATEMENT = 256;

const WRITE = `
  UPDATE oauth_grant SET used_generation = greatest(oauth_grant.used_generation, mark.generation),
    last_used_at = greatest(oauth_grant.last_used_at, mark.used_at)
  FROM json_to_recordset($1) AS mark (id uuid, generation integer, used_at bigint)
  WHERE oauth_grant.id = mark.id AND (oauth_grant.used_generation < mark.generation
    OR oauth_grant.last_used_at IS NULL OR oauth_grant.last_used_at < mark.used_at)`;

/** The marks of one instance. They only ever grow, here and in the database. */
export class UseMarks {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #marks = new Map<string, Mark>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #isClosed = false;

  /** `now` answers ms since the epoch. */
  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** Notes a use at `at` (ms). `grant` is as `findGrant` answered it, marks included. */
  note(grant: Grant, generation: number, at: number): void {
    if (generation <= grant.usedGeneration && at - (grant.lastUsedAt ?? 0) < SAME_USE_MS) return;
    const id = grantIdText(grant.id);
    const mark = this.#marks.get(id);
    if (!mark && this.#marks.size >= MOST) return;
    const isNew = generation > Math.max(grant.usedGeneration, mark?.generation ?? 0);
    const dueAt = isNew ? at : (mark?.dueAt ?? (grant.lastUsedAt ?? 0) + SAME_GENERATION_MS);
    this.#marks.set(id, {
      id,
      generation: Math.max(generation, mark?.generation ?? 0),
      usedAt: Math.max(at, mark?.usedAt ?? 0),
      dueAt,
    });
    if (this.#marks.size >= MANY && !this.#writing) void this.#write([...this.#marks.values()]);
    if (!this.#timer) this.#schedule();
  }

  /** The grant as it will be when its mark is written. */
  merge(grant: Grant): Grant {
    const mark = this.#marks.size > 0 ? this.#marks.get(grantIdText(grant.id)) : undefined;
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
    const now = this.#now();
    await this.#write([...this.#marks.values()].filter(({ dueAt }) => dueAt <= now));
    this.#timer = null;
    if (this.#marks.size > 0) this.#schedule();
  }

  /** One after the other, so that marks never take the connections for themselves. */
  #write(due: readonly Mark[]): Promise<void> {
    this.#writing ??= this.#writeAll(due).finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  /** In the order of ids, as every statement that writes grants. */
  async #writeAll(due: readonly Mark[]): Promise<void> {
    const sorted = due.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    try {
      for (let start = 0; start < sorted.length; start += MARKS_PER_STATEMENT)
        await this.#writeSome(sorted.slice(start, start + MARKS_PER_STATEMENT));
    } catch {
      // What is not written stays here, and is tried again with what is due next: nobody waits for it.
    }
  }

  async #writeSome(some: readonly Mark[]): Promise<void> {
    const rows = some.map(({ id, generation, usedAt }) => ({ id, generation, used_at: usedAt }));
    await this.#database.writes.run((connection) => connection.change(WRITE, [json(rows)]));
    for (const mark of some) this.#forget(mark);
  }

  /** What a mark grew by while it was written waits, unless it is a new generation's first use. */
  #forget(written: Mark): void {
    const mark = this.#marks.get(written.id);
    if (mark === written) this.#marks.delete(written.id);
    else if (mark?.generation === written.generation)
      this.#marks.set(written.id, { ...mark, dueAt: written.usedAt + SAME_GENERATION_MS });
  }
}
