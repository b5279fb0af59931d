/** Sessions of signed-in people: a random token in the browser's cookie, its digest in the store. */
import { hash, randomBytes } from 'node:crypto';

/** A session, found by the digest of its token. Times in ms since the epoch. */
export type Session = {
  readonly digest: Buffer;
  readonly accountId: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
};

/** A session ends after 12 hours without a request, and after 30 days in any case (ASVS 7.3.1, 7.3.2); ms. */
const IDLE_MS = 12 * 3600 * 1000;
const ABSOLUTE_MS = 30 * 24 * 3600 * 1000;
/** Minimum time between two writes of when a session was seen (ms), so that not every page is a write. */
const SEEN_EVERY_MS = 5 * 60 * 1000;

/** A new session token with 256 random bits (ASVS 7.2.3). */
export function newSessionToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a token: 256 random bits need no slow hash (ASVS 6.5.2). */
export function sessionDigest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** When a session ends if it is not seen again. */
export function sessionExpiresAt(session: Pick<Session, 'createdAt' | 'lastSeenAt'>): number {
  return Math.min(session.lastSeenAt + IDLE_MS, session.createdAt + ABSOLUTE_MS);
}

/** Whether it is time to write down that the session was seen. */
export function shouldNoteSeen(session: Session, now: number): boolean {
  return now - session.lastSeenAt >= SEEN_EVERY_MS;
}
