/** The one walk that every library takes through the standard face, with a person in a real browser session. */
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Browser } from '../support/browser.ts';
import { me, signedInBrowser, type TestClient } from '../support/flow.ts';
import { addUser, type Lifetime, startTestService, type TestService } from '../support/service.ts';

/** A service that follows the machine's time, as the libraries do, and Ada's browser, signed in. */
export type World = { readonly service: TestService; readonly browser: Browser };

/** The tokens that a library holds after an exchange or a refresh. */
export type Pair = { readonly accessToken: string; readonly refreshToken: string };

/** An app that uses one library. Each step is the library's own call, and rejects when the library does. */
export type App = {
  /** Where the app sends the browser. */
  start(): Promise<URL | string> | URL | string;
  /** What the app does when the browser comes back: it checks the response and exchanges the code. */
  finish(callback: URL): Promise<Pair>;
  refresh(pair: Pair): Promise<Pair>;
  /** Left out where the library cannot: then the token is revoked with a plain request of RFC 7009. */
  revoke?(pair: Pair): Promise<unknown>;
};

/** Starts a world that ends with the file. */
export async function startWorld(t: Lifetime): Promise<World> {
  const service = await startTestService(t);
  const follow = () => service.clock.advance(Math.max(0, Date.now() - service.clock.now()) / 1000);
  const following = setInterval(follow, 100);
  t.after(() => clearInterval(following));
  follow();
  await addUser(service);
  return { service, browser: await signedInBrowser(service) };
}

/** Walks from the authorization request to the revoked grant; what the app is refused then is `invalid_grant`. */
export async function walk({ service, browser }: World, client: TestClient, app: App): Promise<void> {
  const callback = await allow(browser, await app.start());
  assert.equal(callback.searchParams.get('iss'), service.appUrl, 'RFC 9207 §2: the response names its issuer');
  const first = await app.finish(callback);
  await assertWorks(service, client, first);
  const second = await app.refresh(first);
  assert.notEqual(second.accessToken, first.accessToken);
  assert.notEqual(second.refreshToken, first.refreshToken);
  await assertWorks(service, client, second);
  await (app.revoke?.(second) ?? revokePlainly(service, client, second.refreshToken));
  assert.equal((await me(service, second.accessToken)).status, 401);
  await assert.rejects(() => app.refresh(second), saysInvalidGrant);
}

/** Presses Allow on the page that an app sent the browser to, and answers where the browser is sent. */
export function allow(browser: Browser, url: URL | string): Promise<URL> {
  return decide(browser, url, 'allow');
}

/** Presses Allow or Deny. */
export async function decide(browser: Browser, url: URL | string, decision: 'allow' | 'deny'): Promise<URL> {
  const page = await browser.get(String(url));
  assert.equal(page.status, 200, `${page.headers.get('location')} ${page.body}`);
  const visit = await browser.submit(page, '/oauth2/authorize', { decision });
  assert.equal(visit.status, 303, visit.body);
  return new URL(String(visit.headers.get('location')));
}

/** Asserts that an access token is Ada's, for this client. */
export async function assertWorks(service: TestService, client: TestClient, { accessToken }: Pair): Promise<void> {
  const { status, body } = await me(service, accessToken);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal((body['data'] as { email: string }).email, 'ada@example.com');
  assert.equal((body['authorization'] as { client_id: string }).client_id, client.clientId);
}

/** Revokes without a library; a public client has no secret to send. */
async function revokePlainly(service: TestService, client: TestClient, token: string): Promise<void> {
  const answer = await fetch(`${service.appUrl}/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({
      token,
      client_id: client.clientId,
      ...(client.clientSecret ? { client_secret: client.clientSecret } : {}),
    }),
  });
  assert.equal(answer.status, 200, await answer.text());
}

/** Whether an error of any library tells the code of RFC 6749 §5.2, wherever it keeps it. */
export function saysInvalidGrant(error: unknown): boolean {
  return /\binvalid_grant\b/.test(inspect(error, { depth: 6 }));
}

/** The pair in an answer of the token endpoint, or in a library's copy of one. */
export function pairOf(tokens: object): Pair {
  const { access_token, refresh_token } = tokens as Record<string, unknown>;
  assert.ok(access_token && refresh_token, inspect(tokens));
  return { accessToken: String(access_token), refreshToken: String(refresh_token) };
}
