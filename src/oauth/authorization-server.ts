/**
 * The operations of the authorization server, each "find, decide, commit": read what is needed, take one pure decision,
 * make one atomic write. Beside the two registries it is all of the protocol that waits for anything.
 */
import { randomBytes } from 'node:crypto';
import { accessTokenRefusal } from './access-token.ts';
import { type Actor, auditEvent } from './audit.ts';
import { type CodeExchange, decideCodeExchange } from './authorization-code.ts';
import {
  type AuthorizationRequest,
  type AuthorizationRequestOutcome,
  validateAuthorizationRequest,
} from './authorization-request.ts';
import { allowedLocation, deniedLocation } from './authorization-response.ts';
import { authenticateClient, type Client, type ClientCredentials, isClientId } from './client.ts';
import { deriveCredential, readCredential, SEED_BYTES } from './credential.ts';
import { invalidClient, invalidCode, invalidRefreshToken, invalidToken, Refusal } from './error.ts';
import {
  deriveTokenPair,
  type Generation,
  type Grant,
  grantIdText,
  type Lifetimes,
  newGrantId,
  type ResourceOwner,
  type TokenPair,
} from './grant.ts';
import type { Keyring } from './keyring.ts';
import type { Parameters } from './parameters.ts';
import { decideRefresh } from './refresh-token.ts';
import type { Store } from './store.ts';

/** Slows down guessing without ever asking who owns what is guessed at (RFC 6749 §2.3.1). */
export type GuessThrottle = {
  /** Seconds to wait before another try for these keys, or 0. */
  wait(keys: readonly string[], now: number): number;
  /** Counts a wrong guess. */
  count(keys: readonly string[], now: number): void;
};

/** What the authorization server works with. `now` answers ms since the epoch. */
export type AuthorizationServerParts = {
  readonly store: Store;
  readonly keyring: Keyring;
  readonly lifetimes: Lifetimes;
  readonly prefix: string;
  readonly now: () => number;
  readonly throttle: GuessThrottle;
};

/** Where a request came from, for throttling and the audit trail. */
export type RequestOrigin = { readonly source: string; readonly requestId: string };

/** A checked access token: whose it is, for which client and scope, since when and until when (ms). */
export type CheckedToken = {
  readonly resourceOwner: ResourceOwner;
  readonly clientId: string;
  readonly scope: string;
  readonly grantedAt: number;
  readonly expiresAt: number;
};

/** The protocol's operations. They answer refusals as values and throw only `StoreUnavailable` and programming errors. */
export class AuthorizationServer {
  readonly #parts: AuthorizationServerParts;

  constructor(parts: AuthorizationServerParts) {
    this.#parts = parts;
  }

  /** Validates an authorization request (RFC 6749 §4.1.1); reads only. */
  async validateRequest(parameters: Parameters): Promise<AuthorizationRequestOutcome> {
    return validateAuthorizationRequest(parameters, await this.#findClient(parameters.get('client_id')));
  }

  /** The resource owner pressed Allow: issues a grant and answers the location with its code; null when the account or client is gone. */
  async allow(request: AuthorizationRequest, resourceOwnerId: string, origin: RequestOrigin): Promise<string | null> {
    const { store, keyring, lifetimes, prefix, now } = this.#parts;
    const epochs = await store.findEpochs(request.client.id, resourceOwnerId);
    if (!epochs) return null;
    const grant = newGrant(request, resourceOwnerId, epochs, keyring.currentKeyId, lifetimes, now());
    await store.issueGrant(
      grant,
      auditEvent('consent_allowed', userActor(resourceOwnerId, origin), grant.grantedAt, {
        clientId: grant.clientId,
        resourceOwnerId,
        grantId: grantIdText(grant.id),
        detail: grant.scope,
      }),
    );
    const header = { grantId: grant.id, generation: 0, keyId: grant.keyId, expiresAt: grant.expiresAt };
    return allowedLocation(request, deriveCredential(keyring, prefix, 'ac', header, grant.seed));
  }

  /** The resource owner pressed Deny: records it and answers the location that says so (RFC 6749 §4.1.2.1). */
  async deny(request: AuthorizationRequest, resourceOwnerId: string, origin: RequestOrigin): Promise<string> {
    const { store, now } = this.#parts;
    const about = { clientId: request.client.id, resourceOwnerId };
    await store.recordDenial(auditEvent('consent_denied', userActor(resourceOwnerId, origin), now(), about));
    return deniedLocation(request);
  }

  /** Exchanges a code for the first pair (RFC 6749 §4.1.3). Only success, and replay by the code's own client, write. */
  async exchangeAuthorizationCode(
    credentials: ClientCredentials,
    code: string,
    exchange: Omit<CodeExchange, 'clientId'>,
    origin: RequestOrigin,
  ): Promise<TokenPair | Refusal> {
    const { store, keyring, lifetimes, prefix, now } = this.#parts;
    const client = await this.#authenticate(credentials, origin);
    if (client instanceof Refusal) return client;
    const credential = readCredential(prefix, 'ac', code);
    if (!credential) return invalidCode('not a code of this service');
    const found = await store.findGrant(credential.grantId);
    const decision = decideCodeExchange(
      keyring,
      lifetimes,
      credential,
      found,
      { ...exchange, clientId: client.id },
      now(),
    );
    if (decision instanceof Refusal) return decision;
    const { grant } = found as NonNullable<typeof found>;
    if ('redeem' in decision && (await store.redeemAuthorizationCode(decision.redeem)))
      return this.#derive(grant, decision.redeem);
    // A lost race is a replay: somebody presented the same code, with everything right, at the same time.
    await this.#revoke(grant, 'code_replay', client, origin);
    return 'revoke' in decision ? decision.refusal : invalidCode('the code was redeemed by a request at the same time');
  }

  /** Exchanges a refresh token for a new pair (RFC 6749 §6), or for the same new pair again where that is safe. */
  async refresh(
    credentials: ClientCredentials,
    refreshToken: string,
    origin: RequestOrigin,
  ): Promise<TokenPair | Refusal> {
    const { store, keyring, lifetimes, prefix, now } = this.#parts;
    const client = await this.#authenticate(credentials, origin);
    if (client instanceof Refusal) return client;
    const credential = readCredential(prefix, 'rt', refreshToken);
    if (!credential) return invalidRefreshToken('not a refresh token of this service');
    for (;;) {
      const found = await store.findGrant(credential.grantId);
      const decision = decideRefresh(keyring, lifetimes, credential, found, client, now());
      if (decision instanceof Refusal) return decision;
      const { grant } = found as NonNullable<typeof found>;
      if ('again' in decision) return this.#derive(grant, decision.again);
      if ('revoke' in decision) {
        await this.#revoke(grant, decision.revoke, client, origin);
        return decision.refusal;
      }
      if (await store.rotateRefreshToken(decision.rotate)) return this.#derive(grant, decision.rotate);
      // Lost a race: the row is past this generation now, so the next turn decides on a predecessor or a revoked grant.
    }
  }

  /** Checks an access token (RFC 6750) and notes that it was used. */
  async checkAccessToken(accessToken: string): Promise<CheckedToken | Refusal> {
    const { store, keyring, prefix, now } = this.#parts;
    const credential = readCredential(prefix, 'at', accessToken);
    if (!credential) return invalidToken('not an access token of this service');
    const found = await store.findGrant(credential.grantId);
    const at = now();
    const refusal = accessTokenRefusal(keyring, credential, found, at);
    if (refusal) return refusal;
    const { grant, resourceOwner } = found as NonNullable<typeof found>;
    store.noteUse(grant, credential.generation, at);
    return {
      resourceOwner,
      clientId: grant.clientId,
      scope: grant.scope,
      grantedAt: grant.grantedAt,
      expiresAt: credential.expiresAt,
    };
  }

  /** Authenticates the client first, so that a failure burns and revokes nothing; only wrong credentials are counted. */
  async #authenticate(credentials: ClientCredentials, origin: RequestOrigin): Promise<Client | Refusal> {
    const { keyring, throttle, now } = this.#parts;
    const { clientId = '' } = credentials;
    const guesses = [`client ${isClientId(clientId) ? clientId : ''} ${origin.source}`];
    const wait = throttle.wait(guesses, now());
    if (wait > 0)
      return new Refusal(
        'temporarily_unavailable',
        'too many failed attempts to authenticate this client: try again later',
        'throttled',
        wait,
      );
    const authenticated = authenticateClient(keyring, await this.#findClient(clientId), credentials);
    if (authenticated instanceof Refusal) throttle.count(guesses, now());
    else if (authenticated.status === 'paused') return invalidClient('the client is paused');
    return authenticated;
  }

  async #findClient(id: string | undefined): Promise<Client | null> {
    return id !== undefined && isClientId(id) ? this.#parts.store.findClient(id) : null;
  }

  async #revoke(
    grant: Grant,
    reason: 'code_replay' | 'refresh_reuse',
    client: Client,
    origin: RequestOrigin,
  ): Promise<void> {
    const { store, now } = this.#parts;
    const about = { clientId: client.id, resourceOwnerId: grant.resourceOwnerId, grantId: grantIdText(grant.id) };
    await store.revokeGrant(
      grant.id,
      reason,
      auditEvent(reason, { kind: 'client', id: client.id, ...origin }, now(), about),
    );
  }

  #derive(grant: Grant, generation: Generation): TokenPair {
    return deriveTokenPair(this.#parts.keyring, this.#parts.prefix, grant.seed, generation);
  }
}

function newGrant(
  request: AuthorizationRequest,
  resourceOwnerId: string,
  epochs: Grant['epochs'],
  keyId: number,
  lifetimes: Lifetimes,
  now: number,
): Grant {
  return {
    id: newGrantId(now),
    clientId: request.client.id,
    resourceOwnerId,
    scope: request.scope.join(' '),
    redirectUri: request.redirectUri,
    codeChallenge: request.codeChallenge,
    seed: randomBytes(SEED_BYTES),
    epochs,
    grantedAt: now,
    absoluteExpiresAt: now + lifetimes.refreshTokenMax * 1000,
    generation: 0,
    keyId,
    rotatedAt: now,
    accessTokenExpiresAt: null,
    expiresAt: now + lifetimes.code * 1000,
    usedGeneration: 0,
    lastUsedAt: null,
    revokedAt: null,
    revocationReason: null,
  };
}

function userActor(id: string, origin: RequestOrigin): Actor {
  return { kind: 'user', id, ...origin };
}
