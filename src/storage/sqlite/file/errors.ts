/** SQLite's result codes, mapped to the store's errors (https://www.sqlite.org/rescode.html). */
import { StoreUnavailable } from '../../../oauth/store.ts';

/** The result codes that this program handles. */
export const SQLITE = {
  ERROR: 1,
  BUSY: 5,
  LOCKED: 6,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CONSTRAINT: 19,
  NOTADB: 26,
  IOERR_WRITE: 778,
} as const;

/** Returns the extended result code of SQLite's error, or undefined for any other error. */
export function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** Returns the primary result code of SQLite's error, or undefined for any other error. */
export function primaryCode(error: unknown): number | undefined {
  const code = resultCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Thrown if a file of the database was moved away, replaced or overwritten; the message says which, and the remedy. */
export class DatabaseMoved extends Error {
  override readonly name = 'DatabaseMoved';
}

/** ERROR, CONSTRAINT, MISMATCH, MISUSE and RANGE: programming errors, for which a retry does not help. */
const OUR_MISTAKES = new Set([SQLITE.ERROR, SQLITE.CONSTRAINT, 20, 21, 25]);

/** Returns the error for a caller: `StoreUnavailable` if the disk or a lock is to blame, else the error itself. */
export function asStoreError(error: unknown): unknown {
  const code = primaryCode(error);
  if (code === undefined || OUR_MISTAKES.has(code)) return error;
  const why = code === SQLITE.FULL ? 'the disk of the database is full: make room' : (error as Error).message;
  return new StoreUnavailable(why, { cause: error });
}

/** Returns the error for a write after the queue has stopped for good. */
export function hasStopped(error: Error): StoreUnavailable {
  return new StoreUnavailable(`writing has stopped: ${error.message}`, { cause: error });
}

/** Returns the error for a write that was pending when the disk failed, or when the files were moved. */
export function outcomeUnknown(error: unknown): Error {
  const { message } = error as Error;
  const why = error instanceof DatabaseMoved ? '' : 'the disk failed, and ';
  return new Error(`${why}whether this was written is not known: ${message}`, { cause: error });
}
