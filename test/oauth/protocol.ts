/** The protocol's operations over the real store in memory, with an account and three clients. */

import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import type { TestContext } from 'node:test';
import { Throttle } from '../../src/accounts/guessing/throttle.ts';
import { Activity } from '../../src/oauth/activity/activity.ts';
import type { Client, ClientCredentials } from '../../src/oauth/clients/client.ts';
import { ClientAuthenticator } from '../../src/oauth/clients/client-authenticator.ts';
import { ClientKeys } from '../../src/oauth/clients/client-keys.ts';
import { DeviceFlow } from '../../src/oauth/device/device-flow.ts';
import { Refusal } from '../../src/oauth/error.ts';
import { makeSecret } from '../../src/oauth/keys/secret.ts';
import { SigningKeys } from '../../src/oauth/openid/signing-keys.ts';
import { Parameters } from '../../src/oauth/parameters.ts';
import type { AuthorizationRequest, Face } from '../../src/oauth/protocol/authorization-request.ts';
import { AuthorizationServer } from '../../src/oauth/protocol/authorization-server.ts';
import { Introspection } from '../../src/oauth/protocol/introspection.ts';
import { OpenIdConnect } from '../../src/oauth/protocol/openid-connect.ts';
import { newProtocolTally } from '../../src/oauth/protocol/protocol-tally.ts';
import type { IssuedTokens } from '../../src/oauth/tokens/token-pair.ts';
import { WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
import { pressed, signedIn } from '../support/signed-in.ts';
import { event } from '../support/storage.ts';
import { ada, addAccount, type Memory, openMemory, operator } from './memory.ts';
import { CHALLENGE, ISSUER } from './requests.ts';
import { confidentialClient, keyring, lifetimes, NOW, PREFIX } from './samples.ts';

export const origin = { source: '192.0.2.1', requestId: 'r1' };
export const first = makeSecret(PREFIX, 'cs', NOW);
const second = makeSecret(PREFIX, 'cs', NOW);
export const one: Client = { ...confidentialClient, secrets: [first.secret] };
export const two: Client = { ...confidentialClient, id: 'app_two', secrets: [second.secret] };
/** A public client, which may ask for device codes. */
export const phone: Client = { ...confidentialClient, id: 'app_phone', type: 'public', deviceFlow: true };
export const asOne = { method: 'secret', clientId: one.id, clientSecret: first.text } as const;
export const asTwo = { method: 'secret', clientId: two.id, clientSecret: second.text } as const;
export const asPhone = { method: 'none', clientId: phone.id } as const;
export const REDIRECT_URI = one.redirectUris[0] as string;
export const exchange = { redirectUri: REDIRECT_URI, codeVerifier: undefined, asked: WHOLE_GRANT };
/** The verifier of the challenge in `requests.ts` (RFC 7636 appendix B). */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
/** This service's own API. */
export const OWN_RESOURCE = 'https://api.test';
/** Maximum number of wrong secrets that are taken from one source in a minute. */
export const MAX_GUESSES = 5;

/** The operations on one store. */
export type Protocol = Memory & {
  readonly server: AuthorizationServer;
  readonly activity: Activity;
  readonly clients: ClientAuthenticator;
  readonly deviceFlow: DeviceFlow;
  readonly introspection: Introspection;
};

/** Makes the operations; `now` answers ms. */
export function operationsOn(memory: Memory, now: () => number = () => memory.clock.now): Protocol {
  const { store } = memory;
  const tally = newProtocolTally();
  const own = { prefix: PREFIX, ownResource: OWN_RESOURCE, restoredAt: null };
  const activity = new Activity({ store, now, later: () => () => {}, report: (sentence) => assert.fail(sentence) });
  const parts = { activity, store, keyring, lifetimes, tally, now, ...own };
  const throttle = new Throttle({ count: MAX_GUESSES, seconds: 60 });
  const keys = new ClientKeys({
    ...{ store, now, actor: operator, report: () => {} },
    fetchJson: async (url) => assert.fail(`no client here has keys at ${url}`),
  });
  const audiences = [ISSUER, `${ISSUER}/oauth2/token`];
  const clients = new ClientAuthenticator({ ...parts, keys, throttle, audiences });
  const openIdConnect = new OpenIdConnect({
    ...parts,
    signingKeys: new SigningKeys({ store, keyring, now, actor: operator }),
    sign: async (text, key) => sign('RSA-SHA256', Buffer.from(text), key).toString('base64url'),
    issuer: ISSUER,
  });
  return {
    ...memory,
    activity,
    clients,
    server: new AuthorizationServer({ ...parts, clients, openIdConnect, issuer: ISSUER, signsInElsewhere: false }),
    deviceFlow: new DeviceFlow({ ...parts, clients }),
    introspection: new Introspection({ ...parts, throttle }),
  };
}

/** A store with the account and the clients; `changes` are to client one. */
export async function setUp(context: TestContext, changes: Partial<Client> = {}): Promise<Protocol> {
  const memory = await openMemory(context);
  await addAccount(memory, ada);
  for (const client of [{ ...one, ...changes }, two, phone])
    await memory.store.registerClient(client, event('client_registered'));
  return operationsOn(memory);
}

/** An authorization request of client one, or of whom the changes say. */
export function requestOf(changes: Record<string, string> = {}): Parameters {
  const whole = { client_id: one.id, redirect_uri: REDIRECT_URI, response_type: 'code', state: 's' };
  return new Parameters(Object.entries({ ...whole, ...changes }));
}

export async function validRequest(
  { server }: Pick<Protocol, 'server'>,
  changes: Record<string, string> = {},
  face: Face = 'published',
): Promise<AuthorizationRequest> {
  const request = await server.validateRequest(face, requestOf(changes));
  assert.ok(request.kind === 'valid', JSON.stringify(request));
  return request;
}

/** The code of a new grant. */
export async function obtainCode(
  protocol: Protocol,
  changes: Record<string, string> = {},
  face: Face = 'published',
): Promise<string> {
  const request = await validRequest(protocol, changes, face);
  const location = await protocol.server.allow(request, await signedIn(protocol.store, ada.id), pressed(), origin);
  return new URL(location ?? assert.fail()).searchParams.get('code') ?? assert.fail();
}

/** The pair of a new grant of client one. */
export async function obtainPair(
  protocol: Protocol,
  changes: Record<string, string> = {},
  face: Face = 'published',
): Promise<IssuedTokens> {
  const code = await obtainCode(protocol, changes, face);
  return assertGood(await protocol.server.exchangeAuthorizationCode(asOne, code, exchange, origin));
}

/** The pair of a new grant of the public client. */
export async function obtainPhonePair(protocol: Protocol, changes: Record<string, string> = {}): Promise<IssuedTokens> {
  const pkce = { client_id: phone.id, code_challenge: CHALLENGE, code_challenge_method: 'S256' };
  const code = await obtainCode(protocol, { ...pkce, ...changes }, 'standard');
  const presented = { ...exchange, codeVerifier: VERIFIER };
  return assertGood(await protocol.server.exchangeAuthorizationCode(asPhone, code, presented, origin));
}

/** What is not a refusal. */
export function assertGood<Good>(outcome: Good | Refusal): Good {
  assert.ok(!(outcome instanceof Refusal), outcome instanceof Refusal ? outcome.detail : '');
  return outcome;
}

/** Wrong credentials of client one. */
export const wrongSecret: ClientCredentials = { ...asOne, clientSecret: second.text };

/** The acts on grants, newest first. */
export async function actions({ store }: Memory): Promise<string[]> {
  const events = await store.listAuditEvents({ limit: 100 });
  return events.map(({ action }) => action).filter((action) => !/added|registered|^sign_in$/.test(action));
}
