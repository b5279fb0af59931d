/** PostgreSQL's errors, mapped to the store's errors (appendix A of its manual). */
import { DatabaseError } from 'pg';
import { StoreUnavailable } from '../../../oauth/store.ts';

/** The error codes that this program handles. */
export const SQLSTATE = {
  INVALID_AUTHORIZATION: '28000',
  INVALID_PASSWORD: '28P01',
  UNIQUE_VIOLATION: '23505',
  SERIALIZATION_FAILURE: '40001',
  DEADLOCK_DETECTED: '40P01',
  INSUFFICIENT_PRIVILEGE: '42501',
  UNDEFINED_COLUMN: '42703',
  NO_SUCH_DATABASE: '3D000',
  FEATURE_NOT_SUPPORTED: '0A000',
  READ_ONLY: '25006',
  IDLE_IN_TRANSACTION: '25P03',
  TRANSACTION_TIMEOUT: '25P04',
  LOCK_NOT_AVAILABLE: '55P03',
  ADMIN_SHUTDOWN: '57P01',
  CRASH_SHUTDOWN: '57P02',
  CANNOT_CONNECT_NOW: '57P03',
  IDLE_SESSION: '57P05',
} as const;

/** Thrown if the connection was lost during a statement, whose outcome is then unknown. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';

  constructor(cause: Error) {
    super(`the connection to the database was lost: ${cause.message}`, { cause });
  }
}

/** Returns the server's code of an error, or undefined if it is not the server's error. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/**
 * Errors after which a session ends or is useless: the server became a replica, or a migration outdated a plan. They
 * are handled like a lost connection, since the server may end a session right after its commit.
 */
const SESSION_ENDS: ReadonlySet<string> = new Set([
  SQLSTATE.FEATURE_NOT_SUPPORTED,
  SQLSTATE.READ_ONLY,
  SQLSTATE.IDLE_IN_TRANSACTION,
  SQLSTATE.TRANSACTION_TIMEOUT,
  SQLSTATE.ADMIN_SHUTDOWN,
  SQLSTATE.CRASH_SHUTDOWN,
  SQLSTATE.CANNOT_CONNECT_NOW,
  SQLSTATE.IDLE_SESSION,
]);

/** Returns true if the session is lost with this error. */
export function endsSession(error: unknown): boolean {
  const code = sqlState(error);
  return code === undefined || code.startsWith('08') || SESSION_ENDS.has(code);
}

/** The fields of a server's notice that are read. */
type Notice = { readonly routine?: string | undefined; readonly message?: string | undefined };

/**
 * Returns an error if a notice says that a commit may be on this server alone, else null. The server sends it if the
 * wait for a synchronous standby is canceled, or its session ends; the commit then counts as done. The name of the
 * server's function is the same in all languages, unlike the text.
 */
export function whyUnconfirmed({ routine, message }: Notice): Error | null {
  return routine === 'SyncRepWaitForLSN' ? new Error(message) : null;
}

/** Returns true if two transactions were in conflict. Nothing was written, and a retry may succeed. */
export function isConflict(error: unknown): boolean {
  const code = sqlState(error);
  return code === SQLSTATE.SERIALIZATION_FAILURE || code === SQLSTATE.DEADLOCK_DETECTED;
}

/** Codes of conflicts; lack of memory, disk or connections; timeouts and locks; errors of the server's files. */
const NOT_NOW = /^(40|53|55|57|58)/;

/**
 * Returns the error for a caller: `StoreUnavailable` if the server or the network is to blame, else the error itself.
 */
export function asStoreError(error: unknown): unknown {
  if (error instanceof ConnectionLost)
    return new StoreUnavailable(`${error.message}; whether this was written is not known`, { cause: error });
  if (!NOT_NOW.test(sqlState(error) ?? '')) return error;
  return new StoreUnavailable((error as Error).message, { cause: error });
}
