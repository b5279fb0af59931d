import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser, type Visit, withoutReceived } from '../../support/browser.ts';
import { assertRefused, type JsonAnswer, postBody, signedInBrowser, type TestClient } from '../../support/flow.ts';
import { addClient, addUser, PASSWORD, REDIRECT_URI, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  allowOn,
  authorizationRequest,
  basic,
  exchangeCode,
  type Fields,
  post,
  postAs,
  scopes,
  sentTo,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const ada = await signedInBrowser(service);
const client = await addClient(service, { name: 'Notes', scopes: scopes('read', 'write') });
const other = await addClient(service);
const app = await addClient(service, {}, 'public');
const START = 'urn:ietf:params:oauth:request_uri:';

/** Pushes a request and answers its reference. */
async function push(by: TestClient = client, parameters: Fields = {}): Promise<string> {
  const { status, body } = await postAs(service, by, 'par', authorizationRequest(by, parameters));
  assert.equal(status, 201, JSON.stringify(body));
  return String(body['request_uri']);
}

/** The address that a reference goes to, with whatever else. */
function urlOf(request_uri: string, by: TestClient = client, more = '', path = '/oauth2/authorize'): string {
  return `${service.appUrl}${path}?${new URLSearchParams({ client_id: by.clientId, request_uri })}${more}`;
}

const isConsent = ({ status, body }: Visit) => status === 200 && body.includes('value="allow"');

/** Asserts the page that says that a reference leads nowhere, and names nobody. */
function assertDead({ status, headers, body }: Visit, message?: string): void {
  assert.deepEqual([status, headers.get('location')], [400, null], message);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  assert.doesNotMatch(withoutReceived(body), /Notes|client\.example/);
}

describe('RFC 9126 §2: pushing a request', { concurrency: true }, () => {
  test('RFC 9126 §2.2: the answer is a reference that tells nothing of the request', async () => {
    const answer = await postAs(service, client, 'par', authorizationRequest(client, { state: 'canary-state' }));
    assert.equal(answer.status, 201);
    assert.deepEqual(Object.keys(answer.body), ['request_uri', 'expires_in']);
    assert.equal(answer.body['expires_in'], 600);
    const names = ['content-type', 'cache-control', 'pragma'];
    assert.deepEqual(
      names.map((name) => answer.headers.get(name)),
      ['application/json', 'no-store', 'no-cache'],
    );
    const reference = String(answer.body['request_uri']);
    assert.match(reference, /^urn:ietf:params:oauth:request_uri:[\w-]+$/);
    assert.ok(!Buffer.from(reference.slice(START.length), 'base64url').includes('canary'));
    assert.notEqual(await push(client, { state: 'canary-state' }), reference);
  });

  const refused: [name: string, answer: string, fields: Fields][] = [
    ['a request_uri', '400 invalid_request', { request_uri: `${START}x` }],
    ['a request object', '400 request_not_supported', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['no redirect URI', '400 invalid_request', { redirect_uri: undefined }],
    ['a foreign redirect URI', '400 invalid_request', { redirect_uri: 'https://evil.test/' }],
    ['another scope', '400 invalid_scope', { scope: 'admin' }],
    ['no response_type', '400 invalid_request', { response_type: undefined }],
    ['another response_type', '400 unsupported_response_type', { response_type: 'token' }],
    ['another prompt', '400 invalid_request', { prompt: 'create' }],
    ['another resource', '400 invalid_target', { resource: 'https://nobody.example' }],
    ['plain PKCE', '400 invalid_request', { code_challenge_method: 'plain' }],
    [
      'neither state nor PKCE',
      '400 invalid_request',
      { state: undefined, code_challenge: undefined, code_challenge_method: undefined },
    ],
    ['a state that is too long', '400 invalid_request', { state: 's'.repeat(4097) }],
    ['a hint that is too long', '400 invalid_request', { login_hint: 'x'.repeat(8000) }],
    ['a wrong secret', '401 invalid_client', { client_secret: 'x' }],
    ['no secret', '401 invalid_client', { client_secret: undefined }],
    ['no client', '401 invalid_client', { client_id: undefined, client_secret: undefined }],
    ['the id of another client', '401 invalid_client', { client_id: other.clientId }],
  ];
  for (const [name, expected, fields] of refused)
    test(`RFC 9126 §2.1, §2.3: ${name} is ${expected}`, async () => {
      const [status, error = ''] = expected.split(' ');
      const answer = await postAs(service, client, 'par', { ...authorizationRequest(client), ...fields });
      assertRefused(answer, Number(status), error);
    });

  test('RFC 9126 §2.1: client_id beside other credentials must be the same', async () => {
    const header = basic(client.clientId, client.clientSecret);
    const pushed = (fields: Fields) => post(service, 'par', { ...authorizationRequest(client), ...fields }, header);
    assertRefused(await pushed({ client_id: other.clientId }), 400, 'invalid_request');
    assertRefused(await pushed({ client_secret: client.clientSecret }), 400, 'invalid_request');
    assert.equal((await pushed({})).status, 201);
    assert.equal((await pushed({ client_id: undefined })).status, 201);
  });

  test('RFC 9126 §2.3: a repeated parameter is invalid_request, and two resources are invalid_target', async () => {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const own = { client_id: client.clientId, client_secret: client.clientSecret };
    const fields = new URLSearchParams({ ...authorizationRequest(client), ...own } as Record<string, string>);
    const pushed = (added: string) => postBody(`${service.appUrl}/oauth2/par`, `${fields}&${added}`, type);
    for (const added of ['state=xyz', 'scope=read&scope=read', 'x=1&x=1', `redirect_uri=${REDIRECT_URI}`, 'state=%ff'])
      assertRefused(await pushed(added), 400, 'invalid_request', added);
    for (const name of ['client_id', 'client_secret']) {
      const { status, body } = await pushed(new URLSearchParams({ [name]: String(fields.get(name)) }).toString());
      assert.ok([400, 401].includes(status) && !('request_uri' in body), name);
    }
    const { apiUrl } = service;
    assertRefused(await pushed(`resource=${apiUrl}&resource=${apiUrl}`), 400, 'invalid_target');
  });

  test('RFC 9126 §2: a public client must use PKCE here too, and a paused one pushes nothing', async () => {
    const noPkce = { code_challenge: undefined, code_challenge_method: undefined };
    assertRefused(await postAs(service, app, 'par', authorizationRequest(app, noPkce)), 400, 'invalid_request');
    const paused = await addClient(service);
    await service.installation.clients.pause(paused.clientId, service.installation.operator);
    assertRefused(await postAs(service, paused, 'par', authorizationRequest(paused)), 401, 'invalid_client');
  });
});

describe('RFC 9126 §4: using a pushed request', { concurrency: true }, () => {
  test('RFC 9126 §4: it is what was pushed, with state, scope, resource and issuer', async () => {
    const resource = 'https://mail.example';
    await addResourceServer(service, { resource });
    const url = urlOf(await push(client, { state: 'a b&c', scope: 'read', resource }));
    const page = await ada.get(url);
    const { searchParams } = await allowOn(ada, page);
    assert.deepEqual([searchParams.get('state'), searchParams.get('iss')], ['a b&c', service.appUrl]);
    const { body } = await exchangeCode(service, client, String(searchParams.get('code')), { resource });
    assert.equal(body['scope'], 'read');
    const deny = sentTo(await ada.submit(page, '/oauth2/authorize', { decision: 'deny' })).searchParams;
    assert.deepEqual(
      [deny.get('error'), deny.get('state'), deny.get('iss')],
      ['access_denied', 'a b&c', service.appUrl],
    );
  });

  test('RFC 9126 §4, §7.3: who is not signed in signs in, and comes back to it', async () => {
    const browser = new Browser();
    const url = urlOf(await push());
    const page = await browser.get(url);
    assert.match(page.body, /to continue to <bdi[^>]*>Notes</);
    const again = await browser.submit(page, '/sign-in', { email: 'ada@example.com', password: 'a wrong password' });
    assert.match(again.body, /to continue to <bdi[^>]*>Notes</);
    const visit = await browser.submit(again, '/sign-in', { email: 'ada@example.com', password: PASSWORD });
    const back = service.appUrl + visit.headers.get('location');
    assert.match(back, /\/oauth2\/authorize\?client_id=app_\w+&request_uri=urn%3A/);
    assert.ok((await allowOn(browser, await browser.get(back))).searchParams.has('code'));
  });

  test('RFC 9101 §5: whatever else is in the address counts for nothing', async () => {
    const reference = await push(client, { scope: 'read' });
    const others = `&redirect_uri=https://evil.test&state=evil&scope=write&response_type=token&prompt=none&code_challenge=x&resource=x`;
    const { origin, searchParams } = await allowOn(ada, await ada.get(urlOf(reference, client, others)));
    assert.deepEqual([origin, searchParams.get('state')], ['https://client.example', 'xyz']);
    const { body } = await exchangeCode(service, client, String(searchParams.get('code')));
    assert.equal(body['scope'], 'read');
  });

  test('RFC 9126 §4: a public client pushes as well', async () => {
    const { searchParams } = await allowOn(ada, await ada.get(urlOf(await push(app), app)));
    assert.equal((await exchangeCode(service, app, String(searchParams.get('code')))).status, 200);
  });

  test('RFC 9126 §4: a request as long as it may be comes through sign-in and Allow', async () => {
    const reference = await push(client, { state: 's'.repeat(4096), login_hint: 'x'.repeat(1500) });
    const browser = new Browser();
    const page = await browser.get(urlOf(reference));
    const visit = await browser.submit(page, '/sign-in', { email: 'ada@example.com', password: PASSWORD });
    const back = service.appUrl + visit.headers.get('location');
    assert.equal((await allowOn(browser, await browser.get(back))).searchParams.get('state')?.length, 4096);
  });

  test('RFC 9126 §4: the form of a pushed request is for it alone', async () => {
    const [page, url] = [await ada.get(urlOf(await push())), urlOf(await push(client, { state: 'other' }))];
    const { pathname, search } = new URL(url);
    const action = `action="${pathname}${search.replaceAll('&', '&amp;')}"`;
    const body = page.body.replaceAll(/action="\/oauth2\/authorize[^"]*"/g, action);
    assert.equal((await ada.submit({ ...page, body }, '/oauth2/authorize', { decision: 'allow' })).status, 403);
  });

  test('RFC 9126 §4, §7.4: the registration counts when it is used, not when it was pushed', async () => {
    const changing = await addClient(service, { scopes: scopes('read') });
    const url = urlOf(await push(changing, { scope: 'read' }), changing);
    assert.ok(isConsent(await ada.get(url)));
    await service.installation.clients.update(changing.clientId, { scopes: [] }, service.installation.operator);
    assert.equal(sentTo(await ada.get(url)).searchParams.get('error'), 'invalid_scope');
    await service.installation.clients.update(
      changing.clientId,
      { redirectUris: ['https://new.example/'] },
      service.installation.operator,
    );
    assertDead(await ada.get(url));
  });
});

const reference = await push();

describe('RFC 9126 §4: a reference that leads nowhere is told on a page', { concurrency: true }, () => {
  const middle = START.length + 60;
  const flipped = reference.slice(0, middle) + (reference[middle] === 'A' ? 'B' : 'A') + reference.slice(middle + 1);
  const dead: Record<string, string> = {
    'of another client': urlOf(reference, other),
    'of nobody': urlOf(reference, { clientId: '', clientSecret: '' }),
    'of an unknown client': urlOf(reference, { clientId: 'app_nobody', clientSecret: '' }),
    'without client_id': `${service.appUrl}/oauth2/authorize?${new URLSearchParams({ request_uri: reference })}`,
    'with two client_ids': urlOf(reference, client, `&client_id=${client.clientId}`),
    tampered: urlOf(flipped),
    'cut off': urlOf(reference.slice(0, -1)),
    'with something after it': urlOf(`${reference}A`),
    'in another alphabet': urlOf(`${reference}==`),
    'that is empty': urlOf(START),
    'that is short': urlOf(`${START}AAAA`),
    'given twice': urlOf(reference, client, `&${new URLSearchParams({ request_uri: reference })}`),
  };
  for (const [name, url] of Object.entries(dead))
    test(`RFC 9126 §4: ${name}`, async () => {
      for (const browser of [ada, new Browser()]) assertDead(await browser.get(url));
      assert.ok(isConsent(await ada.get(urlOf(reference))));
    });

  test('RFC 9126 §4: a device code is no reference, though it is sealed alike', async () => {
    const device = await addClient(service, { deviceFlow: true }, 'public');
    const answer: JsonAnswer = await postAs(service, device, 'device_authorization');
    const sealed = String(answer.body['device_code']).replace(/^vk_dc_/, '');
    for (const text of [sealed, sealed.slice(0, -6)]) assertDead(await ada.get(urlOf(START + text, device)));
  });

  test('RFC 9126 §2.2, §4: one that is older than 600 seconds, unless its page is open', async (t) => {
    const own = await startTestService(t);
    await addUser(own);
    const each = await addClient(own);
    const browser = await signedInBrowser(own);
    const { body } = await postAs(own, each, 'par', authorizationRequest(each));
    const query = new URLSearchParams({ client_id: each.clientId, request_uri: String(body['request_uri']) });
    const url = `${own.appUrl}/oauth2/authorize?${query}`;
    own.clock.advance(599);
    const page = await browser.get(url);
    assert.ok(isConsent(page));
    own.clock.advance(1);
    assertDead(await browser.get(url));
    assert.ok((await allowOn(browser, page)).searchParams.has('code'), 'but for who has its page open');
  });

  test('RFC 9126 §2.2, §4: one that was opened in time waits for a sign-in as long as its form; then the app hears of it', async (t) => {
    const own = await startTestService(t);
    await addUser(own);
    const each = await addClient(own);
    const open = async () => {
      const { body } = await postAs(own, each, 'par', authorizationRequest(each, { prompt: 'login' }));
      const query = new URLSearchParams({ client_id: each.clientId, request_uri: String(body['request_uri']) });
      own.clock.advance(599);
      const browser = new Browser();
      return { browser, page: await browser.get(`${own.appUrl}/oauth2/authorize?${query}`) };
    };
    const signIn = async ({ browser, page }: Awaited<ReturnType<typeof open>>) => {
      const { headers } = await browser.submit(page, '/sign-in', { email: 'ada@example.com', password: PASSWORD });
      return own.appUrl + headers.get('location');
    };
    const slow = await open();
    own.clock.advance(12 * 3600 - 1);
    const back = await signIn(slow);
    assert.ok((await allowOn(slow.browser, await slow.browser.get(back))).searchParams.has('code'));
    own.clock.advance(1);
    const late = sentTo(await slow.browser.get(back)).searchParams;
    assert.deepEqual([late.get('error'), late.get('state')], ['invalid_request', 'xyz']);
    assert.match(String(late.get('error_description')), /has expired: push a new one/);
  });

  test('interface: the published face takes none', async () => {
    assertDead(await ada.get(urlOf(reference, client, '', '/auth/oauth2/authorize')));
    const { client_id: _, ...beside } = authorizationRequest(client, { scope: 'write' });
    const more = `&${new URLSearchParams(beside as Record<string, string>)}`;
    const page = await ada.get(urlOf(await push(client, { scope: 'read' }), client, more, '/auth/oauth2/authorize'));
    assert.ok(
      isConsent(page) && page.body.includes('>write<') && !page.body.includes('>read<'),
      'what is beside it counts',
    );
  });
});
