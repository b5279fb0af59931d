import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import type { UserManagerSettings } from 'oidc-client-ts';
import type { Page } from 'playwright-core';
import type { ConsentPolicy } from '../../src/oauth/clients/client.ts';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { me, type TestClient } from '../support/flow.ts';
import { addUser, PASSWORD, startTestService } from '../support/service.ts';
import { addApp } from './registered.ts';
import { assertWorks, pairOf } from './walk.ts';

/** What an app's page has: its origin, and the client that it is registered as. */
type Website = { readonly origin: string; readonly client: TestClient };

/** Settings of an app besides the usual ones. */
type AppSettings = Pick<UserManagerSettings, 'metadataUrl' | 'scope' | 'loadUserInfo'>;

const library = await readFile(new URL('../browser/oidc-client-ts.min.js', import.meta.resolve('oidc-client-ts')));

async function prepare() {
  const service = await startTestService({ after });
  await addUser(service);
  const chromium = await launchBrowser();
  after(() => chromium.close());
  return { service, chromium };
}

const prepared = noBrowser ? null : await prepare();

describe('oidc-client-ts in Chromium', { skip: noBrowser }, () => {
  if (!prepared) return;
  const { service, chromium } = prepared;

  const OAUTH: AppSettings = {
    metadataUrl: `${service.appUrl}/.well-known/oauth-authorization-server`,
    scope: 'read', // The library's own value is openid, which is another protocol.
  };

  /** A single-page app on an origin of its own: the library's build for browsers, and a page that makes its manager. */
  async function serveApp(consent: ConsentPolicy, own: AppSettings = OAUTH): Promise<Website> {
    let page = '';
    const server = createServer((request, response) => {
      if (request.url === '/oidc-client-ts.js') response.setHeader('Content-Type', 'text/javascript').end(library);
      else response.setHeader('Content-Type', 'text/html').end(page);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    after(() => {
      server.closeAllConnections();
      server.close();
    });
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const redirectUri = `${origin}/callback`;
    const signIn = own !== OAUTH;
    const client = await addApp(service, { redirectUris: [redirectUri], consent, signIn }, 'public');
    const settings: UserManagerSettings = {
      authority: service.appUrl,
      client_id: client.clientId,
      redirect_uri: redirectUri,
      automaticSilentRenew: false,
      ...own,
    };
    page = `<!doctype html><title>Notes</title><link rel="icon" href="data:,">
      <script src="/oidc-client-ts.js"></script>
      <script>
        const manager = new oidc.UserManager(${JSON.stringify(settings)});
        if (parent !== window) manager.signinSilentCallback();
      </script>`;
    return { origin, client };
  }

  /** Goes from the app over sign-in and Allow back to the app. */
  async function visit({ origin }: Website): Promise<{ page: Page; complaints: string[] }> {
    const page = await (await chromium.newContext()).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(origin);
    await page.evaluate('void manager.signinRedirect()');
    await page.waitForURL(`${service.appUrl}/oauth2/authorize?*`);
    await page.fill('[name=email]', 'ada@example.com');
    await page.fill('[name=password]', PASSWORD);
    await page.click('main button');
    await page.click('button[value=allow]');
    await page.waitForURL(`${origin}/callback?*`);
    return { page, complaints };
  }

  /** What the library's promise comes to: the tokens of a user, or the code of its error. */
  const run = (page: Page, call: string) =>
    page.evaluate(`${call}.then(
      (user) => ({ access_token: user?.access_token, refresh_token: user?.refresh_token, scope: user?.scope }),
      (error) => ({ error: error.error ?? String(error) }))`) as Promise<Record<string, string>>;

  test('RFC 6749 §4.1, RFC 7636 §4: oidc-client-ts lives a grant as a public client on another origin', async () => {
    const website = await serveApp('ask');
    const { page, complaints } = await visit(website);
    const user = await run(page, 'manager.signinCallback()');
    assert.equal(user['scope'], 'read', JSON.stringify(user));
    const first = pairOf(user);
    await assertWorks(service, website.client, first);
    const second = pairOf(await run(page, 'manager.signinSilent()'));
    assert.notEqual(second.refreshToken, first.refreshToken);
    await assertWorks(service, website.client, second);
    assert.deepEqual(complaints, []);

    assert.equal((await run(page, 'manager.revokeTokens(["access_token"])'))['error'], undefined);
    assert.equal((await me(service, second.accessToken)).status, 401);
    assert.deepEqual(await run(page, 'manager.signinSilent()'), { error: 'invalid_grant' });
    await page.context().close();
  });

  test('OpenID Connect Core §3.1.2.6: a hidden frame of oidc-client-ts is told that a person must look (RFC 8252 §8.6)', async () => {
    const { page } = await visit(await serveApp('remember'));
    assert.equal((await run(page, 'manager.signinCallback()'))['error'], undefined);
    const again = await run(page, 'manager.signinSilent({ forceIframeAuth: true, silentRequestTimeoutInSeconds: 20 })');
    assert.deepEqual(again, { error: 'consent_required' });
    await page.context().close();
  });

  test('OpenID Connect Core §3.1: oidc-client-ts signs a user in on another origin, from discovery to userinfo', async () => {
    const website = await serveApp('remember', { scope: 'openid profile email', loadUserInfo: true });
    const { page, complaints } = await visit(website);
    const user = (await page.evaluate(`manager.signinCallback().then(
      (user) => ({ ...user.profile, refreshToken: user.refresh_token ?? null, idToken: user.id_token }),
      (error) => ({ error: String(error) }))`)) as Record<string, unknown>;
    const { name, email, email_verified, refreshToken, idToken, error } = user;
    assert.deepEqual(
      [name, email, email_verified, refreshToken, error],
      ['Ada Example', 'ada@example.com', true, null, undefined],
    );
    assert.equal(String(idToken).split('.').length, 3);
    assert.deepEqual(complaints, []);
    const again = await run(page, 'manager.signinSilent({ silentRequestTimeoutInSeconds: 20 })');
    assert.deepEqual(again, { error: 'consent_required' }, 'renewal in a hidden frame ends in an error to the app');
    await page.context().close();
  });
});
