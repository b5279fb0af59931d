/** One pass over the write-ahead log, whoever makes it. */
import type { DatabaseSync } from 'node:sqlite';
import { OPENING_TIMEOUT_MS } from './connection.ts';
import { primaryCode, resultCode, SQLITE } from './errors.ts';

/** What a pass left. */
export type Passed = {
  /** How many pages the log holds, and how many of them are not in the database file yet. */
  readonly pages: number;
  readonly left: number;
  /** Why they could not be written: they are still in the log. */
  readonly failure: Error | null;
};

/** What SQLite answers of one. */
type Answer = { readonly busy: number; readonly log: number; readonly checkpointed: number };

/** Somebody else is at it, or it could not be done. */
const NOTHING = { pages: 0, left: Number.POSITIVE_INFINITY, failure: null };

/** Who is told of what goes wrong with the files of a database. */
export type Told = {
  /** Gets a sentence for the log when something is wrong that somebody should look at. */
  readonly report: (sentence: string) => void;
  /** Called when nobody knows any more what is on disk, as after a failed sync; maybe again: the process must end. */
  readonly onFailure: (error: Error) => void;
};

/**
 * Prepares a pass: it copies what the log holds into the database file, as far as nobody reads from before, and keeps nobody
 * from reading or writing meanwhile. Any error that it throws, as of a sync, means that nobody knows what the database file
 * holds. With TRUNCATE the log is empty afterwards, unless somebody reads, who is waited for as long as the connection waits.
 */
export function preparePass(database: DatabaseSync, how: 'PASSIVE' | 'TRUNCATE' = 'PASSIVE'): () => Passed {
  const pass = database.prepare(`PRAGMA wal_checkpoint(${how})`);
  return () => {
    try {
      const { busy, log, checkpointed } = pass.get() as Answer;
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
/** SQLite waits for who reads, and not for another checkpoint, as of a command that ends. */
const RETRY_MS = 20;

/**
 * Copies what a process left that did not end by itself, before anybody is answered from it. If a sync failed there, some of
 * the log may be in the memory of the system alone, and nobody is told a second time: what is written behind it could be out of
 * reach after a power cut. Afterwards the log is empty, or it is reported why not. Throws what SQLite throws.
 */
export function copyWhatWasLeft(database: DatabaseSync, { report, onFailure }: Told): void {
  try {
    const pass = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
    const start = performance.now();
    let left = pass.get() as Answer;
    for (; left.busy && performance.now() - start < OPENING_TIMEOUT_MS; left = pass.get() as Answer) pause(RETRY_MS);
    if (left.busy && left.log !== 0) report(STAYS);
  } catch (error) {
    if (primaryCode(error) === SQLITE.IOERR) onFailure(error as Error);
    if (!isFull(error)) throw error;
    report('the disk is full: what was left in the log of the database stays there');
  }
}

/** Nobody is served yet who would wait meanwhile. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE.BUSY || primaryCode(error) === SQLITE.LOCKED;
}

function isFull(error: unknown): boolean {
  return primaryCode(error) === SQLITE.FULL;
}
