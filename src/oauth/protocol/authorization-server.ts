/**
 * The operations of the authorization server, each "find, decide, commit": read what is needed, take one pure decision,
 * make one atomic write. Devices (`device-flow.ts`) and resource servers (`introspection.ts`) have theirs beside it.
 */

import type { Activity } from '../activity/activity.ts';
import type { FailedEndpoint } from '../activity/app-failure.ts';
import { type Client, type ClientCredentials, provesClient } from '../clients/client.ts';
import {
  CLIENT_PAUSED,
  type ClientAuthenticator,
  PausedClient,
  type RequestOrigin,
} from '../clients/client-authenticator.ts';
import { invalidCode, invalidRequest, Refusal } from '../error.ts';
import {
  type Generation,
  type Grant,
  grantIdText,
  type Lifetimes,
  namesOf,
  newGrantId,
  type RevocationReason,
} from '../grants/grant.ts';
import { visibleFields } from '../grants/person-fields.ts';
import { allowedScope, scopeNames } from '../grants/scope.ts';
import { type Credential, deriveCredential, isGenuine, readCredential } from '../keys/credential.ts';
import type { Keyring } from '../keys/keyring.ts';
import { notTheCredential } from '../keys/mistaken-credential.ts';
import { isSignInAlone } from '../openid/openid-scope.ts';
import type { Parameters } from '../parameters.ts';
import { isGoodAtOwnApi } from '../resource-servers/resource-server.ts';
import type { ResourceServerStore } from '../resource-servers/resource-server-store.ts';
import { type CheckedToken, decideAccessToken } from '../tokens/access-token.ts';
import { type CodeExchange, decideCodeExchange } from '../tokens/authorization-code.ts';
import { decideRefresh } from '../tokens/refresh-token.ts';
import { codeUsedMeanwhile, explain } from '../tokens/refusal-reason.ts';
import { deriveTokens, type IssuedTokens } from '../tokens/token-pair.ts';
import type { AskedOfTokens } from '../tokens/token-request.ts';
import { type Actor, auditEvent, userActor } from '../trail/audit.ts';
import type { AuditStore } from '../trail/audit-store.ts';
import { allowEvent, newGrant, type OwnerSession } from './allow.ts';
import {
  type AuthorizationRequest,
  type AuthorizationRequestOutcome,
  type Face,
  validateAuthorizationRequest,
} from './authorization-request.ts';
import { allowedLocation, deniedLocation } from './authorization-response.ts';
import { type Consent, chosenScope, consentedFields } from './consent.ts';
import { GrantLimit } from './grant-limit.ts';
import type { FoundGrant, GrantStore } from './grant-store.ts';
import type { OpenIdConnect } from './openid-connect.ts';
import { presentedBefore } from './presented-before.ts';
import type { ProtocolTally } from './protocol-tally.ts';
import { pushedRequest, REQUEST_URI_START, requestUriFor } from './pushed-request.ts';

/** The parts of what issues tokens. `now` returns ms since the epoch. */
export type IssuerParts = {
  readonly store: GrantStore & Pick<ResourceServerStore, 'listResources'> & Pick<AuditStore, 'recordDenial'>;
  readonly keyring: Keyring;
  readonly lifetimes: Lifetimes;
  readonly prefix: string;
  /** The resource that this service's own API is (RFC 8707), `{api_url}`. */
  readonly ownResource: string;
  readonly now: () => number;
  readonly clients: ClientAuthenticator;
  readonly tally: ProtocolTally;
  readonly activity: Activity;
};

/** The parts of the authorization server. */
export type AuthorizationServerParts = IssuerParts & {
  /** True if users may sign in at an identity provider. */
  readonly signsInElsewhere: boolean;
  /** `{app_url}` (RFC 8414 §2). */
  readonly issuer: string;
  readonly openIdConnect: OpenIdConnect;
};

/** RFC 9126 §4: the error is sent to the app, since the request was its own. */
const PUSHED_TOO_LONG_AGO = invalidRequest('the pushed request has expired: push a new one');

/** The protocol's operations. They return refusals as values and throw only `StoreUnavailable` and programming errors. */
export class AuthorizationServer {
  readonly #parts: AuthorizationServerParts;
  readonly #limit: GrantLimit;

  constructor(parts: AuthorizationServerParts) {
    this.#parts = parts;
    this.#limit = new GrantLimit(parts.store, parts.now);
  }

  /** Validates an authorization request (RFC 6749 §4.1.1), or the pushed one that it refers to; reads only. */
  async validateRequest(face: Face, parameters: Parameters): Promise<AuthorizationRequestOutcome> {
    const { keyring, now } = this.#parts;
    const requestUri = parameters.get('request_uri');
    if (face === 'published' || !requestUri?.startsWith(REQUEST_URI_START)) return this.#validate(face, parameters);
    const pushed = pushedRequest(keyring, requestUri, parameters.get('client_id'), now());
    if (!pushed)
      return { kind: 'show', error: 'bad_request_uri', detail: 'request_uri is unknown, expired or of another client' };
    const outcome = await this.#validate(face, pushed.parameters);
    if (outcome.kind !== 'valid') return outcome;
    if (pushed.isExpired) return { ...outcome, kind: 'redirect', refusal: PUSHED_TOO_LONG_AGO };
    return { ...outcome, requestUri: pushed.requestUri };
  }

  /** Takes a pushed authorization request (RFC 9126 §2) and returns the reference to it. */
  async pushRequest(
    credentials: ClientCredentials,
    parameters: Parameters,
    origin: RequestOrigin,
  ): Promise<string | Refusal> {
    const { clients, activity } = this.#parts;
    const isProven = provesClient(credentials);
    const about = { endpoint: 'pushed_authorization_request', origin, isProven, grantId: null } as const;
    const client = await clients.authenticate(credentials, origin, about.endpoint);
    return client instanceof Refusal
      ? client
      : activity.answered(client.id, await this.#push(client, parameters), about);
  }

  async #push(client: Client, parameters: Parameters): Promise<string | Refusal> {
    const { keyring, now } = this.#parts;
    if (parameters.get('request_uri') !== undefined) return invalidRequest('request_uri must not be pushed'); // RFC 9126 §2.1
    const requestUri = requestUriFor(keyring, client, parameters, now(), this.#parts.signsInElsewhere);
    if (requestUri === null)
      return invalidRequest('the request is too long: shorten state, login_hint or redirect_uri');
    const outcome = await this.#validate('standard', parameters, client);
    if (outcome.kind === 'redirect') return outcome.refusal;
    return outcome.kind === 'valid'
      ? requestUri
      : invalidRequest('redirect_uri is missing or not registered for this client');
  }

  /**
   * Issues the grant of an allowed request and returns the location with its code. Null if a precondition of the Allow no
   * longer holds: account, client, session or remembered consent. Then the caller decides again.
   */
  async allow(
    request: AuthorizationRequest,
    owner: OwnerSession,
    consent: Consent,
    origin: RequestOrigin,
  ): Promise<string | null> {
    const { store, keyring, lifetimes, prefix, now } = this.#parts;
    const { client } = request;
    const { given } = consent;
    const scope = allowedScope(request.scopes, request.scope, chosenScope(consent, request.scope));
    if (!scope) return this.deny(request, owner.resourceOwnerId, origin);
    const remembered = given === 'remembered' ? consent.remembered : null;
    const epochs = remembered?.epochs ?? (await store.findEpochs(client.id, owner.resourceOwnerId));
    if (!epochs) return null;
    const at = now();
    const allow = { asked: request, scope, personFields: consentedFields(consent, request), owner, given, origin };
    const made = { id: newGrantId(at), epochs, keyId: keyring.currentKeyId, expiresAt: at + lifetimes.code * 1000 };
    const grant = newGrant(allow, made, lifetimes, at);
    const basis = { session: owner.session, remembered: remembered?.grantIds ?? [] };
    if (!(await store.issueGrant(grant, allowEvent(allow, grant), basis))) return null;
    if (given === 'allowed') {
      this.#parts.tally.allowed += 1;
      this.#parts.activity.count(client.id, 'allowed');
    }
    const header = { grantId: grant.id, generation: 0, keyId: grant.keyId, expiresAt: grant.expiresAt };
    return allowedLocation(request, deriveCredential(keyring, prefix, 'ac', header, grant.seed));
  }

  /** The resource owner pressed Deny: records it and returns the location that says so (RFC 6749 §4.1.2.1). */
  async deny(request: AuthorizationRequest, resourceOwnerId: string, origin: RequestOrigin): Promise<string> {
    const { store, now } = this.#parts;
    const about = { clientId: request.client.id, resourceOwnerId };
    await store.recordDenial(auditEvent('consent_denied', userActor(resourceOwnerId, origin), now(), about));
    this.#parts.tally.denied += 1;
    this.#parts.activity.count(request.client.id, 'denied');
    return deniedLocation(request);
  }

  /** Exchanges a code for the first pair (RFC 6749 §4.1.3). Only success, and replay by the code's own client, write. */
  async exchangeAuthorizationCode(
    credentials: ClientCredentials,
    code: string,
    exchange: CodeExchange,
    origin: RequestOrigin,
  ): Promise<IssuedTokens | Refusal> {
    const credential = readCredential(this.#parts.prefix, 'ac', code);
    return this.#authenticated(credentials, credential, 'token', origin, async (client, found) =>
      credential
        ? this.#exchange(client, credential, found, exchange, origin)
        : notTheCredential('authorization code', code, this.#parts.prefix),
    );
  }

  async #exchange(
    client: Client,
    credential: Credential,
    found: FoundGrant | null,
    exchange: CodeExchange,
    origin: RequestOrigin,
  ): Promise<IssuedTokens | Refusal> {
    const { keyring, lifetimes, tally, activity, openIdConnect, now } = this.#parts;
    const request = { keyring, lifetimes, client, credential, found, ...exchange, now: now() };
    const decision = decideCodeExchange(request);
    if (decision instanceof Refusal) return decision;
    const { grant } = decision;
    const signsIn = found && grant.openid && exchange.takesIdToken && 'redeem' in decision;
    const idToken = signsIn ? await openIdConnect.idToken(found, decision.redeem) : null;
    if (idToken instanceof Refusal) return idToken;
    if ('redeem' in decision && (await this.#limit.redeem(grant, decision.redeem, client, origin))) {
      tally.codeExchanges += 1;
      activity.count(client.id, 'exchanges');
      const isAlone = grant.openid !== null && isSignInAlone(scopeNames(grant.scope));
      return { ...this.#issue(client, grant, decision.redeem), idToken, isSignInAlone: isAlone };
    }
    // A lost race is a replay: somebody presented the same code, with everything right, at the same time.
    await this.#revoke(grant, 'code_replay', client, origin);
    return 'revoke' in decision
      ? decision.refusal
      : explain(invalidCode('the code was redeemed by a request at the same time'), client, codeUsedMeanwhile());
  }

  /** Exchanges a refresh token for a new pair (RFC 6749 §6), or for the same new pair again where that is safe. */
  async refresh(
    credentials: ClientCredentials,
    refreshToken: string,
    asked: AskedOfTokens,
    origin: RequestOrigin,
  ): Promise<IssuedTokens | Refusal> {
    const credential = readCredential(this.#parts.prefix, 'rt', refreshToken);
    return this.#authenticated(credentials, credential, 'token', origin, async (client, found) =>
      credential
        ? this.#refresh(client, credential, found, asked, origin)
        : notTheCredential('refresh token', refreshToken, this.#parts.prefix),
    );
  }

  async #refresh(
    client: Client,
    credential: Credential,
    first: FoundGrant | null,
    asked: AskedOfTokens,
    origin: RequestOrigin,
  ): Promise<IssuedTokens | Refusal> {
    const { store, keyring, lifetimes, tally, activity, now } = this.#parts;
    for (let found = first; ; found = await store.findGrant(credential.grantId)) {
      const decision = decideRefresh({ keyring, lifetimes, client, credential, found, asked, now: now() });
      if (decision instanceof Refusal) return decision;
      const { grant } = decision;
      if ('again' in decision) {
        tally.retries += 1;
        activity.count(client.id, 'retries');
        return this.#issue(client, grant, decision.again);
      }
      if ('revoke' in decision) {
        await this.#revoke(grant, decision.revoke, client, origin);
        return decision.refusal;
      }
      if (await store.rotateRefreshToken(decision.rotate, origin.source)) {
        tally.refreshes += 1;
        activity.count(client.id, 'refreshes');
        return this.#issue(client, grant, decision.rotate);
      }
      // Lost a race: the row is now past this generation, so the next round decides on an older token or a revoked grant.
    }
  }

  /** Records a refusal that came before the authentication, for the client that the credentials prove. */
  async recordMalformed(
    credentials: ClientCredentials,
    refusal: Refusal,
    endpoint: FailedEndpoint,
    origin: RequestOrigin,
  ): Promise<void> {
    await this.#parts.clients.recordMalformed(credentials, refusal, endpoint, origin);
  }

  /** Ends the grant of one of the client's own tokens (RFC 7009 §2.1); any other token is no error (§2.2). */
  async revoke(credentials: ClientCredentials, token: string, origin: RequestOrigin): Promise<Refusal | null> {
    const { keyring, prefix } = this.#parts;
    const credential: Credential | null = readCredential(prefix, 'rt', token) ?? readCredential(prefix, 'at', token);
    return this.#authenticated(credentials, credential, 'revocation', origin, async (client, found) => {
      // Its age and generation do not matter: its holder may end the grant that it came from.
      if (found && isOwn(keyring, credential, found, client)) await this.#revoke(found.grant, 'client', client, origin);
      return null;
    });
  }

  /** Checks an access token at this service's own API (RFC 6750) and notes that it was used. */
  async checkAccessToken(accessToken: string): Promise<CheckedToken | Refusal> {
    const { store, keyring, prefix, tally, activity, now, ownResource } = this.#parts;
    const credential = readCredential(prefix, 'at', accessToken);
    tally.checks += 1;
    if (!credential) return this.#refusedCheck(notTheCredential('access token', accessToken, prefix));
    const found = await store.findGrantForCheck(credential.grantId);
    const at = now();
    const isGoodHere = (grant: Grant) => isGoodAtOwnApi(ownResource, grant);
    const good = decideAccessToken({ keyring, credential, found, isGoodHere, now: at });
    if (good instanceof Refusal) return this.#refusedCheck(good);
    const { grant, client } = good;
    const { clientId, scope, grantedAt } = grant;
    activity.count(clientId, 'checks');
    const externalId = client.seesExternalId ? grant.externalId : null;
    store.noteUse(grant, { generation: credential.generation, usedAt: at });
    return {
      resourceOwner: visibleFields(good.resourceOwner, grant),
      externalId,
      clientId,
      scope,
      grantedAt,
      expiresAt: credential.expiresAt,
      grant: namesOf(grant),
    };
  }

  /**
   * Acts for the authenticated client on the grant that a credential names, and records a refusal. A client nearly always
   * presents its own credential, so one search finds both. Nothing is decided on the grant before the client is authenticated.
   */
  async #authenticated<Answer>(
    credentials: ClientCredentials,
    credential: Credential | null,
    endpoint: FailedEndpoint,
    origin: RequestOrigin,
    act: (client: Client, found: FoundGrant | null) => Promise<Answer | Refusal>,
  ): Promise<Answer | Refusal> {
    const { store, clients, activity, keyring } = this.#parts;
    const claim = await clients.claim(credentials, origin);
    if (claim instanceof Refusal) return claim;
    const found = credential && (await store.findGrant(credential.grantId));
    const named = found && found.client.id === claim.clientId ? found.client : await clients.find(claim.clientId);
    const proven = await clients.prove(claim, named);
    const client = proven instanceof PausedClient ? proven.client : proven;
    if (client instanceof Refusal) return client;
    const ownGrant = () => (isOwn(keyring, credential, found, client) ? found.grant : null);
    const answered = (answer: Answer | Refusal) => {
      if (!(answer instanceof Refusal)) return answer;
      const grant = ownGrant();
      const isProven = provesClient(credentials) || grant !== null;
      return activity.answered(client.id, answer, { endpoint, origin, isProven, grantId: grantIdOf(grant) });
    };
    if (proven instanceof PausedClient) return answered(ownGrant() ? explain(proven, client, CLIENT_PAUSED) : proven);
    // Marking an assertion as used took as long as a write does, in which the grant may have changed.
    const mayHaveChanged = credential && credentials.method === 'assertion';
    return answered(await act(client, mayHaveChanged ? await store.findGrant(credential.grantId) : found));
  }

  async #validate(face: Face, parameters: Parameters, authenticated?: Client): Promise<AuthorizationRequestOutcome> {
    const { store, clients, issuer, ownResource } = this.#parts;
    const client = authenticated ?? (await clients.find(parameters.get('client_id')));
    const namesOne = face === 'standard' && parameters.all('resource').length > 0;
    const resources = namesOne ? [ownResource, ...(await store.listResources())] : [];
    return validateAuthorizationRequest(parameters, { face, issuer, client, resources });
  }

  async #revoke(
    grant: Grant,
    reason: Extract<RevocationReason, 'client' | 'code_replay' | 'refresh_reuse' | 'refresh_conflict'>,
    client: Client,
    origin: RequestOrigin,
  ): Promise<void> {
    const { store, tally, now } = this.#parts;
    const action = reason === 'client' ? 'grant_revoked' : reason;
    const actor: Actor = { kind: 'client', id: client.id, ...origin };
    const detail = reason === 'client' ? {} : await presentedBefore(store, grant);
    const isEnded = await store.revokeGrant(grant.id, reason, auditEvent(action, actor, now(), namesOf(grant), detail));
    if (isEnded && reason === 'code_replay') tally.codeReplays += 1;
    if (isEnded && reason === 'refresh_reuse') tally.refreshReuses += 1;
  }

  #refusedCheck(refusal: Refusal): Refusal {
    this.#parts.tally.refusedChecks += 1;
    return refusal;
  }

  #issue(client: Client, grant: Grant, generation: Generation): IssuedTokens {
    this.#parts.clients.noteIssued(client);
    return deriveTokens(this.#parts.keyring, this.#parts.prefix, grant, generation);
  }
}

function grantIdOf(grant: Grant | null): string | null {
  return grant && grantIdText(grant.id);
}

/** True if a credential is genuine and the client's own. */
function isOwn(
  keyring: Keyring,
  credential: Credential | null,
  found: FoundGrant | null,
  client: Client,
): found is FoundGrant {
  return credential !== null && found?.grant.clientId === client.id && isGenuine(keyring, credential, found.grant.seed);
}
