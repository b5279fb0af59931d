/**
 * The return from a provider: a browser presents its ticket. Find, decide, then one write that consumes the ticket, creates or
 * changes the account as the provider said, and begins the session. That write checks all preconditions again; after a lost
 * race, the decision is made again. Only the browser that began the sign-in gets a result, the same each time within the
 * ticket's life: its session token is derived from the ticket and the browser's own secret.
 */

import { timingSafeEqual } from 'node:crypto';
import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import { StoreUnavailable } from '../../oauth/store.ts';
import { type AuditEvent, auditEvent } from '../../oauth/trail/audit.ts';
import type { ExternalSignIn } from '../people/external-sign-in.ts';
import { subjectIn, subjectOf } from '../people/identity-provider.ts';
import { changeOfPerson, type PeopleParts, refusedPerson } from '../people/provider-people.ts';
import {
  type ExternalSession,
  externalSession,
  type Session,
  sessionDigest,
  sessionExpiresAt,
  ticketSessionToken,
} from '../people/session.ts';
import type {
  AccountStore,
  ExternalSignInStore,
  IdentityProviderStore,
  SessionAfterTicket,
  TakenSignIn,
} from '../people/store.ts';
import { readTicket } from './return-ticket.ts';
import { browserDigest } from './sign-in-request.ts';
import { MAX_CLOCK_SKEW_MS } from './sign-in-statement.ts';

/** The parts that a return from a provider works with. `methods` are the ways to sign in. */
export type ReturnParts = PeopleParts & {
  readonly store: PeopleParts['store'] &
    ExternalSignInStore &
    Pick<IdentityProviderStore, 'findIdentityProvider'> &
    Pick<AccountStore, 'findSession'>;
  readonly methods: readonly string[];
};

/** The browser's values: the ticket, the secrets of its sign-in cookies, and the token of its session. */
export type Returned = {
  readonly ticket: string;
  readonly browsers: readonly string[];
  readonly sessionToken: string | null;
};

/**
 * The result of a return. `signed_in`, or `already` if the same browser returned before: with the token of the new session, or
 * null if the present one continues. `denied`: the user refused at the provider. `dead`: the ticket is invalid for any reason;
 * `detail` is for the log. `refused`: this user may not sign in this way.
 */
export type ReturnOutcome =
  | { readonly kind: 'signed_in' | 'already'; readonly sessionToken: string | null; readonly continueTo: string }
  | { readonly kind: 'denied'; readonly continueTo: string }
  | { readonly kind: 'dead'; readonly detail: string }
  | { readonly kind: 'refused'; readonly why: 'paused' | 'disabled' | 'too_old' };

/** An unauthenticated visitor. */
const VISITOR = { kind: 'visitor', id: 'unknown' } as const;

/** Maximum number of tries to consume a ticket while other requests change its preconditions. */
const MAX_TRIES = 20;

/** Decides on a ticket, and takes it. A request without the cookie of the browser that began takes nothing. */
export async function completeReturn(
  parts: ReturnParts,
  returned: Returned,
  origin: RequestOrigin,
  tries = 1,
): Promise<ReturnOutcome> {
  const { store, now } = parts;
  const read = readTicket(returned.ticket);
  if (!read) return dead('it is no ticket');
  const stated = await store.findExternalSignIn(read.nonce);
  if (!stated || !timingSafeEqual(stated.ticket, read.digest)) return dead('the ticket was replaced or never given');
  const at = now();
  if (stated.ticketExpiresAt <= at) return dead('the ticket is too old');
  const browser = returned.browsers.find((secret) => timingSafeEqual(browserDigest(secret), stated.browser));
  if (browser === undefined) return dead('the ticket is for another browser');
  const shown: Shown = {
    stated,
    sessionToken: ticketSessionToken(returned.ticket, browser),
    present: returned.sessionToken === null ? null : await liveSession(parts, returned.sessionToken),
    at,
    origin,
  };
  if (stated.takenAt !== null) return shownAgain(parts, shown);
  const { outcome, taken, event } = await decide(parts, shown);
  if (await store.takeTicket(stated.nonce, stated.ticket, taken, event)) return outcome;
  if (tries < MAX_TRIES) return completeReturn(parts, returned, origin, tries + 1);
  throw new StoreUnavailable('others change what this sign-in rests on all the time');
}

/** A valid ticket in its own browser: the token of the session that it begins, and the browser's live session. */
type Shown = {
  readonly stated: ExternalSignIn;
  readonly sessionToken: string;
  readonly present: Session | null;
  readonly at: number;
  readonly origin: RequestOrigin;
};

/** The answer of the first time, as long as the session lives that the ticket began or that took it. */
async function shownAgain(parts: ReturnParts, { stated, sessionToken, present }: Shown): Promise<ReturnOutcome> {
  const { identityId, continueTo, ticket } = stated;
  if (identityId === null) return { kind: 'denied', continueTo };
  if (await liveSession(parts, sessionToken)) return { kind: 'already', sessionToken, continueTo };
  if (present?.external?.requests.some((request) => request.ticket === textOf(ticket)))
    return { kind: 'already', sessionToken: null, continueTo };
  return dead('the ticket was taken, and its session ended or never began');
}

/** The write, and the answer after it. */
type Decision = {
  readonly outcome: ReturnOutcome;
  readonly taken: TakenSignIn | null;
  readonly event: AuditEvent;
};

/** In this order: the provider, the person, the time of the sign-in. */
async function decide(parts: ReturnParts, shown: Shown): Promise<Decision> {
  const { store, methods } = parts;
  const { stated, at, origin } = shown;
  const { providerId, identityId, continueTo, profile } = stated;
  const provider = await store.findIdentityProvider(providerId);
  if (provider?.status !== 'active' || !provider.rights.includes('sign-in') || !methods.includes(provider.id))
    return no(shown, { kind: 'refused', why: 'paused' }, 'the identity provider is paused, or left out');
  if (identityId === null) return no(shown, { kind: 'denied', continueTo }, 'refused at the identity provider');
  const found = await store.findIdentityById(identityId);
  const known = found?.account ?? null;
  if (refusedPerson(known)) return no(shown, { kind: 'refused', why: 'disabled' }, 'the person is disabled', known?.id);
  if (isTooOld(stated, at)) return no(shown, { kind: 'refused', why: 'too_old' }, 'signed in too long ago', known?.id);
  // The provider said it; the browser's request causes the write.
  const actor = { kind: 'provider', id: providerId, source: null, requestId: origin.requestId } as const;
  const subject = subjectIn(providerId, identityId);
  const change = await changeOfPerson(parts, provider, known, { subject, profile }, actor);
  const identity = found?.identity ?? change?.identity;
  const account = change?.account ?? known;
  if (!identity || !account) throw new Error('a person is there, or is made');
  return yes(shown, { provider, identity, account, change });
}

/** `prompt=login` wants a sign-in after the request, and `max_age` one of some seconds ago at most. */
function isTooOld({ demandsLogin, maxAge, authTime, requestedAt }: ExternalSignIn, at: number): boolean {
  if (demandsLogin && (authTime === null || authTime + MAX_CLOCK_SKEW_MS < requestedAt)) return true;
  return maxAge !== null && (authTime === null || authTime + maxAge * 1000 + MAX_CLOCK_SKEW_MS < at);
}

function yes(shown: Shown, person: Omit<TakenSignIn, 'session'>): Decision {
  const { at, origin, sessionToken, stated } = shown;
  const { providerId, amr, continueTo } = stated;
  const { id } = person.account;
  const about = { resourceOwnerId: id, clientId: providerId };
  const session = sessionAfter(shown, person);
  return {
    outcome: { kind: 'signed_in', sessionToken: session.kind === 'begin' ? sessionToken : null, continueTo },
    taken: { ...person, session },
    event: auditEvent('sign_in', { kind: 'user', id, ...origin }, at, about, { provider: providerId, methods: amr }),
  };
}

/**
 * The same user's sign-in in another tab adds its request to the session; any other sign-in replaces the session. A demanded
 * sign-in also gets a new token (ASVS 7.2.4), which is valid for the requests of the other tabs too.
 */
function sessionAfter(
  { stated, at, sessionToken, present }: Shown,
  { account: { id: accountId }, identity, provider }: Omit<TakenSignIn, 'session'>,
): SessionAfterTicket {
  const { continueTo, ticket, authTime, amr, demandsLogin, maxAge } = stated;
  const externalId = provider.ownIds ? null : subjectOf(identity);
  const request = { continueTo, ticket: textOf(ticket), at };
  const isSame = present?.accountId === accountId && present.providerId === provider.id;
  const before = isSame && present.external?.externalId === externalId ? present : null;
  const requests = before?.external?.requests ?? [];
  const said = { externalId, ...laterOf({ authTime, amr }, before?.external ?? null) };
  if (before && !demandsLogin && maxAge === null)
    return { kind: 'extend', from: before, to: externalSession(before, provider, said, request, requests) };
  const begun = { digest: sessionDigest(sessionToken), accountId, createdAt: at, lastSeenAt: at };
  const session = externalSession(begun, provider, said, request, requests);
  return { kind: 'begin', session, replaces: present?.digest ?? null };
}

/** An authentication as a product said it. */
type Authentication = Pick<ExternalSession, 'authTime' | 'amr'>;

/**
 * Returns the later of two authentications of the same user. A statement without a time, or with an earlier one, must not
 * take away the time that another tab's request demanded.
 */
function laterOf(said: Authentication, before: Authentication | null): Authentication {
  const isBeforeLater = before !== null && (before.authTime ?? -1) > (said.authTime ?? -1);
  return isBeforeLater ? { authTime: before.authTime, amr: before.amr } : said;
}

async function liveSession(
  { store, now }: Pick<ReturnParts, 'store' | 'now'>,
  sessionToken: string,
): Promise<Session | null> {
  const found = await store.findSession(sessionDigest(sessionToken));
  return found?.account.status === 'active' && sessionExpiresAt(found.session) > now() ? found.session : null;
}

/** A refused sign-in consumes the ticket too, so that it does not work later, when the reason of the refusal is gone. */
function no({ stated, at, origin }: Shown, outcome: ReturnOutcome, reason: string, accountId?: string): Decision {
  const whose = accountId === undefined ? {} : { resourceOwnerId: accountId };
  const about = { clientId: stated.providerId, ...whose };
  const event = auditEvent('sign_in_refused', { ...VISITOR, ...origin }, at, about, { reason });
  return { outcome, taken: null, event };
}

function dead(detail: string): ReturnOutcome {
  return { kind: 'dead', detail };
}

/** The digest of a ticket as a session keeps it. */
function textOf(digest: Buffer): string {
  return digest.toString('base64url');
}
