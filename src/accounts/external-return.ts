/**
 * The way back from a provider: a browser shows its ticket. Find, decide, then one write that takes the ticket away. It does so
 * whatever was decided, so that a ticket that was shown in the wrong browser is dead. Whether it changes a row decides every
 * race.
 */

import { timingSafeEqual } from 'node:crypto';
import { type AuditEvent, auditEvent } from '../oauth/audit.ts';
import type { RequestOrigin } from '../oauth/client-authenticator.ts';
import type { Account } from './account.ts';
import type { ExternalSignIn } from './external-sign-in.ts';
import { type Identity, type IdentityProvider, subjectOf } from './identity-provider.ts';
import { refusedPerson } from './people.ts';
import { externalSession, newSessionToken, type Session, sessionDigest, sessionExpiresAt } from './session.ts';
import { browserDigest } from './sign-in-request.ts';
import { MAX_CLOCK_SKEW_MS } from './sign-in-statement.ts';
import type {
  AccountStore,
  ExternalSignInStore,
  IdentityProviderStore,
  IdentityStore,
  SessionAfterTicket,
} from './store.ts';
import { readTicket } from './ticket.ts';

/** What coming back works with. `methods` are the ways to sign in; `now` returns ms since the epoch. */
export type ReturnParts = {
  readonly store: ExternalSignInStore &
    Pick<IdentityStore, 'findIdentityById'> &
    Pick<IdentityProviderStore, 'findIdentityProvider'> &
    Pick<AccountStore, 'findSession'>;
  readonly methods: readonly string[];
  readonly now: () => number;
};

/** What a browser shows: the ticket, the secrets of its sign-in cookies, and the token of the session that it has. */
export type Returned = {
  readonly ticket: string;
  readonly browsers: readonly string[];
  readonly sessionToken: string | null;
};

/**
 * What became of it. `signed_in`: with the token of a new session, or null where the session goes on. `already`: this ticket
 * signed this browser in before. `denied`: the person refused at the provider. `dead`: it opens nothing, whatever the reason;
 * `detail` is for the log. `refused`: this person may not come in so.
 */
export type ReturnOutcome =
  | { readonly kind: 'signed_in'; readonly sessionToken: string | null; readonly continueTo: string }
  | { readonly kind: 'already' | 'denied'; readonly continueTo: string }
  | { readonly kind: 'dead'; readonly detail: string }
  | { readonly kind: 'refused'; readonly why: 'paused' | 'disabled' | 'too_old' };

/** Somebody of whom nothing is proven. */
const VISITOR = { kind: 'visitor', id: 'unknown' } as const;

/** Decides on a ticket, and takes it. */
export async function completeReturn(
  parts: ReturnParts,
  { ticket, browsers, sessionToken }: Returned,
  origin: RequestOrigin,
): Promise<ReturnOutcome> {
  const { store, now } = parts;
  const read = readTicket(ticket);
  if (!read) return dead('it is no ticket');
  const present = sessionToken === null ? null : await liveSession(parts, sessionToken);
  // The same browser again, as by Back, a reload or a double click.
  const shown = present?.external?.requests.find((request) => request.ticket === read.digest.toString('base64url'));
  if (shown) return { kind: 'already', continueTo: shown.continueTo };
  const stated = await store.findExternalSignIn(read.nonce);
  if (!stated?.ticket || !timingSafeEqual(stated.ticket, read.digest))
    return dead('the ticket was used or never given');
  const at = now();
  if (stated.ticketExpiresAt <= at) return dead('the ticket is too old');
  const decided = await decide(parts, stated, browsers, at);
  const { outcome, result, event } = takingOf(decided, stated, origin, at, present);
  const took = await store.takeTicket(stated.nonce, stated.ticket, result, event);
  return took ? outcome : dead('the ticket was shown at the same time');
}

/** What is decided on a ticket that is good. */
type Decision =
  | ({ readonly kind: 'sign_in' } & Person)
  | { readonly kind: 'no'; readonly outcome: ReturnOutcome; readonly reason: string; readonly accountId?: string };

/** Who signed in, as whom, and where. */
type Person = { readonly account: Account; readonly identity: Identity; readonly provider: IdentityProvider };

/** In this order: the browser, the provider, the person, the time of the sign-in. */
async function decide(
  { store, methods }: ReturnParts,
  stated: ExternalSignIn,
  browsers: readonly string[],
  at: number,
): Promise<Decision> {
  const own = browsers.map(browserDigest).filter((digest) => timingSafeEqual(digest, stated.browser));
  if (own.length === 0) return no(dead('the ticket is for another browser'), 'another browser');
  const provider = await store.findIdentityProvider(stated.providerId);
  if (provider?.status !== 'active' || !methods.includes(provider.id))
    return no({ kind: 'refused', why: 'paused' }, 'the identity provider is paused, or left out');
  const { continueTo } = stated;
  if (stated.identityId === null) return no({ kind: 'denied', continueTo }, 'refused at the identity provider');
  const found = await store.findIdentityById(stated.identityId);
  if (!found || refusedPerson(provider, found.account))
    return no({ kind: 'refused', why: 'disabled' }, 'the person is disabled', found?.account.id);
  if (isTooOld(stated, at)) return no({ kind: 'refused', why: 'too_old' }, 'signed in too long ago', found.account.id);
  return { kind: 'sign_in', ...found, provider };
}

/** `prompt=login` wants a sign-in after the request, and `max_age` one of some seconds ago at most. */
function isTooOld({ demandsLogin, maxAge, authTime, requestedAt }: ExternalSignIn, at: number): boolean {
  if (demandsLogin && (authTime === null || authTime + MAX_CLOCK_SKEW_MS < requestedAt)) return true;
  return maxAge !== null && (authTime === null || authTime + maxAge * 1000 + MAX_CLOCK_SKEW_MS < at);
}

type Taking = {
  readonly outcome: ReturnOutcome;
  readonly result: SessionAfterTicket | null;
  readonly event: AuditEvent;
};

function takingOf(
  decided: Decision,
  stated: ExternalSignIn,
  origin: RequestOrigin,
  at: number,
  present: Session | null,
): Taking {
  const { providerId } = stated;
  if (decided.kind === 'no') {
    const about = { clientId: providerId, detail: decided.reason };
    const whose = decided.accountId === undefined ? {} : { resourceOwnerId: decided.accountId };
    const event = auditEvent('sign_in_refused', { ...VISITOR, ...origin }, at, { ...about, ...whose });
    return { outcome: decided.outcome, result: null, event };
  }
  const { account } = decided;
  const detail = ['by', providerId, ...stated.amr].join(' ');
  const actor = { kind: 'user', id: account.id, ...origin } as const;
  const event = auditEvent('sign_in', actor, at, { resourceOwnerId: account.id, clientId: providerId, detail });
  const session = sessionAfter(stated, decided, at, present);
  return { ...session, event };
}

/** The same account's sign-in in another tab adds its request; any other one replaces the session. */
function sessionAfter(
  { continueTo, ticket, authTime, amr }: ExternalSignIn,
  { account: { id }, identity, provider }: Person,
  at: number,
  present: Session | null,
): Omit<Taking, 'event'> {
  const externalId = provider.ownIds ? null : subjectOf(identity);
  const isSame = present?.accountId === id && present.providerId === provider.id;
  const goesOn = isSame && present.external?.externalId === externalId;
  const request = { continueTo, ticket: (ticket as Buffer).toString('base64url') };
  const before = goesOn ? present.external : null;
  const external = externalSession(provider.sessionLifetime, { externalId, authTime, amr }, request, at, before);
  if (present && before) {
    const result = { kind: 'extend', digest: present.digest, from: before, to: external } as const;
    return { outcome: { kind: 'signed_in', sessionToken: null, continueTo }, result };
  }
  const sessionToken = newSessionToken();
  const times = { createdAt: at, lastSeenAt: at };
  const session = { digest: sessionDigest(sessionToken), accountId: id, ...times, providerId: provider.id, external };
  const result = { kind: 'begin', session, replaces: present?.digest ?? null } as const;
  return { outcome: { kind: 'signed_in', sessionToken, continueTo }, result };
}

async function liveSession({ store, now }: ReturnParts, sessionToken: string): Promise<Session | null> {
  const found = await store.findSession(sessionDigest(sessionToken));
  return found?.account.status === 'active' && sessionExpiresAt(found.session) > now() ? found.session : null;
}

function no(outcome: ReturnOutcome, reason: string, accountId?: string): Decision {
  return { kind: 'no', outcome, reason, ...(accountId === undefined ? {} : { accountId }) };
}

function dead(detail: string): ReturnOutcome {
  return { kind: 'dead', detail };
}
