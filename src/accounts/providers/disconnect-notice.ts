/** Disconnect notices: tell identity providers that apps lost access to their users. */
import type { AuditAction, AuditEvent } from '../../oauth/trail/audit.ts';
import type { Identity } from '../people/identity-provider.ts';
import { subjectOf } from '../people/identity-provider.ts';

/**
 * The reason: the user, the provider's own call, the app or an operator revoked it; a code or refresh token was presented
 * twice, like a stolen one; the app had too many grants of one user; or the account was deleted.
 */
export type DisconnectReason = 'user' | 'provider' | 'app' | 'operator' | 'reuse' | 'limit' | 'account_ended';

/** A notice for one provider, which names users by their subjects. Null means all its users, or all apps. */
export type DisconnectNotice = {
  readonly subject: string | null;
  readonly clientId: string | null;
  readonly reason: DisconnectReason;
  /** When it happened (ms). */
  readonly at: number;
};

/** The scope of an end: a user at an app, a user, all users at an app, or all users. */
type Ended = readonly [whose: 'person at app' | 'person' | 'app' | 'everybody', reason: DisconnectReason | 'who acts'];

/** The acts that end grants for good. A pause or a disabled account is not among them, since it ends no grant. */
const ENDS: Partial<Record<AuditAction, Ended>> = {
  grant_revoked: ['person at app', 'who acts'],
  code_replay: ['person at app', 'reuse'],
  refresh_reuse: ['person at app', 'reuse'],
  refresh_conflict: ['person at app', 'reuse'],
  too_many_grants: ['person at app', 'limit'],
  user_grants_revoked: ['person', 'operator'],
  user_deleted: ['person', 'account_ended'],
  client_grants_revoked: ['app', 'operator'],
  client_deleted: ['app', 'operator'],
  all_grants_revoked: ['everybody', 'operator'],
};

const REASON_OF: Readonly<Record<AuditEvent['actor']['kind'], DisconnectReason>> = {
  user: 'user',
  client: 'app',
  operator: 'operator',
  provider: 'provider',
  visitor: 'user',
  service: 'operator',
};

/** The account whose identities `disconnectNotices` needs for an event, or null. */
export function disconnectedAccount({ action, resourceOwnerId }: AuditEvent): string | null {
  return ENDS[action]?.[0].startsWith('person') ? resourceOwnerId : null;
}

/**
 * Returns the notices for a provider about an event of the audit trail. `identities` are those of the event's
 * account, at any provider: the notices are only for this provider's subjects, including those that were its subjects
 * at that time.
 */
export function disconnectNotices(
  event: AuditEvent,
  providerId: string,
  identities: readonly Identity[],
): DisconnectNotice[] {
  const ended = ENDS[event.action];
  if (!ended) return [];
  const [whose, why] = ended;
  const notice = {
    subject: null,
    clientId: whose === 'person' || whose === 'everybody' ? null : event.clientId,
    reason: why === 'who acts' ? REASON_OF[event.actor.kind] : why,
    at: event.at,
  };
  if (whose === 'app' || whose === 'everybody') return [notice];
  const own = identities.filter(
    (identity) =>
      identity.accountId === event.resourceOwnerId &&
      identity.providerId === providerId &&
      identity.createdAt <= event.at,
  );
  return [...new Set(own.map(subjectOf))].map((subject) => ({ ...notice, subject }));
}
