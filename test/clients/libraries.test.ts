import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  OAuth2Client as BadgatewayClient,
  generateCodeVerifier as badgatewayVerifier,
} from '@badgateway/oauth2-client';
import { OAuth2Client as ArcticClient, CodeChallengeMethod, generateCodeVerifier, generateState } from 'arctic';
import ClientOAuth2 from 'client-oauth2';
import { type AccessToken, AuthorizationCode } from 'simple-oauth2';
import { REDIRECT_URI } from '../support/service.ts';
import { addApp, addResourceServer } from './registered.ts';
import { type App, allow, pairOf, startWorld, walk } from './walk.ts';

const world = await startWorld({ after });
const { service, browser } = world;
const authorizeUrl = `${service.appUrl}/oauth2/authorize`;
const tokenUrl = `${service.appUrl}/oauth2/token`;
const revokeUrl = `${service.appUrl}/oauth2/revoke`;

/** An app of Arctic; its client is confidential if it has a secret. */
function arctic(clientId: string, clientSecret: string): App {
  const library = new ArcticClient(clientId, clientSecret || null, REDIRECT_URI);
  const [state, verifier] = [generateState(), generateCodeVerifier()];
  const pair = (tokens: Awaited<ReturnType<ArcticClient['refreshAccessToken']>>) => {
    assert.equal(tokens.tokenType(), 'Bearer');
    assert.deepEqual(tokens.scopes(), ['read']);
    assert.ok(tokens.accessTokenExpiresInSeconds() > 0);
    return { accessToken: tokens.accessToken(), refreshToken: tokens.refreshToken() };
  };
  return {
    start: () =>
      library.createAuthorizationURLWithPKCE(authorizeUrl, state, CodeChallengeMethod.S256, verifier, ['read']),
    async finish({ searchParams }) {
      assert.equal(searchParams.get('state'), state);
      return pair(await library.validateAuthorizationCode(tokenUrl, String(searchParams.get('code')), verifier));
    },
    refresh: async ({ refreshToken }) => pair(await library.refreshAccessToken(tokenUrl, refreshToken, ['read'])),
    revoke: ({ refreshToken }) => library.revokeToken(revokeUrl, refreshToken),
  };
}

/** An app of @badgateway/oauth2-client, which finds the endpoints by itself. */
async function badgateway(clientId: string, clientSecret: string): Promise<App> {
  const settings = { server: service.appUrl, clientId, ...(clientSecret ? { clientSecret } : {}) };
  const library = new BadgatewayClient(settings);
  const codeVerifier = await badgatewayVerifier();
  const request = { redirectUri: REDIRECT_URI, state: 's+/=', codeVerifier };
  const pair = ({ accessToken, refreshToken }: { accessToken: string; refreshToken: string | null }) => ({
    accessToken,
    refreshToken: String(refreshToken),
  });
  return {
    start: () => library.authorizationCode.getAuthorizeUri({ ...request, scope: ['read'] }),
    finish: async (callback) => pair(await library.authorizationCode.getTokenFromCodeRedirect(callback, request)),
    refresh: async (held) => pair(await library.refreshToken({ ...held, expiresAt: null })),
    revoke: (held) => library.revoke({ ...held, expiresAt: null }, 'refresh_token'),
  };
}

/** An app of client-oauth2, which is for confidential clients: its refresh always sends a secret. */
function clientOAuth2(clientId: string, clientSecret: string): App {
  const library = new ClientOAuth2({
    clientId,
    clientSecret,
    authorizationUri: authorizeUrl,
    accessTokenUri: tokenUrl,
    redirectUri: REDIRECT_URI,
    scopes: ['read'],
    state: generateState(),
  });
  return {
    start: () => library.code.getUri(),
    finish: (callback) => library.code.getToken(callback.href),
    refresh: ({ accessToken, refreshToken }) => library.createToken(accessToken, refreshToken, {}).refresh(),
  };
}

/** An app of simple-oauth2. */
function simpleOAuth2(id: string, secret: string, authorizationMethod: 'header' | 'body'): App {
  const library = new AuthorizationCode({
    client: { id, secret },
    auth: {
      tokenHost: service.appUrl,
      tokenPath: '/oauth2/token',
      revokePath: '/oauth2/revoke',
      authorizePath: '/oauth2/authorize',
    },
    options: { authorizationMethod },
  });
  const state = generateState();
  let held: AccessToken;
  return {
    start: () => library.authorizeURL({ redirect_uri: REDIRECT_URI, scope: 'read', state }),
    async finish({ searchParams }) {
      assert.equal(searchParams.get('state'), state);
      held = await library.getToken({ code: String(searchParams.get('code')), redirect_uri: REDIRECT_URI });
      return pairOf(held.token);
    },
    async refresh() {
      held = await held.refresh();
      return pairOf(held.token);
    },
    revoke: () => held.revokeAll(),
  };
}

describe('libraries as they are', { concurrency: true }, () => {
  test('RFC 6749 §4.1: Arctic lives a grant as a confidential client', async () => {
    const client = await addApp(service);
    await walk(world, client, arctic(client.clientId, client.clientSecret));
  });

  test('RFC 7636 §4: Arctic as a public client', async () => {
    const client = await addApp(service, {}, 'public');
    await walk(world, client, arctic(client.clientId, ''));
  });

  test('RFC 8414 §3: @badgateway/oauth2-client discovers the service and lives a grant', async () => {
    const client = await addApp(service);
    await walk(world, client, await badgateway(client.clientId, client.clientSecret));
  });

  test('RFC 7636 §4: @badgateway/oauth2-client as a public client', async () => {
    const client = await addApp(service, {}, 'public');
    await walk(world, client, await badgateway(client.clientId, ''));
  });

  test('RFC 7662 §2.2: @badgateway/oauth2-client introspects as a resource server', async () => {
    const client = await addApp(service);
    const app = await badgateway(client.clientId, client.clientSecret);
    const pair = await app.finish(await allow(browser, await app.start()));
    const { id, secret } = await addResourceServer(service);
    const library = new BadgatewayClient({ server: service.appUrl, clientId: id, clientSecret: secret });
    const { active, client_id } = await library.introspect({ ...pair, expiresAt: null });
    assert.deepEqual({ active, client_id }, { active: true, client_id: client.clientId });
  });

  test('RFC 6749 §4.1: client-oauth2 lives a grant', async () => {
    const client = await addApp(service);
    await walk(world, client, clientOAuth2(client.clientId, client.clientSecret));
  });

  for (const authorizationMethod of ['header', 'body'] as const)
    test(`RFC 6749 §2.3.1: simple-oauth2 lives a grant, with credentials in the ${authorizationMethod}`, async () => {
      const client = await addApp(service);
      await walk(world, client, simpleOAuth2(client.clientId, client.clientSecret, authorizationMethod));
    });
});
