/** A checkpoint of the write-ahead log, run by the thread, by the event loop or at a start. */
import type { DatabaseSync } from 'node:sqlite';
import { InstallationError } from '../../../process/installation-error.ts';
import { connect, OPENING_TIMEOUT_MS } from './connection.ts';
import { isNothing } from './database-file.ts';
import { primaryCode, resultCode, SQLITE } from './errors.ts';

/** Result of a pass. */
export type PassResult = {
  /** Number of pages in the log, and number of those not yet in the database file. */
  readonly pages: number;
  readonly left: number;
  /** Error of the write to the database file; the pages are still in the log. */
  readonly failure: Error | null;
};

/** The row that SQLite returns. */
type CheckpointRow = { readonly busy: number; readonly log: number; readonly checkpointed: number };

/** Result if another connection is copying, or if the copy failed. */
const NOTHING = { pages: 0, left: Number.POSITIVE_INFINITY, failure: null };

/** Handlers of problems with a database's files. */
export type FailureHandlers = {
  /** Receives a sentence for the operator's log. */
  readonly report: (sentence: string) => void;
  /**
   * Called when the state on disk is unknown, as after a failed sync: the process must end. May be called repeatedly.
   */
  readonly onFailure: (error: Error) => void;
};

/**
 * Prepares a pass. It copies the log into the database file, up to the oldest page that a reader still needs, and
 * blocks no reader or writer. If it throws, as after a failed sync, the content of the database file is unknown.
 * RESTART also waits for readers, for as long as the connection's timeout, so that the next commit restarts the log.
 *
 * Never TRUNCATE: a file system may truncate a file in steps, from its end. After a power cut between two steps SQLite
 * would recover the first commits of the log, and write their old pages over newer ones in the database file.
 */
export function preparePass(database: DatabaseSync, how: 'PASSIVE' | 'RESTART' = 'PASSIVE'): () => PassResult {
  const pass = database.prepare(`PRAGMA wal_checkpoint(${how})`);
  return () => {
    try {
      const { busy, log, checkpointed } = pass.get() as CheckpointRow;
      return busy ? NOTHING : { pages: log, left: log - checkpointed, failure: null };
    } catch (error) {
      if (isBusy(error)) return NOTHING;
      if (!isFull(error) && resultCode(error) !== SQLITE.IOERR_WRITE) throw error;
      return { ...NOTHING, failure: error as Error };
    }
  };
}

const STAYS =
  'another program reads the database or copies its log, so that what was left there stays; after a failure of the disk end it, and start again';
/**
 * Pause between two tries (ms): SQLite waits for readers, but not for another checkpoint, such as that of an ending
 * command.
 */
const RETRY_MS = 20;

/**
 * Copies the log that a killed process left, before any request is served from it. If a sync failed in that process,
 * parts of the log may exist only in the system's memory, and no later sync reports that; after a power cut, recovery
 * could not find commits written after those parts. Afterwards the log restarts, or the reason is reported. Throws
 * SQLite's errors.
 */
export function copyLeftoverLog(database: DatabaseSync, { report, onFailure }: FailureHandlers): void {
  try {
    const pass = database.prepare('PRAGMA wal_checkpoint(RESTART)');
    const start = performance.now();
    let left = pass.get() as CheckpointRow;
    for (; left.busy && performance.now() - start < OPENING_TIMEOUT_MS; left = pass.get() as CheckpointRow)
      pause(RETRY_MS);
    if (left.busy && left.log !== 0) report(STAYS);
  } catch (error) {
    if (primaryCode(error) === SQLITE.IOERR) onFailure(error as Error);
    if (!isFull(error)) throw error;
    report('the disk is full: what was left in the log of the database stays there');
  }
}

/**
 * Copies the whole log of a database into its file, and removes the log if no other process has the database open.
 * Throws `InstallationError` if another process reads from the log. An unreadable database stays unchanged, including
 * its log: it may be the reason for restoring a backup.
 */
export function withoutLog(path: string): void {
  if (isNothing(path)) return;
  let result: PassResult;
  try {
    // A read-only connection first: closing a writable one copies the log into the file even if its first page is
    // unreadable.
    connect(path, { readOnly: true }).close();
    const database = connect(path);
    try {
      result = preparePass(database, 'RESTART')();
    } finally {
      database.close();
    }
  } catch (error) {
    if (!isBusy(error)) return;
    result = NOTHING;
  }
  if (result.failure === null && result.left > 0)
    throw new InstallationError({
      problem: `another program reads or writes the database ${path}`,
      remedy: `end it, and run this again ("fuser ${path}" names it)`,
    });
}

/** Blocks the event loop, since no request is served yet. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE.BUSY || primaryCode(error) === SQLITE.LOCKED;
}

function isFull(error: unknown): boolean {
  return primaryCode(error) === SQLITE.FULL;
}
