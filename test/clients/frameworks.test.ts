import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fastifyOauth2, { type OAuth2Namespace, type Token } from '@fastify/oauth2';
import Fastify from 'fastify';
import OAuth2Strategy from 'passport-oauth2';
import type { TestClient } from '../support/flow.ts';
import { REDIRECT_URI } from '../support/service.ts';
import { addApp } from './registered.ts';
import { type App, type Pair, pairOf, startWorld, walk } from './walk.ts';

const world = await startWorld({ after });
const { service } = world;

/** A Fastify app whose endpoints come from the metadata: the plugin takes their full address as an issuer. */
async function fastifyApp({ clientId, clientSecret }: TestClient, scope?: string[]): Promise<App> {
  const app = Fastify();
  after(() => app.close());
  await app.register(fastifyOauth2, {
    name: 'valetkey',
    ...(scope && { scope }),
    credentials: { client: { id: clientId, secret: clientSecret } },
    startRedirectPath: '/login',
    callbackUri: REDIRECT_URI,
    discovery: { issuer: `${service.appUrl}/.well-known/oauth-authorization-server` },
    pkce: 'S256',
  });
  const library = (app as unknown as { valetkey: OAuth2Namespace }).valetkey;
  app.get('/callback', async (request, reply) => {
    const { token } = await library.getAccessTokenFromAuthorizationCodeFlow(request, reply);
    return token;
  });
  let cookies: Record<string, string>;
  const tokenOf = ({ accessToken: access_token, refreshToken: refresh_token }: Pair): Token =>
    ({ access_token, refresh_token }) as Token;
  return {
    async start() {
      const answer = await app.inject('/login');
      cookies = Object.fromEntries(answer.cookies.map(({ name, value }) => [name, value]));
      return String(answer.headers.location);
    },
    async finish({ pathname, search }) {
      const answer = await app.inject({ url: pathname + search, cookies });
      assert.equal(answer.statusCode, 200, answer.body);
      return pairOf(answer.json());
    },
    refresh: async (pair) => pairOf((await library.getNewAccessTokenUsingRefreshToken(tokenOf(pair), {})).token),
    revoke: (pair) => library.revokeAllToken(tokenOf(pair), undefined),
  };
}

/** How a request to a strategy ends. */
type Outcome = { readonly redirect?: string; readonly user?: unknown; readonly failed?: unknown };

/** Its request for new tokens, which the library leaves to subclasses. */
class Strategy extends OAuth2Strategy {
  refresh(refreshToken: string): Promise<Pair> {
    return new Promise((resolve, reject) => {
      this._oauth2.getOAuthAccessToken(refreshToken, { grant_type: 'refresh_token' }, (error, accessToken, next) => {
        if (error) reject(error);
        else resolve({ accessToken: String(accessToken), refreshToken: String(next) });
      });
    });
  }
}

/** A website with Passport's strategy for OAuth 2.0: each visit is what Passport makes of a request. */
function passportApp({ clientId, clientSecret }: TestClient): App {
  const strategy = new Strategy(
    {
      authorizationURL: `${service.appUrl}/oauth2/authorize`,
      tokenURL: `${service.appUrl}/oauth2/token`,
      clientID: clientId,
      clientSecret,
      callbackURL: REDIRECT_URI,
      scope: ['read'],
      state: true,
      pkce: 'S256',
    } as unknown as OAuth2Strategy.StrategyOptions,
    (accessToken: string, refreshToken: string, _profile: unknown, done: OAuth2Strategy.VerifyCallback) =>
      done(null, { accessToken, refreshToken } as unknown as Express.User),
  );
  const session = {};
  const visit = (query: object) =>
    new Promise<Outcome>((resolve, reject) => {
      const outcomes = {
        redirect: (redirect: string) => resolve({ redirect }),
        success: (user: unknown) => resolve({ user }),
        fail: (failed: unknown) => resolve({ failed }),
        error: reject,
      };
      const request = { query, session, headers: {} } as never;
      strategy.authenticate.call(Object.assign(Object.create(strategy), outcomes), request);
    });
  return {
    start: async () => String((await visit({})).redirect),
    finish: async ({ searchParams }) => (await visit(Object.fromEntries(searchParams))).user as Pair,
    refresh: ({ refreshToken }) => strategy.refresh(refreshToken),
  };
}

describe('frameworks', { concurrency: true }, () => {
  test('RFC 8414 §3: @fastify/oauth2 discovers the service and lives a grant, with PKCE', async () => {
    const client = await addApp(service);
    for (const scope of [['read'], []]) await walk(world, client, await fastifyApp(client, scope));
  });

  test('RFC 6749 §3.3: without a scope @fastify/oauth2 asks for one named "undefined", as the developers’ page says', async () => {
    const app = await fastifyApp(await addApp(service));
    const { headers } = await world.browser.get(String(await app.start()));
    const { searchParams } = new URL(headers.get('location') ?? '');
    assert.equal(searchParams.get('error'), 'invalid_scope');
  });

  test('RFC 6749 §4.1: passport-oauth2 signs a person in, with PKCE and a state in the session', async () => {
    const client = await addApp(service);
    await walk(world, client, passportApp(client));
  });
});
