/** A client in a browser, on an origin of its own: Chromium decides what it may ask and read, with web security on. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../support/service.ts';
import { PKCE, scopes, VERIFIER } from '../support/standard.ts';

/** Serves an empty page at every address. */
async function servePage(): Promise<string> {
  const server = createServer((_request, response) =>
    response
      .writeHead(200, { 'Content-Type': 'text/html' })
      .end('<title>client</title><link rel="icon" href="data:,">'),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

type Asked = { url: string; fields: Record<string, string> | undefined; headers: Record<string, string> };
type Answer = { status: number; body: Record<string, unknown>; exposed: Record<string, string | null> } | string;

/** What a script of the page gets from `fetch`: an answer, or the name of its error where the browser hides the answer. */
function ask(page: Page, url: string, fields?: Record<string, string>, headers: Record<string, string> = {}) {
  const tracing = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', baggage: 'a=b' };
  const all = { 'MCP-Protocol-Version': '2026-07-28', ...tracing, ...headers };
  const script = async ({ url, fields, headers }: Asked) => {
    try {
      const body = fields && new URLSearchParams(fields);
      const answer = await fetch(url, { headers, ...(body ? { method: 'POST', body } : {}) });
      const exposed = { challenge: answer.headers.get('www-authenticate'), id: answer.headers.get('x-request-id') };
      return { status: answer.status, body: await answer.json(), exposed };
    } catch (error) {
      return (error as Error).name;
    }
  };
  return page.evaluate(script, { url, fields, headers: all }) as Promise<Answer>;
}

function read(answer: Answer): Exclude<Answer, string> {
  assert.ok(typeof answer !== 'string', `the browser hides the answer: ${String(answer)}`);
  return answer;
}

describe('OAuth 2.1 §3.2: a client in a browser on another origin', { skip: noBrowser }, () => {
  test('OAuth 2.1 §3.2: lives a whole grant with PKCE and preflights, at a port that is not registered', async () => {
    const browser = await launchBrowser();
    after(() => browser.close());
    const service = await startTestService({ after });
    await addUser(service);
    const origin = await servePage();
    const redirectUris = ['http://localhost/callback'];
    const app = await addClient(service, { redirectUris, scopes: scopes('read') }, 'public');
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${origin}/`);

    const wellKnown = (base: string, name: string) => ask(page, `${base}/.well-known/${name}`);
    const resource = read(await wellKnown(service.apiUrl, 'oauth-protected-resource')).body;
    const [issuer] = resource['authorization_servers'] as string[];
    const metadata = read(await wellKnown(String(issuer), 'oauth-authorization-server')).body;
    assert.deepEqual(read(await wellKnown(String(issuer), 'openid-configuration')).body, metadata);
    const endpoint = (name: string) => String(metadata[name]);

    const client = { client_id: app.clientId };
    const redirect_uri = `${origin}/callback`;
    const request = { ...client, redirect_uri, response_type: 'code', scope: 'openid read', ...PKCE };
    const pushed = read(await ask(page, endpoint('pushed_authorization_request_endpoint'), request));
    assert.equal(pushed.status, 201);
    const { request_uri } = pushed.body;
    await page.goto(
      `${endpoint('authorization_endpoint')}?${new URLSearchParams({ ...client, request_uri: String(request_uri) })}`,
    );
    await page.fill('[name=email]', 'ada@example.com');
    await page.fill('[name=password]', PASSWORD);
    await page.click('main button');
    assert.match(await page.innerText('.destination'), /program on this device: localhost:\d+\. Allow it only if/);
    await page.click('button[value=allow]');
    await page.waitForURL(`${redirect_uri}?*`);
    const code = new URL(page.url()).searchParams.get('code') ?? '';

    const token = endpoint('token_endpoint');
    const exchange = { ...client, grant_type: 'authorization_code', redirect_uri, code_verifier: VERIFIER };
    const wrong = read(await ask(page, token, { ...exchange, code: 'x' }));
    assert.deepEqual([wrong.status, wrong.body['error']], [400, 'invalid_grant'], 'an error can be read as well');
    const tokens = read(await ask(page, token, { ...exchange, code }, { DPoP: 'ignored' })).body;
    assert.deepEqual([tokens['token_type'], tokens['scope']], ['Bearer', 'read']);

    const me = (accessToken: unknown) =>
      ask(page, `${service.apiUrl}/v2/me`, undefined, { Authorization: `Bearer ${accessToken}` });
    assert.equal(read(await me(tokens['access_token'])).status, 200);
    const refused = read(await me('x'));
    assert.match(String(refused.exposed['challenge']), /^Bearer realm=/, 'WWW-Authenticate is exposed');
    assert.equal(refused.exposed['id'], null, 'and no other header');

    const refresh = { ...client, grant_type: 'refresh_token', refresh_token: String(tokens['refresh_token']) };
    const next = read(await ask(page, token, refresh)).body;

    // Another site with a stolen refresh token: the browser sends the request, and hides the answer.
    const other = await (await browser.newContext()).newPage();
    await other.goto(`${(await servePage()).replace('localhost', '127.0.0.1')}/`);
    const stolen = { ...client, token: 'x' };
    assert.equal(await ask(other, endpoint('revocation_endpoint'), stolen), 'TypeError');
    assert.equal(await ask(other, endpoint('authorization_endpoint')), 'TypeError');
    assert.equal(read(await ask(other, `${issuer}/.well-known/oauth-authorization-server`)).status, 200);

    const revoked = await ask(page, endpoint('revocation_endpoint'), {
      ...client,
      token: String(next['access_token']),
    });
    assert.equal(read(revoked).status, 200);
    assert.equal(read(await me(next['access_token'])).status, 401);
  });
});
