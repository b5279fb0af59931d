/** One checkpoint of the write-ahead log, by the thread, the event loop or a start. */
import type { DatabaseSync } from 'node:sqlite';
import { InstallationError } from '../../process/installation-error.ts';
import { connect, OPENING_TIMEOUT_MS } from './connection.ts';
import { isNothing } from './database-file.ts';
import { primaryCode, resultCode, SQLITE } from './errors.ts';

/** What a pass left. */
export type PassResult = {
  /** How many pages the log holds, and how many of them are not in the database file yet. */
  readonly pages: number;
  readonly left: number;
  /** Why they could not be written: they are still in the log. */
  readonly failure: Error | null;
};

/** The row that SQLite returns. */
type CheckpointRow = { readonly busy: number; readonly log: number; readonly checkpointed: number };

/** Another connection is copying, or the copy failed. */
const NOTHING = { pages: 0, left: Number.POSITIVE_INFINITY, failure: null };

/** Called when something is wrong with the files of a database. */
export type FailureHandlers = {
  /** Gets a sentence for the operator's log. */
  readonly report: (sentence: string) => void;
  /** Called when it is unknown what is on disk, as after a failed sync: the process must end. May be called again. */
  readonly onFailure: (error: Error) => void;
};

/**
 * Prepares a pass. It copies the log into the database file, up to the oldest page that a reader still needs, and
 * blocks no reader or writer. If it throws, as after a failed sync, it is unknown what the database file holds.
 * RESTART also waits for readers, for as long as the connection's timeout, so that the next commit begins the log anew.
 *
 * Never TRUNCATE: a file system may cut a file short in steps, from its end. After a power cut between them SQLite would
 * find the first commits of the log, and put their old pages over the newer ones of the database file.
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
/** Pause between two tries (ms): SQLite waits for readers, but not for another checkpoint, as of a command that ends. */
const RETRY_MS = 20;

/**
 * Copies the log that a killed process left, before any request is served from it. If a sync failed in that process,
 * parts of the log may be in the system's memory only, and no later sync reports that; after a power cut, what is
 * written behind them could not be found. Afterwards the log begins anew, or the reason is reported. Throws what SQLite
 * throws.
 */
export function copyWhatWasLeft(database: DatabaseSync, { report, onFailure }: FailureHandlers): void {
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
 * Copies all of the log of a database into its file, and removes it if nobody else has the database open. Throws
 * `InstallationError` if somebody reads what the log holds. A database that cannot be read stays as it is, log and all:
 * whoever restores a backup may do so because of that.
 */
export function withoutLog(path: string): void {
  if (isNothing(path)) return;
  let result: PassResult;
  try {
    // Asked first: closing any other connection writes the log into a file of which it cannot read the first page.
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
    throw new InstallationError([
      `another program reads or writes the database ${path}: end it, and run this again ("fuser ${path}" names it)`,
    ]);
}

/** Blocks the event loop: no request is served yet. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE.BUSY || primaryCode(error) === SQLITE.LOCKED;
}

function isFull(error: unknown): boolean {
  return primaryCode(error) === SQLITE.FULL;
}
