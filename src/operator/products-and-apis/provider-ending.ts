/**
 * Ends all access that came through an identity provider since a time, for example after its secret leaked. Walks over tables
 * in windows and ends each row separately, so that no request waits for it. After an interruption, another run finds the rest.
 */
import type { ExternalSignIn } from '../../accounts/people/external-sign-in.ts';
import type { IdentityProvider } from '../../accounts/people/identity-provider.ts';
import { type Session, sessionExpiresAt, signedInSince } from '../../accounts/people/session.ts';
import type { AccountStore } from '../../accounts/people/store.ts';
import { statedAt } from '../../accounts/providers/return-ticket.ts';
import { OperatorError } from '../../oauth/error.ts';
import { type Grant, grantIdText, oldestGrantId } from '../../oauth/grants/grant.ts';
import type { GrantStore } from '../../oauth/protocol/grant-store.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import { endWalked } from '../end-in-steps.ts';

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

/**
 * How many of each ended, or would end: sign-ins on their way back to a browser, sessions, and grants, redeemed or not.
 * `isAll` is false if the time was up before the walk was at its end.
 */
export type EndedThroughProvider = {
  readonly signIns: number;
  readonly sessions: number;
  readonly grants: number;
  readonly isAll: boolean;
};

/** Ends one thing, or only finds it; returns true if it counts. */
type Endings = {
  signIn(signIn: TicketToEnd): Promise<boolean>;
  session(session: Session): Promise<boolean>;
  grant(grant: GrantToEnd): Promise<boolean>;
};

type EndingAction = 'identity_provider_all_ended' | 'sign_in_refused' | 'user_sessions_ended' | 'grant_revoked';
type TicketToEnd = Pick<ExternalSignIn, 'nonce' | 'ticket' | 'ticketExpiresAt'>;
type GrantToEnd = Pick<Grant, 'id' | 'clientId' | 'resourceOwnerId'>;

/**
 * Ends everything given since a time (ms), or by a sign-in of that time. The order matters, so that nothing escapes: first
 * tickets, from which sessions are made; then sessions, in which grants are made (`issueGrant`); then grants. It stops at
 * `until` (ms), and another call ends the rest. Throws `OperatorError`.
 */
export async function endThroughProvider(
  parts: ProviderEndingParts,
  { id: providerId }: IdentityProvider,
  since: number,
  operator: Actor,
  until = Number.POSITIVE_INFINITY,
): Promise<EndedThroughProvider> {
  const { store, now } = parts;
  refuseFuture(since, now());
  const through = { provider: providerId, since: new Date(since).toISOString() };
  const event = (action: EndingAction, about: Parameters<typeof auditEvent>[3] = {}) =>
    auditEvent(action, operator, now(), { clientId: providerId, ...about }, through);
  await store.recordSignInEvent(event('identity_provider_all_ended'));
  const endings: Endings = {
    signIn: async ({ nonce, ticket }) => store.takeTicket(nonce, ticket, null, event('sign_in_refused')),
    session: ({ digest, accountId }) =>
      store.endSession(digest, event('user_sessions_ended', { resourceOwnerId: accountId })),
    grant: ({ id, clientId, resourceOwnerId }) =>
      store.revokeGrant(
        id,
        'operator',
        event('grant_revoked', { grantId: grantIdText(id), clientId, resourceOwnerId }),
      ),
  };
  return walkThrough(parts, providerId, since, endings, until);
}

/** Counts what that would end, and ends nothing. It stops at `until` (ms). Throws `OperatorError`. */
export async function countThroughProvider(
  parts: ProviderEndingParts,
  { id: providerId }: IdentityProvider,
  since: number,
  until: number,
): Promise<EndedThroughProvider> {
  refuseFuture(since, parts.now());
  const found = async () => true;
  return walkThrough(parts, providerId, since, { signIn: found, session: found, grant: found }, until);
}

function refuseFuture(since: number, now: number): void {
  if (since > now)
    throw new OperatorError('this time is in the future: give the earliest possible time of the compromise', 'since');
}

async function walkThrough(
  { store, now, report = () => {} }: ProviderEndingParts,
  providerId: string,
  since: number,
  endings: Endings,
  until: number,
): Promise<EndedThroughProvider> {
  const ended = { signIns: 0, sessions: 0, grants: 0, isAll: true };
  const count = (what: 'signIns' | 'sessions' | 'grants') => (number: number) => {
    ended[what] += number;
    report(ended);
  };
  const isTimeUp = () => now() >= until;
  const walks = [
    () =>
      endWalked(
        (after) => store.walkTickets(providerId, after),
        async (signIn) => statedAt(signIn) >= since && signIn.ticketExpiresAt > now() && endings.signIn(signIn),
        count('signIns'),
        undefined,
        isTimeUp,
      ),
    () =>
      endWalked(
        (after) => store.walkSessions(providerId, after),
        async (session: Session) =>
          signedInSince(session, since) && sessionExpiresAt(session) > now() && endings.session(session),
        count('sessions'),
        undefined,
        isTimeUp,
      ),
    () =>
      endWalked(
        (after) => store.walkGrants({ providerId, since }, now(), after),
        (grant: GrantToEnd) => endings.grant(grant),
        count('grants'),
        oldestGrantId(since),
        isTimeUp,
      ),
  ];
  for (const walk of walks) if (!(await walk())) return { ...ended, isAll: false };
  return ended;
}
