import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import OAuth2Strategy from 'passport-oauth2';
import { AuthorizationCode } from 'simple-oauth2';
import { asJson, me, obtainCode, pairOf, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../support/service.ts';

const service = await startTestService({ after });
await addUser(service);
const client = await addClient(service, { scopes: [{ name: 'read', sentence: null, optional: false }] });
const browser = await signedInBrowser(service);
const { appUrl, apiUrl } = service;

/** Presses Allow on the page that a client sent the browser to, and answers the parameters it gets back. */
async function allow(url: string): Promise<URLSearchParams> {
  const visit = await browser.submit(await browser.get(url), '/auth/oauth2/authorize', { decision: 'allow' });
  return new URL(String(visit.headers.get('location'))).searchParams;
}

describe('libraries as they are', { concurrency: true }, () => {
  for (const bodyFormat of ['form', 'json'] as const)
    for (const authorizationMethod of ['body', 'header'] as const)
      test(`simple-oauth2 exchanges with ${bodyFormat} bodies and credentials in the ${authorizationMethod}`, async () => {
        const library = new AuthorizationCode({
          client: { id: client.clientId, secret: client.clientSecret },
          auth: {
            tokenHost: appUrl,
            tokenPath: '/api/auth/oauth/token',
            refreshPath: '/api/auth/oauth/refreshToken',
            authorizePath: '/auth/oauth2/authorize',
          },
          options: { bodyFormat, authorizationMethod },
        });
        const request = { redirect_uri: REDIRECT_URI, scope: 'read', state: 's+/=' };
        const back = await allow(library.authorizeURL(request));
        assert.equal(back.get('state'), 's+/=');
        const held = await library.getToken({ code: String(back.get('code')), redirect_uri: REDIRECT_URI });
        assert.equal((await me(service, String(held.token['access_token']))).status, 200);
        if (authorizationMethod === 'header') return; // The refresh endpoint takes Bearer alone in the header.
        const renewed = await held.refresh();
        assert.notEqual(renewed.token['refresh_token'], held.token['refresh_token']);
        assert.equal((await me(service, String(renewed.token['access_token']))).status, 200);
      });

  test('passport-oauth2 signs a person in, with PKCE and a state in the session', async () => {
    type Outcome = { redirect?: string; user?: unknown; failed?: unknown };
    const strategy = new OAuth2Strategy(
      {
        authorizationURL: `${appUrl}/auth/oauth2/authorize`,
        tokenURL: `${appUrl}/api/auth/oauth/token`,
        clientID: client.clientId,
        clientSecret: client.clientSecret,
        callbackURL: REDIRECT_URI,
        state: true,
        pkce: true,
      } as unknown as OAuth2Strategy.StrategyOptions,
      (accessToken: string, refreshToken: string, _profile: unknown, done: OAuth2Strategy.VerifyCallback) =>
        done(null, { accessToken, refreshToken } as unknown as Express.User),
    );
    strategy.userProfile = (_accessToken, done) => done(null, {});
    const session = {};
    const visit = (query: object) =>
      new Promise<Outcome>((resolve, reject) => {
        const outcomes = {
          redirect: (redirect: string) => resolve({ redirect }),
          success: (user: unknown) => resolve({ user }),
          fail: (failed: unknown) => resolve({ failed }),
          error: reject,
        };
        strategy.authenticate.call(Object.assign(Object.create(strategy), outcomes), {
          query,
          session,
          headers: {},
        } as never);
      });
    const { redirect } = await visit({});
    const { user } = await visit(Object.fromEntries(await allow(String(redirect))));
    const { accessToken } = user as { accessToken: string };
    assert.equal((await me(service, accessToken)).status, 200);
    const denied = await visit({ error: 'access_denied', error_description: 'x' });
    assert.deepEqual(denied.failed, { message: 'x' });
  });

  /** A request as golang.org/x/oauth2 sends it, to a `TokenURL` and in an `AuthStyle`. */
  const asGo = async (path: string, style: 'InParams' | 'InHeader', fields: Record<string, string>) => {
    const { clientId, clientSecret } = client;
    const inParams = { client_id: clientId, client_secret: clientSecret };
    const Authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    return fetch(appUrl + path, {
      method: 'POST',
      headers: style === 'InHeader' ? { Authorization } : {},
      body: new URLSearchParams({ ...fields, ...(style === 'InParams' ? inParams : {}) }),
    });
  };

  test('golang.org/x/oauth2 refreshes with AuthStyleInParams, as the developers’ page says, and not with Basic', async () => {
    const code = await obtainCode(service, browser, client);
    const fields = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
    const pair = pairOf(await asJson(await asGo('/api/auth/oauth/token', 'InParams', fields)));
    const next = { grant_type: 'refresh_token', refresh_token: pair.refreshToken };
    const refused = await asGo('/api/auth/oauth/refreshToken', 'InHeader', next);
    assert.deepEqual([refused.status, (await asJson(refused)).body['error']], [400, 'invalid_request']);
    const renewed = pairOf(await asJson(await asGo('/api/auth/oauth/refreshToken', 'InParams', next)));
    assert.equal((await me(service, renewed.accessToken)).status, 200);
  });

  test('plain fetch walks the published interface to the letter', async () => {
    const { clientId: client_id, clientSecret: client_secret } = client;
    const code = await obtainCode(service, browser, client);
    const body = { grant_type: 'authorization_code', code, client_id, client_secret, redirect_uri: REDIRECT_URI };
    const pair = pairOf(
      await asJson(await fetch(`${appUrl}/api/auth/oauth/token`, { method: 'POST', body: new URLSearchParams(body) })),
    );
    const refreshed = await fetch(`${appUrl}/api/auth/oauth/refreshToken`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${pair.refreshToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ grant_type: 'refresh_token', client_id, client_secret }),
    });
    assert.equal((await me(service, pairOf(await asJson(refreshed)).accessToken)).status, 200);
  });

  const noCurl = spawnSync('curl', ['--version']).error ? 'curl is not installed' : false;
  test('curl walks the published interface to the letter', { skip: noCurl }, async () => {
    const curl = async (...options: string[]) =>
      JSON.parse((await promisify(execFile)('curl', ['-sS', ...options])).stdout);
    const code = await obtainCode(service, browser, client);
    const credentials = ['-d', `client_id=${client.clientId}`, '-d', `client_secret=${client.clientSecret}`];
    const exchange = [
      '-d',
      'grant_type=authorization_code',
      '-d',
      `code=${code}`,
      '--data-urlencode',
      `redirect_uri=${REDIRECT_URI}`,
    ];
    const pair = await curl(`${appUrl}/api/auth/oauth/token`, ...credentials, ...exchange);
    const bearer = ['-H', `Authorization: Bearer ${pair.refresh_token}`];
    const next = await curl(
      `${appUrl}/api/auth/oauth/refreshToken`,
      ...credentials,
      '-d',
      'grant_type=refresh_token',
      ...bearer,
    );
    const answer = await curl(`${apiUrl}/v2/me`, '-H', `Authorization: Bearer ${next.access_token}`);
    assert.equal(answer.data.email, 'ada@example.com');
  });
});
