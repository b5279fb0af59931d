/**
 * Ends what was given through an identity provider since a time, for example after its secret leaked. It walks over tables
 * in windows and ends each thing by itself, so that no request waits for it. After an interruption it can be run again: it
 * finds what is left.
 */
import type { IdentityProvider } from '../accounts/people/identity-provider.ts';
import { type Session, sessionExpiresAt, signedInSince } from '../accounts/people/session.ts';
import type { AccountStore } from '../accounts/people/store.ts';
import { statedAt } from '../accounts/providers/ticket.ts';
import { OperatorError } from '../oauth/error.ts';
import { type Grant, grantIdText, oldestGrantId } from '../oauth/grants/grant.ts';
import type { GrantStore } from '../oauth/protocol/grant-store.ts';
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../oauth/trail/audit.ts';
import { endWalked } from './end-walked.ts';

/** The parts of the ending. `now` returns ms since the epoch; `report` gets the number ended so far. */
export type ProviderEndingParts = {
  readonly store: Pick<
    AccountStore,
    'walkTickets' | 'takeTicket' | 'walkSessions' | 'endSession' | 'recordSignInEvent'
  > &
    Pick<GrantStore, 'walkGrants' | 'revokeGrant'>;
  readonly now: () => number;
  readonly report?: (ended: EndedThroughProvider) => void;
};

/** How many of each ended: sign-ins on their way back to a browser, sessions, and grants, redeemed or not. */
export type EndedThroughProvider = { readonly signIns: number; readonly sessions: number; readonly grants: number };

/**
 * Ends what was given since a time (ms), or by a sign-in of that time. The order matters, so that nothing escapes: first
 * tickets, from which sessions are made; then sessions, in which grants are made (`issueGrant`); then grants. Throws
 * `OperatorError`.
 */
export async function endThroughProvider(
  { store, now, report = () => {} }: ProviderEndingParts,
  { id: providerId }: IdentityProvider,
  since: number,
  operator: Actor,
): Promise<EndedThroughProvider> {
  if (since > now())
    throw new OperatorError('this time is in the future: give the earliest possible time of the compromise');
  const through = `through ${providerId} since ${new Date(since).toISOString()}`;
  const event = (action: AuditAction, about: Partial<AuditEvent> = {}) =>
    ({ ...auditEvent(action, operator, now(), { clientId: providerId, detail: through }), ...about }) as AuditEvent;
  await store.recordSignInEvent(event('identity_provider_all_ended'));
  const ended = { signIns: 0, sessions: 0, grants: 0 };
  const count = (what: keyof EndedThroughProvider) => (number: number) => {
    ended[what] += number;
    report(ended);
  };
  await endWalked(
    (after) => store.walkTickets(providerId, after),
    async (signIn) =>
      statedAt(signIn) >= since &&
      signIn.ticketExpiresAt > now() &&
      store.takeTicket(signIn.nonce, signIn.ticket, null, event('sign_in_refused')),
    count('signIns'),
  );
  await endWalked(
    (after) => store.walkSessions(providerId, after),
    async (session: Session) =>
      signedInSince(session, since) &&
      sessionExpiresAt(session) > now() &&
      store.endSession(session.digest, event('user_sessions_ended', { resourceOwnerId: session.accountId })),
    count('sessions'),
  );
  await endWalked(
    (after) => store.walkGrants({ providerId, since }, now(), after),
    ({ id, clientId, resourceOwnerId }: Pick<Grant, 'id' | 'clientId' | 'resourceOwnerId'>) =>
      store.revokeGrant(
        id,
        'operator',
        event('grant_revoked', { grantId: grantIdText(id), clientId, resourceOwnerId }),
      ),
    count('grants'),
    oldestGrantId(since),
  );
  return ended;
}
