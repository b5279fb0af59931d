/** One pass over the write-ahead log, whoever makes it. */
import type { DatabaseSync } from 'node:sqlite';
import { primaryCode, resultCode, SQLITE } from './errors.ts';

/** What a pass left: how many pages the log holds, and how many of them are not in the database file yet. */
export type Passed = { readonly pages: number; readonly left: number };

/**
 * Prepares a pass: it copies what the log holds into the database file, as far as nobody reads from before, and keeps nobody
 * from reading or writing meanwhile. Its answer is null when somebody else is at it, or the disk is full: what could not be
 * written is still in the log. Any other error, as of a sync, means that nobody knows what the database file holds.
 */
export function preparePass(database: DatabaseSync): () => Passed | null {
  const pass = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  return () => {
    try {
      const { busy, log, checkpointed } = pass.get() as { busy: number; log: number; checkpointed: number };
      return busy ? null : { pages: log, left: log - checkpointed };
    } catch (error) {
      if (primaryCode(error) === SQLITE.FULL || resultCode(error) === SQLITE.IOERR_WRITE) return null;
      throw error;
    }
  };
}
