/** The device flow's operations (RFC 8628): a device asks, a person decides in a browser, the device polls. */

import { type Client, type ClientCredentials, provesClient } from '../clients/client.ts';
import type { RequestOrigin } from '../clients/client-authenticator.ts';
import { invalidDeviceCode, Refusal } from '../error.ts';
import { DEVICE_GRANT_TYPE } from '../grants/device-grant.ts';
import { type GrantInContext, namesOf } from '../grants/grant.ts';
import { allowedScope, invalidScope, resolveScope, withoutOpenIdHabits } from '../grants/scope.ts';
import { networksOf } from '../guessing/networks.ts';
import { notTheCredential } from '../keys/mistaken-credential.ts';
import { allowEvent, newGrant, type OwnerSession } from '../protocol/allow.ts';
import { grantedResource, knownResource, NOT_REGISTERED } from '../protocol/authorization-request.ts';
import type { IssuerParts } from '../protocol/authorization-server.ts';
import type { PressedAllow } from '../protocol/consent.ts';
import { GrantLimit } from '../protocol/grant-limit.ts';
import { presentedBefore } from '../protocol/presented-before.ts';
import { retryTimes } from '../tokens/refresh-token.ts';
import { deriveTokens, type IssuedTokens } from '../tokens/token-pair.ts';
import { type AskedOfTokens, beyondGrant } from '../tokens/token-request.ts';
import { auditEvent, userActor } from '../trail/audit.ts';
import {
  type DeviceCode,
  type DeviceRequest,
  decideDevicePoll,
  expiredDeviceCode,
  isDeviceCodeExpired,
  newDeviceRequest,
  POLL_INTERVAL,
  parseUserCode,
  pollAt,
  readDeviceCode,
  type WaitingDevice,
} from './device-authorization.ts';
import type { DeviceRequestStore } from './device-request-store.ts';

/** The parts of the device flow. */
export type DeviceFlowParts = IssuerParts & { readonly store: DeviceRequestStore };

/** A device's request, as the page shows it. */
export type ShownDeviceRequest = { readonly request: DeviceRequest; readonly client: Client };

/** The decision on a device's request; `isConnected` once the device has fetched its tokens. */
export type DeviceDecided = {
  readonly decision: 'allowed' | 'denied';
  readonly client: Client;
  readonly isConnected: boolean;
};

/** The two codes of a device (RFC 8628 §3.2); `expiresAt` in ms. */
export type DeviceCodes = { readonly deviceCode: string; readonly userCode: string; readonly expiresAt: number };

/** The result of deciding on a device's request. */
export type DeviceDecisionOutcome = 'allowed' | 'denied' | 'gone';

const MAX_TRIES = 5;

/** The operations. They return refusals as values and throw only `StoreUnavailable` and programming errors. */
export class DeviceFlow {
  readonly #parts: DeviceFlowParts;
  readonly #limit: GrantLimit;

  constructor(parts: DeviceFlowParts) {
    this.#parts = parts;
    this.#limit = new GrantLimit(parts.store, parts.now);
  }

  /** A device asks for its codes (RFC 8628 §3.1). */
  async begin(
    credentials: ClientCredentials,
    asked: { readonly scope: string | undefined; readonly resource: string | null },
    origin: RequestOrigin,
  ): Promise<DeviceCodes | Refusal> {
    const { clients, activity } = this.#parts;
    const isProven = provesClient(credentials);
    const about = { endpoint: 'device_authorization', origin, isProven, grantId: null } as const;
    const client = await clients.authenticate(credentials, origin, about.endpoint);
    return client instanceof Refusal
      ? client
      : activity.answered(client.id, await this.#begin(client, asked, origin), about);
  }

  async #begin(
    client: Client,
    asked: { readonly scope: string | undefined; readonly resource: string | null },
    origin: RequestOrigin,
  ): Promise<DeviceCodes | Refusal> {
    const { store, keyring, prefix, ownResource, now } = this.#parts;
    if (!client.deviceFlow) return new Refusal('unauthorized_client', 'this client is not registered for devices');
    const requested = withoutOpenIdHabits(client.scopes, asked.scope);
    const scope = resolveScope(client.scopes, requested);
    if (!scope) {
      const registered = client.scopes.map(({ name }) => name);
      return invalidScope(requested, registered, NOT_REGISTERED); // RFC 6749 §3.3
    }
    const known = asked.resource === null ? [] : [ownResource, ...(await store.listResources())];
    const named = knownResource(known, asked.resource);
    if (asked.resource !== null && named === null) return new Refusal('invalid_target', 'resource is not known here'); // RFC 8707 §2
    const wanted = { clientId: client.id, scope, ...grantedResource(client, named) };
    // The user code may be taken already: the more requests wait, the likelier that is.
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const made = newDeviceRequest(keyring, prefix, wanted, now());
      const { userCode, expiresAt } = made.request;
      const waiting = { request: made.request, decision: null, pace: { polledAt: 0, interval: POLL_INTERVAL } };
      if (await store.addDeviceRequest(waiting, networksOf(origin.source), now()))
        return { deviceCode: made.deviceCode, userCode, expiresAt };
    }
    return new Refusal(
      'temporarily_unavailable',
      'too many devices wait: try again later',
      'no place is free for its network',
      60,
    );
  }

  /** The request behind a code that somebody typed; null when nothing waits for it. */
  async find(typed: string): Promise<ShownDeviceRequest | null> {
    const waiting = await this.#search(typed);
    if (waiting?.decision !== null) return null;
    const client = await this.#parts.clients.find(waiting.request.clientId);
    return client?.status === 'active' && client.deviceFlow ? { request: waiting.request, client } : null;
  }

  /**
   * Returns the decision on a code, for a user who presses a button twice or returns to the page. `allowed` only for
   * the user who allowed it, while the grant is not revoked; `denied` for everybody. `pending` while an Allow is
   * being written. Null in all other cases.
   */
  async findDecision(typed: string, resourceOwnerId: string): Promise<DeviceDecided | 'pending' | null> {
    const { store, clients } = this.#parts;
    const found = await this.#search(typed);
    const client = found && (await clients.find(found.request.clientId));
    if (!client || found.decision === null) return null;
    const { decision } = found;
    if (decision === 'denied') return { decision, client, isConnected: false };
    const grant = (await store.findGrant(found.request.grantId))?.grant;
    if (!grant) return 'pending';
    if (grant.resourceOwnerId !== resourceOwnerId || grant.revokedAt !== null) return null;
    return { decision, client, isConnected: grant.generation > 0 };
  }

  async #search(typed: string): Promise<WaitingDevice | null> {
    const { store, now } = this.#parts;
    const userCode = parseUserCode(typed);
    const waiting = userCode === null ? null : await store.findDeviceRequest(userCode, now());
    return waiting && !isDeviceCodeExpired(waiting.request.expiresAt, now()) ? waiting : null;
  }

  /**
   * The resource owner pressed Allow: makes the grant that the device's next poll finds. `denied` when nothing of the
   * scope was chosen; `gone` when somebody else decided meanwhile, it expired, or account, client or session is no more.
   */
  async allow(
    { request, client }: ShownDeviceRequest,
    owner: OwnerSession,
    { given, chosen, shownFields }: PressedAllow,
    origin: RequestOrigin,
  ): Promise<DeviceDecisionOutcome> {
    const { store, keyring, lifetimes, now } = this.#parts;
    const { resourceOwnerId, session } = owner;
    const scope = allowedScope(client.scopes, request.scope, chosen);
    if (!scope) return this.deny({ request, client }, resourceOwnerId, origin);
    const epochs = await store.findEpochs(client.id, resourceOwnerId);
    if (!epochs) return 'gone';
    const asked = { ...request, client, redirectUri: DEVICE_GRANT_TYPE };
    const allow = { asked, scope, personFields: shownFields, owner, given, origin };
    const at = now();
    // At least as long as a code lives: a slow device polls within that time.
    const expiresAt = Math.max(request.expiresAt, at + lifetimes.code * 1000);
    const made = { id: request.grantId, epochs, keyId: keyring.currentKeyId, expiresAt };
    const grant = newGrant(allow, made, lifetimes, at);
    const basis = { session, remembered: [] };
    return this.#decide(request, 'allowed', () => store.issueGrant(grant, allowEvent(allow, grant), basis));
  }

  /** The resource owner pressed Deny. `gone` when somebody else decided meanwhile, or it expired. */
  async deny(
    { request, client }: ShownDeviceRequest,
    resourceOwnerId: string,
    origin: RequestOrigin,
  ): Promise<DeviceDecisionOutcome> {
    const { store, now } = this.#parts;
    const about = { clientId: client.id, resourceOwnerId };
    const event = auditEvent('consent_denied', userActor(resourceOwnerId, origin), now(), about);
    return this.#decide(request, 'denied', async () => {
      await store.recordDenial(event);
      return true;
    });
  }

  /** A device asks whether somebody decided (RFC 8628 §3.4, §3.5). */
  async poll(
    credentials: ClientCredentials,
    code: string,
    asked: AskedOfTokens,
    origin: RequestOrigin,
  ): Promise<IssuedTokens | Refusal> {
    const { keyring, prefix, clients, activity } = this.#parts;
    const client = await clients.authenticate(credentials, origin, 'token');
    if (client instanceof Refusal) return client;
    const deviceCode = readDeviceCode(keyring, prefix, code);
    const isProven = provesClient(credentials) || deviceCode?.clientId === client.id;
    const answer = deviceCode
      ? await this.#poll(client, deviceCode, asked, origin)
      : notTheCredential('device code', code, prefix);
    return activity.answered(client.id, answer, { endpoint: 'token', origin, isProven, grantId: null });
  }

  async #poll(
    client: Client,
    deviceCode: DeviceCode,
    asked: AskedOfTokens,
    origin: RequestOrigin,
  ): Promise<IssuedTokens | Refusal> {
    const { store } = this.#parts;
    if (deviceCode.clientId !== client.id) return invalidDeviceCode('the device code was issued to another client');
    for (;;) {
      const found = await store.findGrant(deviceCode.grantId);
      if (!found) return this.#whyNone(deviceCode);
      const issued = beyondGrant(found.grant, client, asked) ?? (await this.#redeem(deviceCode, found, client, origin));
      if (issued) return issued;
      // Lost a race: the row is past generation 0 now, so the next round returns the same pair.
    }
  }

  /** Returns the answer to a device while there is no grant (RFC 8628 §3.5). */
  async #whyNone({ userCode, grantId, expiresAt }: DeviceCode): Promise<Refusal> {
    const { store, now } = this.#parts;
    const waiting = await store.findDeviceRequest(userCode, now());
    if (isDeviceCodeExpired(expiresAt, now()) || !waiting?.request.grantId.equals(grantId)) return expiredDeviceCode();
    if (waiting.decision === 'denied') return new Refusal('access_denied', 'the resource owner denied the request');
    const { isTooFast, pace } = pollAt(waiting.pace, now());
    await store.paceDeviceRequest(userCode, pace);
    return isTooFast
      ? new Refusal('slow_down', 'poll more slowly: wait five more seconds each time from now on')
      : new Refusal('authorization_pending', 'the user has not decided yet');
  }

  /**
   * Records the decision first, so that only one of two people can make the grant. If the grant cannot be written, the
   * decision is undone; but a write that was not confirmed may have made the grant, which stands.
   */
  async #decide(
    { userCode, grantId, clientId, expiresAt }: DeviceRequest,
    decision: 'allowed' | 'denied',
    write: () => Promise<boolean>,
  ): Promise<DeviceDecisionOutcome> {
    const { store, tally, activity, now } = this.#parts;
    if (isDeviceCodeExpired(expiresAt, now()) || !(await store.decideDeviceRequest(userCode, null, decision)))
      return 'gone';
    let isWritten = false;
    try {
      isWritten = await write();
    } finally {
      if (!isWritten && !(await store.findGrant(grantId))) await store.decideDeviceRequest(userCode, decision, null);
    }
    if (isWritten) {
      tally[decision] += 1;
      activity.count(clientId, decision);
    }
    return isWritten ? decision : 'gone';
  }

  /** Null when somebody else redeemed at the same time. */
  async #redeem(
    deviceCode: DeviceCode,
    found: GrantInContext,
    client: Client,
    origin: RequestOrigin,
  ): Promise<IssuedTokens | Refusal | null> {
    const { store, clients, keyring, prefix, lifetimes, tally, activity, now } = this.#parts;
    const { retryWindow } = retryTimes(client, lifetimes, found.grant);
    const decision = decideDevicePoll({ keyring, lifetimes, deviceCode, found, retryWindow, now: now() });
    if (decision instanceof Refusal) return decision;
    const { grant } = decision;
    if ('again' in decision) {
      tally.retries += 1;
      activity.count(client.id, 'retries');
      return deriveTokens(keyring, prefix, grant, decision.again);
    }
    if ('redeem' in decision) {
      if (!(await this.#limit.redeem(grant, decision.redeem, client, origin))) return null;
      tally.deviceExchanges += 1;
      activity.count(client.id, 'exchanges');
      clients.noteIssued(client);
      return deriveTokens(keyring, prefix, grant, decision.redeem);
    }
    const detail = await presentedBefore(store, grant);
    const actor = { kind: 'client', id: client.id, ...origin } as const;
    const event = auditEvent(decision.revoke, actor, now(), namesOf(grant), detail);
    if (await store.revokeGrant(grant.id, decision.revoke, event)) tally.codeReplays += 1;
    return decision.refusal;
  }
}
