import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { RequestLog } from '../../src/http/request/request-log.ts';
import type { Service } from '../../src/http/service/service.ts';
import { grantIdText } from '../../src/oauth/grants/grant.ts';
import { makeLogger } from '../../src/process/log.ts';
import { Browser, formOf } from '../support/browser.ts';
import {
  asJson,
  auditActions,
  authorizeUrl,
  exchange,
  type JsonAnswer,
  me,
  obtainCode,
  pairOf,
  postBody,
  postForm,
  refresh,
  signedInBrowser,
  signIn,
} from '../support/flow.ts';
import { startOnFile } from '../support/on-file.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../support/service.ts';
import {
  ASSERTION_TYPE,
  addResourceServer,
  allowOn,
  assertionFields,
  authorizationRequest,
  basic,
  DEVICE_GRANT,
  exchangeCode,
  introspect,
  makeKey,
  post,
  postAs,
  refreshWith,
  standardCode,
  VERIFIER,
} from '../support/standard.ts';
import { secondConnection } from '../support/storage.ts';

test('RFC 6749 §10.3, Promise 4: after a whole flow and every failure no log line, audit event or error holds a credential', async (t) => {
  const service = await startTestService(t);
  await addUser(service);
  const client = await addClient(service, { refreshOverlap: 0, refreshRetryWindow: 0 });
  const verifier = 'canary-verifier-dBjftJeZ4CVP-mB92K27uhbUJU1p1r';
  const pkce = {
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
    state: 'canary-state',
  };
  const answers: unknown[] = [];
  const secrets = [
    PASSWORD,
    client.clientSecret,
    verifier,
    pkce.state,
    'canary-wrong',
    'canary%20query',
    'canary query',
  ];

  const browser = await signedInBrowser(service);
  secrets.push(...browser.cookies.values());
  const page = await browser.get(authorizeUrl(service, client, pkce));
  secrets.push(String(formOf(page.body, '/auth').fields['form_token']));
  const code = await obtainCode(service, browser, client, pkce);
  const first = pairOf(await exchange(service, client, code, { code_verifier: verifier }));
  const second = pairOf(await refresh(service, client, first.refreshToken));
  secrets.push(code, ...Object.values(first), ...Object.values(second));
  assert.equal((await me(service, second.accessToken)).status, 200);

  const { appUrl, apiUrl } = service;
  const token = `${appUrl}/api/auth/oauth/token`;
  answers.push(
    await exchange(service, client, code, { client_secret: 'canary-wrong' }),
    await exchange(service, client, code, { code_verifier: verifier }),
    await exchange(service, client, 'canary-wrong'),
    await refresh(service, client, first.refreshToken),
    await refresh(service, client, 'canary-wrong'),
    await me(service, 'canary-wrong'),
    await me(service, second.accessToken),
    await postBody(token, `{"code":"${code}","client_secret":"canary-wrong",`),
    await postBody(token, `canary-wrong=${code}`, { 'Content-Type': 'text/canary-wrong' }),
    await postForm(
      `${token}?code=${code}&canary%20query`,
      {},
      { Authorization: `Basic ${btoa(`${client.clientId}:canary-wrong`)}` },
    ),
    await (await fetch(`${apiUrl}/v2/me?access_token=${first.accessToken}`)).text(),
  );
  const stranger = new Browser();
  await signIn(service, stranger, 'canary-wrong@example.com', 'canary-wrong');
  await signIn(service, stranger, 'ada@example.com', 'canary-wrong');
  await stranger.get(`${appUrl}/canary-wrong?canary%20query`);
  await stranger.get(`${appUrl}/%?code=${code}`);
  await stranger.get(authorizeUrl(service, client, { redirect_uri: `https://evil.test/${code}` }));
  await stranger.get(authorizeUrl(service, client, { response_type: 'canary-wrong' }));
  await browser.submit(page, '/auth', { decision: 'deny', form_token: 'canary-wrong' });
  secrets.push(...stranger.cookies.values());

  const events = await service.installation.audit.listAuditEvents({ limit: 1000 });
  const places = { log: service.log.join(''), audit: JSON.stringify(events), answers: JSON.stringify(answers) };
  for (const [place, text] of Object.entries(places))
    for (const secret of secrets) assert.ok(!text.includes(secret), `${place} holds ${secret}`);
});

test('Promise 4: the standard face, devices and resource servers leave no credential in a log line, an audit event or an error', async (t) => {
  const service = await startTestService(t);
  await addUser(service);
  const key = makeKey();
  const settings = { deviceFlow: true, refreshOverlap: 0, refreshRetryWindow: 0 };
  const client = await addClient(service, settings);
  const keyed = await addClient(service, { ...settings, keys: [key.jwk] });
  const resourceServer = await addResourceServer(service);
  const browser = await signedInBrowser(service);
  const secrets = [PASSWORD, client.clientSecret, resourceServer.secret, VERIFIER, ...browser.cookies.values()];
  const answers: unknown[] = [];
  const [mine, theirs] = [client, resourceServer].map((each) =>
    'id' in each ? basic(each.id, each.secret) : basic(each.clientId, each.clientSecret),
  );
  secrets.push(String(mine?.Authorization.slice(6)), String(theirs?.Authorization.slice(6)));

  const pushed = { state: 'canary-state', login_hint: 'canary-hint@example.com', prompt: 'login' };
  const { body } = await postAs(service, client, 'par', authorizationRequest(client, pushed));
  const reference = String(body['request_uri']);
  const { appUrl } = service;
  const address = `${appUrl}/oauth2/authorize?${new URLSearchParams({ client_id: client.clientId, request_uri: reference })}`;
  service.clock.advance(1);
  const signInPage = await browser.get(address);
  const marked = String(formOf(signInPage.body, '/sign-in').fields['continue']);
  await browser.submit(signInPage, '/sign-in', { email: 'ada@example.com', password: PASSWORD });
  const page = await browser.get(appUrl + marked);
  const code = String((await allowOn(browser, page)).searchParams.get('code'));
  const first = pairOf(await exchangeCode(service, client, code));
  const second = pairOf(await refreshWith(service, client, first.refreshToken));
  const mark = String(new URL(appUrl + marked).searchParams.get('signed_after'));
  secrets.push(
    reference,
    reference.slice(-40),
    pushed.state,
    pushed.login_hint,
    mark,
    code,
    ...browser.cookies.values(),
  );
  secrets.push(...Object.values(first), ...Object.values(second));
  answers.push(
    await introspect(service, resourceServer, second.accessToken, { token_type_hint: 'canary-wrong' }),
    await introspect(service, { ...resourceServer, secret: 'canary-wrong' }, second.accessToken),
    await introspect(service, resourceServer, 'canary-wrong'),
    await refreshWith(service, client, first.refreshToken),
    await exchangeCode(service, client, code, { code_verifier: 'canary-wrong' }),
    await postAs(service, client, 'token', { grant_type: 'canary-wrong', code }),
    await postAs(service, client, 'revoke', { token: 'canary-wrong' }),
    await postAs(service, client, 'revoke', { token: second.refreshToken }),
    await postAs(service, client, 'par', {
      ...authorizationRequest(client),
      redirect_uri: 'https://canary-wrong.test/',
    }),
    await post(
      service,
      'token',
      { grant_type: 'refresh_token', refresh_token: second.refreshToken },
      { Authorization: 'Basic canary-wrong' },
    ),
    await (await fetch(`${appUrl}/oauth2/revocations?client_secret=${resourceServer.secret}`)).text(),
  );

  for (const claims of [
    {},
    { aud: 'https://canary-wrong.test' },
    { jti: 'canary-wrong', exp: 1 },
    { sub: 'canary-wrong' },
  ]) {
    const fields = await assertionFields(service, keyed, key, { jti: 'canary-jti', ...claims });
    secrets.push(...String(fields['client_assertion']).split('.').slice(1));
    for (let time = 0; time < 2; time++) await post(service, 'revoke', { token: 'canary-wrong', ...fields });
  }
  const garbled = { client_assertion_type: ASSERTION_TYPE, client_assertion: 'canary-wrong.canary-wrong.canary-wrong' };
  answers.push(await post(service, 'revoke', { token: 'x', ...garbled }));

  const { body: codes } = await postAs(service, client, 'device_authorization');
  const [deviceCode, userCode] = [String(codes['device_code']), String(codes['user_code'])];
  const poll = (device_code: string) => postAs(service, client, 'token', { grant_type: DEVICE_GRANT, device_code });
  answers.push(await poll(deviceCode), await poll('canary-wrong'));
  await browser.get(`${appUrl}/device?user_code=canary-wrong`);
  const shown = await browser.get(String(codes['verification_uri_complete']));
  await browser.submit(shown, '/device', { decision: 'canary-wrong' });
  await browser.submit(shown, '/device', { decision: 'allow', scope: 'canary-wrong' });
  secrets.push(deviceCode, userCode, userCode.replace('-', ''), ...Object.values(pairOf(await poll(deviceCode))));

  const dead = await new Browser().get(`${address}canary-wrong`);
  answers.push(dead.body);
  const events = await service.installation.audit.listAuditEvents({ limit: 1000 });
  const places = { log: service.log.join(''), audit: JSON.stringify(events), answers: JSON.stringify(answers) };
  for (const [place, text] of Object.entries(places))
    for (const secret of [...secrets, 'canary-wrong', 'canary-jti'])
      assert.ok(!text.includes(secret), `${place} holds ${secret}`);
});

test('Promise 4: each request is one line of JSON with its id, and a refusal says to the operator why', async (t) => {
  const service = await startTestService(t);
  await addUser(service);
  const client = await addClient(service);
  const browser = await signedInBrowser(service);
  const code = await obtainCode(service, browser, client);
  const refused = [
    [await exchange(service, client, code, { client_secret: 'x' }), 'invalid_client', 'the client secret is wrong'],
    [await exchange(service, client, 'x'), 'invalid_grant', 'not an authorization code of this service'],
    [
      await exchange(service, client, code, { redirect_uri: 'x' }),
      'invalid_grant',
      'redirect_uri differs from the authorization request',
    ],
    [await me(service, 'x'), 'invalid_token', 'not an access token of this service'],
    [
      await browser.get(authorizeUrl(service, client, { client_id: 'x' })),
      'unknown_client',
      'no client has this client_id',
    ],
    [
      await browser.get(authorizeUrl(service, client, { scope: 'x' })),
      'invalid_scope',
      'the scope x is not registered for this client: "client update" registers it with --scope, which names the others as well',
    ],
    [await browser.get(`${service.appUrl}/OAuth2/token/`), 'not_found', '/oauth2/token answers POST, OPTIONS'],
    [
      await browser.get(`${service.appUrl}/oauth2/token?canary`),
      'method_not_allowed',
      '/oauth2/token answers POST, OPTIONS',
    ],
    [await browser.get(`${service.appUrl}/nowhere`), 'not_found', undefined],
    [await signIn(service, new Browser(), 'ada@example.com', 'wrong password'), 'wrong_credentials', undefined],
  ] as const;
  const named = [
    [refused[0][0], client.clientId],
    [await postForm(`${service.appUrl}/oauth2/token`, {}, basic(client.clientId, 'x')), client.clientId],
    [await browser.get(authorizeUrl(service, client, { redirect_uri: 'https://other.example/' })), client.clientId],
    [await browser.get(authorizeUrl(service, client, { scope: 'x' })), client.clientId],
    [await exchange(service, client, code, { client_id: client.clientSecret }), undefined], // In the wrong field.
    [await me(service, 'x'), undefined],
  ] as const;
  const lines = service.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  for (const { request_id: id, method, status, ms, source } of lines) {
    assert.match(id, /^[\w-]{12}$/);
    assert.deepEqual([typeof method, typeof status, typeof ms, source], ['string', 'number', 'number', '127.0.0.1']);
  }
  assert.equal(new Set(lines.map((line) => line.request_id)).size, lines.length, 'one line a request');
  for (const [{ headers, status }, error, detail] of refused) {
    const line = lines.find((line) => line.request_id === headers.get('x-request-id'));
    assert.deepEqual([line.status, line.error], [status, error]);
    if (detail !== undefined) assert.equal(line.detail, detail);
  }
  for (const [{ headers }, clientId] of named) {
    const line = lines.find((line) => line.request_id === headers.get('x-request-id'));
    assert.equal(line.client_id, clientId);
  }
});

test('what did this app do: an exchange, a refresh, a check and an introspection name the app, the account and the grant', async (t) => {
  const service = await startTestService(t);
  const account = await addUser(service);
  const client = await addClient(service);
  const api = await addResourceServer(service);
  const browser = await signedInBrowser(service);
  const exchanged = await exchange(service, client, await obtainCode(service, browser, client));
  const { accessToken, refreshToken } = pairOf(exchanged);
  service.clock.advance(1); // Grants are ordered by time.
  const on = await exchangeCode(service, client, await standardCode(service, browser, client));
  const [latest, first] = await service.installation.grants.list({ limit: 2 });
  const refreshed = await refresh(service, client, refreshToken);
  const answered: [JsonAnswer, typeof first][] = [
    [exchanged, first],
    [refreshed, first],
    [await refresh(service, client, refreshToken), first], // The same pair again.
    [await me(service, accessToken), first],
    [await me(service, accessToken), first], // As the last check found it.
    [await introspect(service, api, accessToken), first],
    [on, latest],
    [await refreshWith(service, client, pairOf(on).refreshToken), latest],
  ];
  // By the other reader as well: an address with a query is not plain.
  const odd = { headers: { Authorization: `Bearer ${accessToken}`, Origin: 'https://page.example' } };
  answered.push([await asJson(await fetch(`${service.apiUrl}/v2/me?x=1`, odd)), first]);
  const inactive = await introspect(service, api, 'x');
  const lines = service.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  const lineOf = ({ headers }: JsonAnswer) => lines.find((line) => line.request_id === headers.get('x-request-id'));
  for (const [answer, listed] of answered) {
    const { route, status, client_id, sub, grant_id, error } = lineOf(answer);
    const grantId = grantIdText((listed ?? assert.fail()).grant.id);
    assert.deepEqual(
      [status, client_id, sub, grant_id, error],
      [200, client.clientId, account.id, grantId, undefined],
      route,
    );
  }
  const { client_id, sub, grant_id } = lineOf(inactive);
  assert.deepEqual([client_id, sub, grant_id], [undefined, undefined, undefined]);
});

test('ASVS 16.3.3: each act leaves one audit event: who, from where, in which request, about what', async (t) => {
  const service = await startTestService(t);
  const { installation } = service;
  const account = await addUser(service);
  const client = await addClient(service);
  const browser = await signedInBrowser(service);
  const page = await browser.get(authorizeUrl(service, client));
  await browser.submit(page, '/auth', { decision: 'deny' });
  const allowed = await browser.submit(page, '/auth', { decision: 'allow' });
  const code = String(new URL(String(allowed.headers.get('location'))).searchParams.get('code'));
  await exchange(service, client, code);
  await exchange(service, client, code);
  await obtainCode(service, browser, client);
  await browser.submit(await browser.get(`${service.appUrl}/account/apps`), '/sign-out');
  assert.deepEqual(await auditActions(service), [
    'user_added',
    'client_registered',
    'sign_in',
    'consent_denied',
    'consent_allowed',
    'code_replay',
    'consent_allowed',
    'sign_out',
  ]);
  const [event, ...more] = await installation.audit.listAuditEvents({ action: 'code_replay', limit: 10 });
  const [{ grant } = assert.fail()] = (await installation.grants.list({ limit: 10 })).filter(
    ({ grant }) => grant.revokedAt,
  );
  assert.equal(more.length, 0);
  assert.equal(event?.at, service.clock.now());
  assert.deepEqual([event.actor.kind, event.actor.id, event.actor.source], ['client', client.clientId, '127.0.0.1']);
  assert.match(String(event.actor.requestId), /^[\w-]{12}$/);
  assert.deepEqual([event.clientId, event.resourceOwnerId], [client.clientId, account.id]);
  assert.equal(event.grantId?.replaceAll('-', ''), grant.id.toString('hex'));
});

test('Promise 5: no anonymous request leaves anything in the store', async (t) => {
  const service = await startTestService(t);
  await addUser(service);
  const client = await addClient(service);
  const before = await auditActions(service);
  const stranger = new Browser();
  for (const [url, body] of [
    [authorizeUrl(service, client), null],
    [`${service.appUrl}/sign-in`, { email: 'ada@example.com', password: 'x' }],
    [`${service.appUrl}/account/apps/revoke`, { client_id: client.clientId }],
    [`${service.appUrl}/api/auth/oauth/token`, { grant_type: 'authorization_code', client_id: client.clientId }],
  ] as const) {
    await stranger.get(url);
    if (body) await stranger.post(url, body, { 'Sec-Fetch-Site': 'same-origin' });
  }
  await signIn(service, stranger, 'ada@example.com', 'a wrong password');
  assert.deepEqual(await auditActions(service), before);
  assert.deepEqual(await service.installation.grants.list({ limit: 1 }), []);
});

test('operating: refusals are warnings: the first ten of a kind from a source, then one a minute, which says how many there were', async (t) => {
  const service = await startTestService(t);
  const levels = () =>
    service.log
      .map((line) => JSON.parse(line) as { level: string; route?: string; without_warning?: number })
      .filter(({ route }) => route === '/v2/me');
  for (let n = 0; n < 15; n += 1) await me(service, 'wrong');
  assert.deepEqual(
    levels().map(({ level }) => level),
    [...Array(10).fill('warn'), ...Array(5).fill('info')],
  );
  service.clock.advance(60);
  await me(service, 'wrong');
  await me(service, 'wrong');
  const [next, last] = levels().slice(-2);
  assert.deepEqual([next?.level, next?.without_warning, last?.level], ['warn', 5, 'info']);
  assert.equal((await fetch(`${service.apiUrl}/v2/nothing`)).status, 404);
  assert.match(service.log.at(-1) ?? '', /^\{"level":"warn",.*"status":404/, 'another kind');
  service.clock.advance(3600);
  await me(service, 'wrong');
  await me(service, 'wrong');
  assert.deepEqual(
    levels()
      .slice(-2)
      .map(({ level }) => level),
    ['warn', 'warn'],
    'a source that was quiet for an hour begins anew',
  );
});

test('operating: a device that waits is no refusal', () => {
  const lines: string[] = [];
  const logger = makeLogger({ write: (line: string) => void lines.push(line) }, () => 0);
  const log = new RequestLog({ now: () => 0 } as Service, logger);
  const request = { id: 'r', method: 'POST', source: '192.0.2.1' };
  const ended = { route: '/oauth2/token', status: 400, ms: 1 };
  log.end({ ...request, outcome: { error: 'authorization_pending' } }, ended);
  log.end({ ...request, outcome: { error: 'access_denied' } }, ended);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).level),
    ['info', 'warn'],
  );
});

test('operating: what the store could not serve is one sentence in the log, without a stack', async (t) => {
  const { service, path } = await startOnFile(t);
  await addUser(service);
  const held = secondConnection(t, path);
  held.exec('BEGIN IMMEDIATE');
  assert.equal((await signIn(service, new Browser())).status, 503);
  held.exec('ROLLBACK');
  const [line = ''] = service.log.filter((each) => each.includes('the store could not serve'));
  assert.match(
    line,
    /^\{"level":"warn","time":"[^"]+","request_id":"[^"]+","msg":"the store could not serve: [^"]+"\}\n$/,
  );
  assert.ok(!service.log.some((each) => each.includes('"stack"')));
});
