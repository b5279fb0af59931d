/** One pass over the write-ahead log, whoever makes it. */
import type { DatabaseSync } from 'node:sqlite';
import { Refused } from '../../refused.ts';
import { primaryCode, resultCode, SQLITE } from './errors.ts';

/** What a pass left. */
export type Passed = {
  /** How many pages the log holds, and how many of them are not in the database file yet. */
  readonly pages: number;
  readonly left: number;
  /** Why they could not be written, in words: they are still in the log. */
  readonly trouble: string | null;
};

/** Somebody else is at it, or it could not be done. */
const NOTHING = { pages: 0, left: Number.POSITIVE_INFINITY, trouble: null };

/**
 * Prepares a pass: it copies what the log holds into the database file, as far as nobody reads from before, and keeps nobody
 * from reading or writing meanwhile. Any error that it throws, as of a sync, means that nobody knows what the database file
 * holds.
 */
export function preparePass(database: DatabaseSync): () => Passed {
  return preparing(database, 'PASSIVE');
}

/**
 * Copies what a process left that did not end by itself, before anybody is answered from it. If a sync failed there, some of
 * the log may be in the memory of the system alone, and nobody is told a second time: what is written behind it could be out of
 * reach after a power cut. Afterwards the log is empty, unless somebody reads. Throws `Refused` when the disk fails.
 */
export function copyWhatWasLeft(database: DatabaseSync): void {
  try {
    preparing(database, 'TRUNCATE')();
  } catch (error) {
    throw new Refused([
      `what the database's log holds cannot be brought onto the disk (${(error as Error).message}): look at the disk, then start again`,
    ]);
  }
}

function preparing(database: DatabaseSync, mode: 'PASSIVE' | 'TRUNCATE'): () => Passed {
  const pass = database.prepare(`PRAGMA wal_checkpoint(${mode})`);
  return () => {
    try {
      const { busy, log, checkpointed } = pass.get() as { busy: number; log: number; checkpointed: number };
      return busy ? NOTHING : { pages: log, left: log - checkpointed, trouble: null };
    } catch (error) {
      if (primaryCode(error) === SQLITE.BUSY || primaryCode(error) === SQLITE.LOCKED) return NOTHING;
      if (primaryCode(error) !== SQLITE.FULL && resultCode(error) !== SQLITE.IOERR_WRITE) throw error;
      return { ...NOTHING, trouble: (error as Error).message };
    }
  };
}
