/** Sessions of signed-in people: a random token in the browser's cookie, its digest in the store. */
import { createHmac, hash, randomBytes } from 'node:crypto';
import type { IdentityProvider } from './identity-provider.ts';

/** A session, found by the digest of its token. Times in ms since the epoch. */
export type Session = {
  readonly digest: Buffer;
  readonly accountId: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** When it ends, however often it is seen. */
  readonly expiresAt: number;
  /** The provider where the user signed in; null for a password here. */
  readonly providerId: string | null;
  /** Data on that sign-in, or null. */
  readonly external: ExternalSession | null;
};

/** Data on a session that began with a sign-in elsewhere. Times in ms. */
export type ExternalSession = {
  /** The provider's subject, unless it is the account's id as well. */
  readonly externalId: string | null;
  /** When the person signed in at the provider, as that says; null when it did not say. */
  readonly authTime: number | null;
  /** How they did (RFC 8176). */
  readonly amr: readonly string[];
  /** True if the session is good only for its own requests. */
  readonly isBound: boolean;
  /** The requests that people signed in for with it, at most five, the oldest first. */
  readonly requests: readonly SessionRequest[];
};

/** A request that a session was begun for: its path and query, the digest of the ticket it came with (base64url), and when. */
export type SessionRequest = { readonly continueTo: string; readonly ticket: string; readonly at: number };

/** A session ends after 12 hours without a request, and after 30 days in any case (ASVS 7.3.1, 7.3.2); ms. */
export const SESSION_LIFETIMES = { idle: 12 * 3600 * 1000, absolute: 30 * 24 * 3600 * 1000 } as const;
/** Minimum time between two writes of when a session was seen (ms), so that not every page is a write. */
const SEEN_EVERY_MS = 5 * 60 * 1000;
/** Maximum number of live sessions of an account; one more ends the oldest. */
export const MAX_SESSIONS = 50;

/** A new session token with 256 random bits (ASVS 7.2.3). */
export function newSessionToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * The token of the session that a ticket begins: the same each time its browser presents the ticket with the secret of the
 * sign-in cookie. Ticket and secret are not stored, and each has 256 random bits.
 */
export function ticketSessionToken(ticket: string, browser: string): string {
  return createHmac('sha256', browser).update(ticket).digest('base64url');
}

/** Returns the stored digest of a token: 256 random bits need no slow hash (ASVS 6.5.2). */
export function sessionDigest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** A session of somebody who signed in here, at a time (ms). */
export function passwordSession(token: string, accountId: string, at: number): Session {
  const times = { createdAt: at, lastSeenAt: at, expiresAt: at + SESSION_LIFETIMES.absolute };
  return { digest: sessionDigest(token), accountId, ...times, providerId: null, external: null };
}

/** When a session ends if it is not seen again. */
export function sessionExpiresAt({ lastSeenAt, expiresAt }: Pick<Session, 'lastSeenAt' | 'expiresAt'>): number {
  return Math.min(lastSeenAt + SESSION_LIFETIMES.idle, expiresAt);
}

/** True if the session had a sign-in at this time (ms) or later: at its start, or for a further request. */
export function signedInSince({ createdAt, external }: Session, since: number): boolean {
  return createdAt >= since || (external?.requests.some(({ at }) => at >= since) ?? false);
}

/** True if the session's last use should be written now. */
export function shouldNoteSeen(session: Session, now: number): boolean {
  return now - session.lastSeenAt >= SEEN_EVERY_MS;
}

/** Lifetime of a session of a provider that registered none (ms), and the maximum number of its requests. */
const BOUND_SESSION_MS = 10 * 60 * 1000;
const MAX_REQUESTS = 5;

/** The session that a sign-in at a provider begins, or goes on with; it is good for the `earlier` requests too. */
export function externalSession(
  begun: Pick<Session, 'digest' | 'accountId' | 'createdAt' | 'lastSeenAt'>,
  { id: providerId, sessionLifetime }: Pick<IdentityProvider, 'id' | 'sessionLifetime'>,
  said: Pick<ExternalSession, 'externalId' | 'authTime' | 'amr'>,
  request: SessionRequest,
  earlier: readonly SessionRequest[],
): Session & { readonly external: ExternalSession } {
  const requests = [...earlier, request].slice(-MAX_REQUESTS);
  const lifetime = sessionLifetime === null ? BOUND_SESSION_MS : sessionLifetime * 1000;
  const expiresAt = Math.min(request.at + lifetime, begun.createdAt + SESSION_LIFETIMES.absolute);
  return { ...begun, expiresAt, providerId, external: { ...said, isBound: sessionLifetime === null, requests } };
}

/**
 * The time of the sign-in (ms) if a session is valid for a request; null if it is valid only for others. `isSame` is true if
 * the sign-in was for this request.
 */
export function signedInFor(
  { external, createdAt }: Pick<Session, 'external' | 'createdAt'>,
  isSame: (continueTo: string) => boolean,
): number | null {
  if (external === null) return createdAt;
  const request = external.requests.findLast(({ continueTo }) => isSame(continueTo));
  return request?.at ?? (external.isBound ? null : createdAt);
}
