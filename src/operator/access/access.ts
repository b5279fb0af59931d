/** The recognition of operators who call the API or use the console, and the record of what they were refused. */
import { hash } from 'node:crypto';
import { invalidClient, Refusal } from '../../oauth/error.ts';
import { isAheadOfClock } from '../../oauth/grants/clock-steps.ts';
import { GuardedChecks, type GuessThrottle } from '../../oauth/guessing/guess-throttle.ts';
import type { SecretUseStore } from '../../oauth/keys/secret-use-store.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import { isKeyText } from './operator-key.ts';
import {
  isLiveOperatorSession,
  type OperatorSession,
  operatorTokenDigest,
  shouldNoteOperatorSeen,
} from './operator-session.ts';
import type { OperatorStore } from './operator-store.ts';
import { RecentKeys } from './recent-keys.ts';
import { type Access, type AccessRefusal, type Act, meansOf } from './rights.ts';

/** Source and request of an operator's act. */
export type OperatorOrigin = { readonly source: string; readonly requestId: string };

/** The parts of `OperatorAccess`. `now` returns ms. */
export type OperatorAccessParts = {
  readonly store: OperatorStore & Pick<SecretUseStore, 'noteSecretUse'>;
  readonly throttle: GuessThrottle;
  readonly prefix: string;
  readonly now: () => number;
};

const HOUR_MS = 3_600_000;
/** Maximum number of refusals whose record is remembered here, so that a repeated one costs no write. */
const MAX_REMEMBERED = 10_000;

/** Recognizes operators. */
export class OperatorAccess {
  readonly #parts: OperatorAccessParts;
  readonly #checks: GuardedChecks;
  readonly #recentKeys = new RecentKeys();
  readonly #recorded = new Set<string>();

  constructor(parts: OperatorAccessParts) {
    this.#parts = parts;
    this.#checks = new GuardedChecks(parts.throttle, parts.now);
  }

  /**
   * Returns the access that a key gives. Otherwise a refusal: `invalid_client` for a wrong, ended or expired key or a disabled
   * operator, in one public text, or `temporarily_unavailable` after too many wrong keys from the source. A key that was
   * right within the hour is checked all the same: it is no guess.
   */
  async byKey(text: string, source: string): Promise<Access | Refusal> {
    const digest = operatorTokenDigest(text);
    const { now } = this.#parts;
    const isRecent = this.#recentKeys.has(digest, now());
    const check = () => this.#byKey(text, digest);
    const access = await (isRecent ? check() : this.#checks.run(`operator key ${source}`, check));
    if (!(access instanceof Refusal)) this.#recentKeys.add(digest, now());
    else if (isRecent) this.#recentKeys.delete(digest);
    return access;
  }

  async #byKey(text: string, digest: Buffer): Promise<Access | Refusal> {
    const { store, prefix, now } = this.#parts;
    if (!isKeyText(prefix, text)) return wrongKey('it has not the form of an operator key, or was mistyped');
    const found = await store.findOperatorKey(digest);
    if (!found) return wrongKey('there is no such operator key');
    const { key, operator } = found;
    if (key.expiresAt <= now()) return wrongKey(`the operator key ${key.id} has expired`);
    if (isAheadOfClock(key.createdAt, 0, now()))
      return wrongKey(`the operator key ${key.id} is of the future: the clock stepped back`);
    if (operator.status !== 'active') return wrongKey(`the operator ${operator.id} is disabled`);
    store.noteSecretUse(key, now());
    return { operator, by: { kind: 'key', keyId: key.id, rights: key.rights } };
  }

  /** Returns the access of a session by its token, and notes that it was seen; null if it ended or the operator is disabled. */
  async bySession(token: string): Promise<Access | null> {
    const { store, now } = this.#parts;
    const found = await store.findOperatorSession(operatorTokenDigest(token));
    if (found === null) return null;
    const { session, operator } = found;
    if (operator.status !== 'active' || !isLiveOperatorSession(session, now())) return null;
    if (shouldNoteOperatorSeen(session, now())) await store.touchOperatorSession(session.digest, now());
    return { operator, by: bySession(session) };
  }

  /** Returns the actor of what an access does: what it writes is refused once the access ended (`AccessEnded`). */
  actor({ operator: { id, epoch }, by }: Access, { source, requestId }: OperatorOrigin): Actor {
    return { kind: 'operator', id, source, requestId, by: meansOf(by), standing: { operatorId: id, epoch } };
  }

  /** Records that an act was refused, at most once an hour for an operator and an act. */
  async refused(act: Act, { operator, by }: Access, refusal: AccessRefusal, origin: OperatorOrigin): Promise<void> {
    const { store, now } = this.#parts;
    const hour = Math.floor(now() / HOUR_MS);
    const digest = hash('sha256', JSON.stringify([operator.id, act, hour]), 'buffer');
    const remembered = digest.toString('base64url');
    if (this.#recorded.has(remembered)) return;
    const actor: Actor = { kind: 'operator', id: operator.id, by: meansOf(by), ...origin };
    const detail = { act, reason: REASONS[refusal] };
    const event = auditEvent('operator_refused', actor, now(), { clientId: operator.id }, detail);
    await store.recordOperatorRefused({ digest, expiresAt: (hour + 1) * HOUR_MS }, event);
    if (this.#recorded.size >= MAX_REMEMBERED) this.#recorded.clear();
    this.#recorded.add(remembered);
  }
}

const REASONS: Readonly<Record<AccessRefusal, string>> = {
  disabled: 'the operator is disabled',
  role: 'the role does not allow it',
  right: 'the key lacks the right',
  presence: 'no passkey was used within 5 minutes',
  'commands alone': 'only a command does it',
};

function bySession({ digest, how, createdAt, presentAt }: OperatorSession): Access['by'] {
  return { kind: 'session', digest, how, createdAt, presentAt };
}

function wrongKey(detail: string): Refusal {
  return invalidClient(detail, 'the operator key is wrong, ended or expired');
}
