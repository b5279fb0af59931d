import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import { Auth, type AuthConfig } from '@auth/core';
import type { OAuth2Config } from '@auth/core/providers';
import type { Profile } from '@auth/core/types';
import { serve } from '@hono/node-server';
import { Browser } from '../support/browser.ts';
import type { TestClient } from '../support/flow.ts';
import { freePort } from '../support/service.ts';
import { addApp, makeKeyPair } from './registered.ts';
import { type App, allow, assertWorks, pairOf, startWorld, walk } from './walk.ts';

const world = await startWorld({ after });
const { service } = world;

/** What `GET {api_url}/v2/me` answers, as far as a profile needs it. */
type Me = { readonly data: { readonly id: string; readonly name: string; readonly email: string } };

/** Where Auth.js takes the code, on a website of its own port. */
async function newRedirectUri(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}/auth/callback/valetkey`;
}

const SECRET = 'the secret of a website: 32 bytes or more';

/** Serves Auth.js at the origin of a redirect URI, until the file ends. */
async function serveAuth(redirectUri: string, config: AuthConfig): Promise<void> {
  const port = Number(new URL(redirectUri).port);
  const server = serve({ fetch: (request) => Auth(request, config), hostname: '127.0.0.1', port });
  await once(server, 'listening');
  after(() => void server.close());
}

/** Presses the website's button to sign in; returns where Auth.js sends the browser. */
async function startSignIn(visitor: Browser, origin: string): Promise<string> {
  const { csrfToken } = JSON.parse((await visitor.get(`${origin}/auth/csrf`)).body);
  const fields = { csrfToken, callbackUrl: `${origin}/welcome` };
  const visit = await visitor.post(`${origin}/auth/signin/valetkey`, fields);
  return String(visit.headers.get('location'));
}

/** A website that signs people in with Auth.js alone, as the app of somebody whose browser visits it. */
async function startWebsite(
  client: TestClient,
  redirectUri: string,
  settings: Partial<OAuth2Config<Me>> = {},
): Promise<App> {
  let account: object = {};
  const config: AuthConfig = {
    basePath: '/auth',
    secret: SECRET,
    trustHost: true,
    providers: [
      {
        id: 'valetkey',
        name: 'Valetkey',
        type: 'oauth',
        clientId: client.clientId,
        clientSecret: client.clientSecret,
        issuer: service.appUrl,
        authorization: { url: `${service.appUrl}/oauth2/authorize`, params: { scope: 'read' } },
        token: `${service.appUrl}/oauth2/token`,
        userinfo: `${service.apiUrl}/v2/me`,
        checks: ['pkce', 'state'],
        profile: ({ data }) => ({ id: data.id, name: data.name, email: data.email }),
        ...settings,
      } satisfies OAuth2Config<Me>,
    ],
    callbacks: {
      jwt(given) {
        account = given.account ?? account;
        return given.token;
      },
    },
  };
  await serveAuth(redirectUri, config);
  const { origin } = new URL(redirectUri);
  const visitor = new Browser();
  return {
    start: () => startSignIn(visitor, origin),
    async finish(callback) {
      const visit = await visitor.get(callback.href);
      assert.equal(visit.headers.get('location'), `${origin}/welcome`);
      const { user } = JSON.parse((await visitor.get(`${origin}/auth/session`)).body);
      assert.deepEqual(user, { name: 'Ada Example', email: 'ada@example.com' });
      return pairOf(account);
    },
    // Auth.js leaves this to the website: the request is the one of its guide "Refresh Token Rotation".
    async refresh({ refreshToken }) {
      const answer = await fetch(`${service.appUrl}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({
          client_id: client.clientId,
          ...(client.clientSecret ? { client_secret: client.clientSecret } : {}),
          grant_type: 'refresh_token',
          refresh_token: refreshToken,
        }),
      });
      const tokensOrError = (await answer.json()) as object;
      if (!answer.ok) throw tokensOrError;
      return pairOf(tokensOrError);
    },
  };
}

describe('Auth.js', { concurrency: true }, () => {
  test('RFC 6749 §4.1: Auth.js signs a person in, with PKCE and a state', async () => {
    const redirectUri = await newRedirectUri();
    const client = await addApp(service, { redirectUris: [redirectUri] });
    await walk(world, client, await startWebsite(client, redirectUri));
  });

  test('RFC 7636 §4: Auth.js as a public client', async () => {
    const redirectUri = await newRedirectUri();
    const client = await addApp(service, { redirectUris: [redirectUri] }, 'public');
    const settings = { client: { token_endpoint_auth_method: 'none' } };
    await walk(world, client, await startWebsite(client, redirectUri, settings));
  });

  test('RFC 7523 §2.2: Auth.js with private_key_jwt, whose audience is a list', async () => {
    const redirectUri = await newRedirectUri();
    const { jwk, privateKey } = await makeKeyPair('ES256');
    const client = await addApp(service, { redirectUris: [redirectUri], keys: [jwk] });
    const website = await startWebsite(client, redirectUri, {
      client: { token_endpoint_auth_method: 'private_key_jwt' },
      token: { url: `${service.appUrl}/oauth2/token`, clientPrivateKey: privateKey },
    });
    await assertWorks(service, client, await website.finish(await allow(world.browser, await website.start())));
  });

  test('OpenID Connect Core §3.1: Auth.js signs a person in with issuer, ID and secret alone, and checks the ID token', async () => {
    const redirectUri = await newRedirectUri();
    const { clientId, clientSecret } = await addApp(service, { redirectUris: [redirectUri], signIn: true });
    const { origin } = new URL(redirectUri);
    let profile: Profile | undefined;
    const provider = { id: 'valetkey', name: 'Valetkey', issuer: service.appUrl, clientId, clientSecret };
    await serveAuth(redirectUri, {
      basePath: '/auth',
      secret: SECRET,
      trustHost: true,
      providers: [{ ...provider, type: 'oidc' }],
      callbacks: {
        jwt(given) {
          profile = given.profile ?? profile;
          return given.token;
        },
      },
    });
    const visitor = new Browser();
    const url = new URL(await startSignIn(visitor, origin));
    assert.equal(url.searchParams.get('scope'), 'openid profile email');
    const visit = await visitor.get((await allow(world.browser, url)).href);
    assert.equal(visit.headers.get('location'), `${origin}/welcome`);
    const { user } = JSON.parse((await visitor.get(`${origin}/auth/session`)).body);
    assert.deepEqual(user, { name: 'Ada Example', email: 'ada@example.com' });
    assert.deepEqual([profile?.['iss'], profile?.['aud'], profile?.email_verified], [service.appUrl, clientId, true]);
  });
});
