/**
 * Sign-in at a provider: the browser goes there with a sealed request, the provider's server names the user, and the browser
 * comes back with a ticket (`external-return.ts`). No URL and no script ever names the user.
 */

import { randomBytes } from 'node:crypto';
import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import { invalidRequest, Refusal } from '../../oauth/error.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import type { Throttle } from '../guessing/throttle.ts';
import type { ExternalSignIn } from '../people/external-sign-in.ts';
import { type IdentityProvider, identityId, type ProvenProvider, providerActor } from '../people/identity-provider.ts';
import { type PeopleParts, refusedPerson, refusedSubject } from '../people/provider-people.ts';
import type { AccountStore, ExternalSignInStore, IdentityProviderStore } from '../people/store.ts';
import { completeReturn, type Returned, type ReturnOutcome } from './external-return.ts';
import type { ProviderAuthenticator } from './provider-authenticator.ts';
import { newTicket, TICKET_LIFETIME_MS } from './return-ticket.ts';
import {
  browserDigest,
  openSignInRequest,
  requestedAt,
  SIGN_IN_REQUEST_LIFETIME_MS,
  type SignInRequest,
  sealSignInRequest,
} from './sign-in-request.ts';
import type { SignInStatement } from './sign-in-statement.ts';
import { MAX_CLOCK_SKEW_MS } from './sign-in-statement.ts';
import type { SignInTally } from './sign-in-tally.ts';

/**
 * The parts of sign-in at a provider. `methods` are the sign-in methods, in order; `throttle` counts the sign-ins of each
 * user; `now` returns ms since the epoch.
 */
export type ExternalSignInsParts = PeopleParts & {
  readonly store: PeopleParts['store'] &
    ExternalSignInStore &
    Pick<IdentityProviderStore, 'findIdentityProvider'> &
    Pick<AccountStore, 'findSession' | 'recordSignInEvent'>;
  readonly keyring: Keyring;
  readonly methods: readonly string[];
  readonly providers: Pick<ProviderAuthenticator, 'refusalNow'>;
  readonly throttle: Throttle;
  readonly signIns: SignInTally;
};

/** A browser's request to a provider: the page to continue to, and the demands on the sign-in (`maxAge` in seconds). */
export type AskedOfProvider = Pick<SignInRequest, 'continueTo' | 'demandsLogin' | 'maxAge'>;

/** A way to sign in: here with a password, or at a provider. */
export type SignInWay = 'password' | IdentityProvider;

/** Signing in at providers. */
export class ExternalSignIns {
  readonly #parts: ExternalSignInsParts;

  constructor(parts: ExternalSignInsParts) {
    this.#parts = parts;
  }

  /** True if users may sign in at a provider. */
  get isUsed(): boolean {
    return this.#parts.methods.some((id) => id !== 'password');
  }

  /** The ways to sign in that are open now, in their order. */
  async ways(): Promise<readonly SignInWay[]> {
    const { store, methods } = this.#parts;
    const ways = methods.map((id) => (id === 'password' ? id : store.findIdentityProvider(id)));
    return (await Promise.all(ways)).filter((way) => way === 'password' || way?.status === 'active') as SignInWay[];
  }

  /** One of these providers, or null. */
  async way(id: string): Promise<IdentityProvider | null> {
    return (await this.ways()).find((way) => way !== 'password' && way.id === id) as IdentityProvider | null;
  }

  /** The request that a browser carries to a provider, and the secret of its cookie; null when it would be too long. */
  begin({ id }: IdentityProvider, asked: AskedOfProvider): { signInRequest: string; browser: string } | null {
    const { keyring, now } = this.#parts;
    const browser = randomBytes(32).toString('base64url');
    const signInRequest = sealSignInRequest(keyring, {
      ...asked,
      nonce: randomBytes(16),
      browser: browserDigest(browser),
      providerId: id,
      expiresAt: now() + SIGN_IN_REQUEST_LIFETIME_MS,
    });
    return signInRequest === null ? null : { signInRequest, browser };
  }

  /**
   * An authenticated provider names the signed-in user: returns the ticket for the browser. The first statement binds the
   * request.
   */
  async state(provider: ProvenProvider, said: SignInStatement, origin: RequestOrigin): Promise<string | Refusal> {
    const { store, keyring, now } = this.#parts;
    const at = now();
    const actor = providerActor(provider, origin);
    const request = openSignInRequest(keyring, said.signInRequest, at);
    if (!request) return refusedRequest('the sign-in request is broken, expired or of another installation');
    if (request.providerId !== provider.id) return this.#conflict(actor, at, `it is ${request.providerId}'s`);
    const refused =
      refusedTime(request, said, at) ??
      (await this.#refusedSubject(provider, said.subject)) ??
      this.#countSignIn(provider, said.subject, at);
    if (refused) return refused;
    const ticket = newTicket(request.nonce);
    const stated: ExternalSignIn = {
      ...request,
      identityId: said.subject === null ? null : identityId(provider.id, said.subject),
      profile: said.profile,
      requestedAt: requestedAt(request),
      authTime: said.authTime === null ? null : said.authTime * 1000,
      amr: said.amr,
      ticket: ticket.digest,
      ticketExpiresAt: at + TICKET_LIFETIME_MS,
      takenAt: null,
    };
    const bound = await store.stateExternalSignIn(stated, provider.proof);
    if (bound?.ticket.equals(ticket.digest)) return ticket.text;
    const refusedNow = await this.#parts.providers.refusalNow(provider);
    if (refusedNow) return refusedNow;
    return bound?.identityId === stated.identityId
      ? refusedRequest('the sign-in request was used', USED)
      : this.#conflict(actor, at, 'it was bound to somebody else', BOUND_TO_ANOTHER);
  }

  /** A browser comes back with a ticket; see `external-return.ts`. */
  async complete(returned: Returned, origin: RequestOrigin): Promise<ReturnOutcome> {
    const outcome = await completeReturn(this.#parts, returned, origin);
    this.#parts.signIns.provider[outcome.kind] += 1;
    return outcome;
  }

  async #refusedSubject(provider: IdentityProvider, subject: string | null): Promise<Refusal | null> {
    if (subject === null) return null;
    const found = await this.#parts.store.findIdentity(provider.id, subject);
    return refusedSubject(provider, subject) ?? refusedPerson(found?.account ?? null);
  }

  /** Each sign-in of a user leaves a session and an event, so sign-ins are limited like decisions. */
  #countSignIn({ id }: IdentityProvider, subject: string | null, at: number): Refusal | null {
    if (subject === null) return null;
    const { throttle } = this.#parts;
    const key = [identityId(id, subject)];
    const wait = throttle.wait(key, at);
    if (wait > 0) return new Refusal('temporarily_unavailable', TOO_OFTEN, 'throttled', wait);
    throttle.count(key, at);
    return null;
  }

  async #conflict(actor: Actor, at: number, reason: string, description?: string): Promise<Refusal> {
    await this.#parts.store.recordSignInEvent(
      auditEvent('sign_in_request_conflict', actor, at, { clientId: actor.id }, { reason }),
    );
    return refusedRequest(reason, description);
  }
}

const TOO_OFTEN = 'this person signed in too often: try again later';
/** Only for the provider of the request, so that its developer finds the fault. */
const USED = 'sign_in_request was used: begin again at the app';
const BOUND_TO_ANOTHER =
  'sign_in_request was answered with another subject, or a refusal, before: begin again at the app';

/** The description reveals nothing about the requests of other providers: they count as broken. */
function refusedRequest(
  detail: string,
  description = 'sign_in_request is broken, expired, or was not for this identity provider: begin again at the app',
): Refusal {
  return new Refusal('invalid_grant', description, detail);
}

/**
 * Returns the problem of the stated time if a new sign-in was demanded: it is required, and a future time would pass
 * forever.
 */
function refusedTime({ demandsLogin, maxAge }: SignInRequest, said: SignInStatement, now: number): Refusal | null {
  if (said.subject === null) return null;
  if (said.authTime === null)
    return demandsLogin || maxAge !== null
      ? invalidRequest('auth_time is required: the request demanded a recent sign-in')
      : null;
  return said.authTime * 1000 > now + MAX_CLOCK_SKEW_MS ? invalidRequest('auth_time is in the future') : null;
}
