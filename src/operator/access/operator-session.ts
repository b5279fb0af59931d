/** Sessions of operators in the console. */
import { hash, randomBytes } from 'node:crypto';
import { isAheadOfClock } from '../../oauth/grants/clock-steps.ts';

/** An operator's session as it is stored, by the digest of its token. Times in ms. */
export type OperatorSession = {
  readonly digest: Buffer;
  readonly operatorId: string;
  /** The session began with a passkey, or at a one-time address. */
  readonly how: 'passkey' | 'address';
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  /** When a passkey was last used in it, or null. */
  readonly presentAt: number | null;
  /** The passkey that began it, by its id; null at a one-time address. */
  readonly begunBy: string | null;
  /** The passkey that was used last in it, by its id; null before that. */
  readonly confirmedBy: string | null;
  /** The source network, and the browser in a few words, for the list of sessions. */
  readonly source: string;
  readonly browser: string;
};

const MINUTE_MS = 60_000;

/** A session ends after `idle` without a request, and after `passkey` or `address` in any case (ms), by how it began. */
export const OPERATOR_SESSION_LIFETIMES = {
  idle: 30 * MINUTE_MS,
  passkey: 12 * 60 * MINUTE_MS,
  address: 60 * MINUTE_MS,
} as const;

/** Minimum time between two writes of when a session was seen (ms). */
const SEEN_EVERY_MS = MINUTE_MS;

/** Maximum number of live sessions of an operator; one more ends the oldest. */
export const MAX_SESSIONS_OF_OPERATOR = 20;

/** Returns a new token of a session or a one-time address, with 256 random bits. */
export function newOperatorToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the stored digest of a token: 256 random bits need no slow hash. */
export function operatorTokenDigest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/**
 * Returns the session that begins at a time (ms) with a token, by a passkey (its id) or at a one-time address (null). A
 * confirmed session keeps its beginning.
 */
export function newOperatorSession(
  token: string,
  { passkeyId, ...begun }: Pick<OperatorSession, 'operatorId' | 'source' | 'browser'> & { passkeyId: string | null },
  now: number,
  { createdAt, begunBy }: Pick<OperatorSession, 'createdAt' | 'begunBy'> = { createdAt: now, begunBy: passkeyId },
): OperatorSession {
  const how = passkeyId === null ? 'address' : 'passkey';
  return {
    ...begun,
    how,
    digest: operatorTokenDigest(token),
    createdAt,
    lastSeenAt: now,
    expiresAt: createdAt + OPERATOR_SESSION_LIFETIMES[how],
    presentAt: passkeyId === null ? null : now,
    begunBy,
    confirmedBy: passkeyId,
  };
}

/** Returns when a session ends if it is not seen again (ms). */
export function operatorSessionEndsAt({ lastSeenAt, expiresAt }: OperatorSession): number {
  return Math.min(lastSeenAt + OPERATOR_SESSION_LIFETIMES.idle, expiresAt);
}

/** Returns true if a session has not ended at a time (ms). A session that was last seen in the future is not used. */
export function isLiveOperatorSession(session: OperatorSession, now: number): boolean {
  return operatorSessionEndsAt(session) > now && !isAheadOfClock(session.lastSeenAt, 0, now);
}

/** Returns true if the session's last use should be written now. */
export function shouldNoteOperatorSeen({ lastSeenAt }: OperatorSession, now: number): boolean {
  return now - lastSeenAt >= SEEN_EVERY_MS;
}
