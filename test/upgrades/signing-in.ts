/** OpenID Connect in a kept database: an app with sign-in, its grants and the keys for ID tokens. Asserts that it goes on. */
import assert from 'node:assert/strict';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { deriveCredential } from '../../src/oauth/keys/credential.ts';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { parseRootKeys } from '../../src/settings/root-keys.ts';
import type { Browser } from '../support/browser.ts';
import { asJson, pairOf, type TestClient } from '../support/flow.ts';
import { addClient, type TestService } from '../support/service.ts';
import {
  exchangeCode,
  type Fields,
  PKCE,
  refreshWith,
  scopes,
  standardCode,
  standardPair,
} from '../support/standard.ts';

/** An app with sign-in, the pair of one sign-in at it, and the code of another. */
export type HeldSignIn = Awaited<ReturnType<typeof holdSignIn>>;

const ASKED = { scope: 'openid profile photos', nonce: 'held' };

/** Signs a browser's user in at a new app, which makes the keys for ID tokens. */
export async function holdSignIn(service: TestService, browser: Browser) {
  const { clientId, clientSecret } = await addClient(service, { signIn: true, scopes: scopes('photos') });
  const app: TestClient = { clientId, clientSecret };
  const pair = await standardPair(service, browser, app, ASKED);
  return { app, pair, code: await standardCode(service, browser, app, { ...ASKED, prompt: 'consent' }) };
}

/** Asserts that who was signed in stays so, and that a code gives an ID token of the key with this `kid`. */
export async function assertSignInGoesOn(service: TestService, kid: string, held: HeldSignIn): Promise<void> {
  const { name } = await userInfo(service, held.pair.accessToken);
  const claims = await redeemed(service, kid, held.app, held.code);
  assert.deepEqual([claims['nonce'], claims['name']], ['held', name]);
  assert.equal((await refreshWith(service, held.app, held.pair.refreshToken)).status, 200);
}

/** The app with sign-in and its grant that `other-states.ts` writes: nobody holds their credentials. */
const APP = 'app_old';
const REDIRECT = { redirect_uri: 'https://one.test/cb' };

/** SQL that makes the code of that grant one that was given out just now (ms). All that the grant says of the sign-in stays. */
export const beginAnew = (now: number): string[] => [
  `UPDATE oauth_grant SET key_id = (SELECT root_key_id FROM signing_key WHERE state = 'signing'),
    expires_at = ${now + 60_000}, scope = 'openid read', code_challenge = '${PKCE.code_challenge}', resource = NULL,
    resource_is_default = FALSE
  WHERE client_id = '${APP}' AND revoked_at IS NULL`,
  `UPDATE client SET default_resource = NULL WHERE id = '${APP}'`,
];

/** Returns that grant. */
export const BEGUN = `
  SELECT id, seed, key_id AS "keyId", expires_at AS "expiresAt" FROM oauth_grant
  WHERE client_id = '${APP}' AND revoked_at IS NULL`;

/** A row of that query, as its store returns it. */
export type BegunRow = {
  readonly id: Uint8Array | string;
  readonly seed: Uint8Array;
  readonly keyId: number | string;
  readonly expiresAt: number | string;
};

/** Asserts that the code of that grant gives an ID token of the key with this `kid`, and that its app signs a user in. */
export async function assertOldAppSignsIn(
  service: TestService,
  { rootKey, kid }: { readonly rootKey: string; readonly kid: string },
  { id, seed, keyId, expiresAt }: BegunRow,
  browser: Browser,
): Promise<void> {
  const { clients, identityProviders, operator } = service.installation;
  await clients.resume(APP, operator);
  await identityProviders.resume('forum', operator);
  const app: TestClient = { clientId: APP, clientSecret: (await clients.rotateSecret(APP, operator)).secret };
  const grantId = typeof id === 'string' ? Buffer.from(id.replaceAll('-', ''), 'hex') : Buffer.from(id);
  const header = { grantId, generation: 0, keyId: Number(keyId), expiresAt: Number(expiresAt) };
  const code = deriveCredential(createKeyring(parseRootKeys(rootKey, '')), 'vk', 'ac', header, Buffer.from(seed));
  const { sub, nonce, auth_time, amr, name } = await redeemed(service, kid, app, code, REDIRECT);
  assert.deepEqual([sub, nonce, auth_time, amr, name], ['usr_product', 'n', 1, ['pwd'], 'Ada Lovelace']);
  const asked = { ...REDIRECT, scope: 'openid profile read', nonce: 'new' };
  const claims = await redeemed(service, kid, app, await standardCode(service, browser, app, asked), REDIRECT);
  assert.deepEqual([claims['nonce'], claims['name']], ['new', 'Ada 😀 مثال']);
}

/** Exchanges a code and verifies its ID token as an app does; returns the claims. Userinfo names the user, and a refresh works. */
async function redeemed(
  service: TestService,
  kid: string,
  app: TestClient,
  code: string,
  fields: Fields = {},
): Promise<Record<string, unknown>> {
  const { status, body } = await exchangeCode(service, app, code, fields);
  assert.equal(status, 200, JSON.stringify(body));
  const keys = (await asJson(await fetch(`${service.appUrl}/oauth2/jwks`))).body as unknown as JSONWebKeySet;
  const { payload, protectedHeader } = await jwtVerify(String(body['id_token']), createLocalJWKSet(keys), {
    issuer: service.appUrl,
    audience: app.clientId,
    algorithms: ['RS256'],
    currentDate: new Date(service.clock.now()),
  });
  assert.equal(protectedHeader.kid, kid, 'the same key signs ID tokens');
  const { access_token: accessToken, refresh_token: refreshToken } = body;
  const { sub, name } = await userInfo(service, String(accessToken));
  assert.deepEqual([sub, name], [payload.sub, payload['name']]);
  pairOf(await refreshWith(service, app, String(refreshToken)));
  return payload;
}

async function userInfo({ appUrl }: TestService, token: string): Promise<Record<string, unknown>> {
  const headers = { Authorization: `Bearer ${token}` };
  const { status, body } = await asJson(await fetch(`${appUrl}/oauth2/userinfo`, { headers }));
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}
