import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser, formOf, type Visit } from '../../support/browser.ts';
import {
  assertRefused,
  auditActions,
  type JsonAnswer,
  me,
  pairOf,
  postBody,
  signedInBrowser,
  type TestClient,
} from '../../support/flow.ts';
import { startOnFile } from '../../support/on-file.ts';
import { requestHead, sendRaw } from '../../support/raw-http.ts';
import { addClient, addUser, PASSWORD, startTestService, type TestService } from '../../support/service.ts';
import {
  addResourceServer,
  DEVICE_GRANT,
  exchangeCode,
  type Fields,
  introspect,
  postAs,
  refreshWith,
  scopes,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
await addUser(service, 'grace@example.com', 'Grace Example');
const [ada, grace] = [await signedInBrowser(service), await signedInBrowser(service, 'grace@example.com')];
const tv = await addClient(
  service,
  { name: 'Telly', redirectUris: [], deviceFlow: true, scopes: scopes('watch', 'list?') },
  'public',
);
const confidential = await addClient(service, { deviceFlow: true });
const page = `${service.appUrl}/device`;

/** The two codes that a device gets. */
type Codes = { readonly deviceCode: string; readonly userCode: string; readonly complete: string };

async function ask(own: TestService = service, client: TestClient = tv, fields: Fields = {}): Promise<Codes> {
  const { status, body } = await postAs(own, client, 'device_authorization', fields);
  assert.equal(status, 200, JSON.stringify(body));
  const { device_code, user_code, verification_uri_complete } = body;
  return { deviceCode: String(device_code), userCode: String(user_code), complete: String(verification_uri_complete) };
}

const poll = (
  { deviceCode }: Codes,
  own = service,
  client: TestClient = tv,
  fields: Fields = {},
): Promise<JsonAnswer> =>
  postAs(own, client, 'token', { grant_type: DEVICE_GRANT, device_code: deviceCode, ...fields });
const decide = (browser: Browser, shown: Visit, decision: string, scope: string[] = []): Promise<Visit> =>
  browser.submit(shown, '/device', { decision, scope });
const typed = (browser: Browser, code: string): Promise<Visit> =>
  browser.get(`${page}?${new URLSearchParams({ user_code: code })}`);
const isConsent = ({ status, body }: Visit) => status === 200 && body.includes('value="allow"');
const isCodeForm = ({ body }: Visit) => body.includes('name="user_code"');

/** A service of its own with a device that waits, for a test that moves the clock. */
async function waiting(t: Parameters<typeof startTestService>[0], settings = {}) {
  const own = await startTestService(t);
  await addUser(own);
  const client = await addClient(own, { deviceFlow: true, ...settings }, 'public');
  const codes = await ask(own, client);
  const browser = await signedInBrowser(own);
  return { own, client, codes, browser, poll: () => poll(codes, own, client) };
}

describe('RFC 8628: a device from its code to its tokens', { concurrency: true }, () => {
  test('RFC 8628 §3.2: the device gets two codes, and is told where, how often and how long', async () => {
    const { status, headers, body } = await postAs(service, tv, 'device_authorization');
    assert.equal(status, 200);
    const { device_code, user_code, ...rest } = body;
    assert.match(String(device_code), /^vk_dc_[\w-]+$/);
    assert.match(String(user_code), /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    const complete = `${page}?user_code=${user_code}`;
    assert.deepEqual(rest, {
      verification_uri: page,
      verification_uri_complete: complete,
      expires_in: 600,
      interval: 5,
    });
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('content-type'), 'application/json');
  });

  test('RFC 8628 §3, §3.3: the person types the code, compares it, allows, and the device has its tokens', async () => {
    const codes = await ask();
    assertRefused(await poll(codes), 400, 'authorization_pending');
    const empty = await ada.get(page);
    assert.ok(isCodeForm(empty) && empty.status === 200);
    const shown = await typed(ada, codes.userCode);
    assert.match(shown.body, /Allow <bdi[^>]*>Telly</);
    assert.ok(shown.body.includes(codes.userCode), 'RFC 8628 §3.3.1: to compare with the device');
    const done = await decide(ada, shown, 'allow', ['list']);
    assert.equal(done.status, 200);
    assert.match(
      done.body,
      /You allowed <bdi[^>]*>Telly<\/bdi>. It connects in a moment; until then you can still take it back/,
    );
    const { status, body } = await poll(codes);
    assert.equal(status, 200);
    assert.match((await ada.get(shown.url)).body, /<bdi[^>]*>Telly<\/bdi> is connected/);
    const { access_token, refresh_token, ...rest } = body;
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 1800, scope: 'watch list' });
    const checked = await me(service, String(access_token));
    assert.equal((checked.body['data'] as { email: string }).email, 'ada@example.com');
    pairOf(await refreshWith(service, tv, String(refresh_token)));
    assert.match((await ada.get(`${service.appUrl}/account/apps`)).body, /Telly/);
  });

  test('RFC 8628 §3.3.1: the complete address asks all the same, after sign-in if need be', async () => {
    const codes = await ask();
    const browser = new Browser();
    const first = await browser.get(codes.complete);
    const visit = await browser.submit(first, '/sign-in', { email: 'grace@example.com', password: PASSWORD });
    assert.equal(service.appUrl + visit.headers.get('location'), codes.complete);
    const shown = await browser.get(codes.complete);
    assert.ok(isConsent(shown) && shown.body.includes('grace@example.com'));
    assertRefused(await poll(codes), 400, 'authorization_pending');
    assert.equal((await decide(browser, shown, 'allow')).status, 200);
    pairOf(await poll(codes));
  });

  test('RFC 8628 §6.1: the code counts however it is typed', async () => {
    const codes = await ask();
    const letters = codes.userCode.replace('-', '');
    const ways = [letters, letters.toLowerCase(), ` ${letters} `, [...letters].join(' '), [...letters].join('.')];
    for (const way of [
      ...ways,
      codes.userCode.replace('-', '_'),
      codes.userCode.replace('-', '\u00a0'),
      `-${letters}-`,
      `“${codes.userCode.replace('-', '–')}”`,
      `\u200f${letters}\u200e`,
    ])
      assert.ok(isConsent(await typed(ada, way)), way);
  });

  test('RFC 8628 §3.5: Deny tells the device, and grants nothing', async () => {
    const codes = await ask(service, confidential);
    const done = await decide(ada, await typed(ada, codes.userCode), 'deny');
    assert.equal(done.status, 200);
    assert.match(done.body, /Nothing was shared/);
    for (let time = 0; time < 2; time++) assertRefused(await poll(codes, service, confidential), 400, 'access_denied');
    const about = { clientId: confidential.clientId, limit: 9 };
    assert.deepEqual(await service.installation.grants.list(about), []);
    const [event] = await service.installation.audit.listAuditEvents(about);
    assert.deepEqual([event?.action, event?.actor.kind], ['consent_denied', 'user']);
    const after = await typed(ada, codes.userCode);
    assert.ok(after.status === 200 && !isConsent(after), 'and the code is over');
    assert.match(after.body, /Nothing was shared/);
  });

  test('RFC 8628 §5.4: whatever the policy of the app, a person decides each time', async () => {
    const trusted = await addClient(service, { deviceFlow: true, consent: 'skip' });
    for (let time = 0; time < 2; time++) {
      const codes = await ask(service, trusted);
      const shown = await typed(ada, codes.userCode);
      assert.ok(isConsent(shown));
      await decide(ada, shown, 'allow');
      pairOf(await poll(codes, service, trusted));
    }
  });

  test('RFC 6749 §3.3: scopes may be left out here too, and no form grants more than was asked for', async () => {
    const client = await addClient(service, { deviceFlow: true, scopes: scopes('watch', 'list?', 'buy?') });
    for (const [posted, granted] of [
      [[], 'watch'],
      [['list'], 'watch list'],
      [['list', 'buy', 'admin'], 'watch list'],
    ] as const) {
      const codes = await ask(service, client, { scope: 'watch list' });
      await decide(ada, await typed(ada, codes.userCode), 'allow', [...posted]);
      assert.equal((await poll(codes, service, client)).body['scope'], granted);
    }
    const codes = await ask(service, client, { scope: 'list buy' });
    assert.match((await decide(ada, await typed(ada, codes.userCode), 'allow')).body, /Nothing was shared/);
    assertRefused(await poll(codes, service, client), 400, 'access_denied');
  });

  test('RFC 8707 §2, §2.2: the grant is for the resource that the device asked for', async () => {
    const resource = 'https://tv.example';
    const asking = await addResourceServer(service, { resource });
    const codes = await ask(service, tv, { resource });
    await decide(ada, await typed(ada, codes.userCode), 'allow');
    const { accessToken } = pairOf(await poll(codes, service, tv, { resource }));
    assert.equal((await introspect(service, asking, accessToken)).body['aud'], resource);
    assert.equal((await me(service, accessToken)).status, 401);
    const own = await ask(service, tv, { resource: service.apiUrl });
    await decide(ada, await typed(ada, own.userCode), 'allow');
    assertRefused(await poll(own, service, tv, { resource }), 400, 'invalid_target');
    assert.equal((await me(service, pairOf(await poll(own)).accessToken)).status, 200);
  });
});

describe('RFC 8628 §3.1: what a device may not ask for', { concurrency: true }, () => {
  test('RFC 8628 §3.1: an app that is not registered for devices is unauthorized_client', async () => {
    for (const client of [await addClient(service), await addClient(service, {}, 'public')])
      assertRefused(await postAs(service, client, 'device_authorization'), 400, 'unauthorized_client');
  });

  const refused: [name: string, answer: string, fields: Fields][] = [
    ['another scope', '400 invalid_scope', { scope: 'watch admin' }],
    ['an unknown resource', '400 invalid_target', { resource: 'https://nobody.example' }],
    ['a secret that it has not', '401 invalid_client', { client_secret: 'x' }],
    ['an unknown client', '401 invalid_client', { client_id: 'app_nobody' }],
    ['no client', '401 invalid_client', { client_id: undefined }],
  ];
  for (const [name, expected, fields] of refused)
    test(`RFC 8628 §3.2, RFC 8707 §2: ${name} is ${expected}`, async () => {
      const [status, error = ''] = expected.split(' ');
      assertRefused(await postAs(service, tv, 'device_authorization', fields), Number(status), error);
    });

  test('RFC 8628 §3.1: a repeated parameter is invalid_request, and two resources are invalid_target', async () => {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const asked = (added: string) =>
      postBody(`${service.appUrl}/oauth2/device_authorization`, `client_id=${tv.clientId}&${added}`, type);
    for (const added of ['scope=watch&scope=watch', 'x=1&x=1', `client_id=${tv.clientId}`, 'scope=%ff'])
      assertRefused(await asked(added), 400, 'invalid_request', added);
    assertRefused(await asked(`resource=${service.apiUrl}&resource=${service.apiUrl}`), 400, 'invalid_target');
  });

  test('RFC 8628 §3.1: a device that asks and asks is told to wait', async (t) => {
    const own = await startTestService(t);
    const client = await addClient(own, { deviceFlow: true }, 'public');
    const answers = [];
    for (let count = 0; count < 101; count++) answers.push(await postAs(own, client, 'device_authorization'));
    assert.deepEqual([...new Set(answers.slice(0, -1).map(({ status }) => status))], [200]);
    const [last] = answers.slice(-1) as [JsonAnswer];
    assertRefused(last, 429, 'temporarily_unavailable');
    own.clock.advance(Number(last.headers.get('retry-after')));
    await ask(own, client);
  });
});

describe('RFC 8628 §3.5: polling', { concurrency: true }, () => {
  test('RFC 8628 §3.5: who polls too fast is told to slow down, by five seconds more each time', async (t) => {
    const { own, codes, browser, poll } = await waiting(t);
    const steps: [seconds: number, error: string][] = [
      [0, 'authorization_pending'],
      [5, 'authorization_pending'],
      [1, 'slow_down'], // From now on 10 s.
      [5, 'slow_down'], // 15 s.
      [14, 'slow_down'], // 20 s.
      [20, 'authorization_pending'],
      [19.6, 'authorization_pending'],
    ];
    for (const [seconds, error] of steps) {
      own.clock.advance(seconds);
      assertRefused(await poll(), 400, error);
    }
    await decide(browser, await browser.get(codes.complete), 'allow');
    pairOf(await poll());
  });

  test('RFC 8628 §3.5, §5.4: after 600 seconds nobody decides any more, and the device must ask anew', async (t) => {
    const { own, codes, browser, poll } = await waiting(t);
    const shown = await browser.get(codes.complete);
    own.clock.advance(600);
    assertRefused(await poll(), 400, 'expired_token');
    assert.equal((await browser.get(codes.complete)).status, 400);
    assert.equal((await decide(browser, shown, 'allow')).status, 400);
    assert.deepEqual(await own.installation.grants.list({ limit: 9 }), []);
  });

  test('RFC 8628 §3.5: what was allowed at the last moment can be fetched for a minute', async (t) => {
    for (const [wait, error] of [
      [59, null],
      [60, 'expired_token'],
    ] as const) {
      const { own, codes, browser, poll } = await waiting(t);
      own.clock.advance(599);
      await decide(browser, await browser.get(codes.complete), 'allow');
      own.clock.advance(wait);
      if (error) assertRefused(await poll(), 400, error);
      else pairOf(await poll());
    }
  });

  test('RFC 8628 §3.5, Promise 3: a lost answer is given again while it is unused, and a replay after that ends the grant', async (t) => {
    const { own, client, codes, browser, poll } = await waiting(t);
    await decide(browser, await browser.get(codes.complete), 'allow');
    const pair = pairOf(await poll());
    own.clock.advance(59);
    assert.deepEqual(pairOf(await poll()), pair);
    assert.equal((await me(own, pair.accessToken)).status, 200);
    assertRefused(await poll(), 400, 'invalid_grant');
    assert.equal((await me(own, pair.accessToken)).status, 401);
    assertRefused(await refreshWith(own, client, pair.refreshToken), 400, 'invalid_grant');
    assert.equal((await auditActions(own)).at(-1), 'code_replay');
  });

  test('RFC 8628 §3.5: after the retry window, or a refresh, a replay ends the grant too', async (t) => {
    for (const act of [
      async ({ own }: Awaited<ReturnType<typeof waiting>>) => own.clock.advance(60),
      async ({ own, client }: Awaited<ReturnType<typeof waiting>>, refreshToken: string) =>
        refreshWith(own, client, refreshToken),
    ]) {
      const all = await waiting(t);
      await decide(all.browser, await all.browser.get(all.codes.complete), 'allow');
      const { accessToken, refreshToken } = pairOf(await all.poll());
      await act(all, refreshToken);
      assertRefused(await all.poll(), 400, 'invalid_grant');
      assert.equal((await me(all.own, accessToken)).status, 401);
    }
  });

  test('RFC 8628 §3.5, Promise 1: of 20 polls at once all get one and the same pair', async () => {
    const codes = await ask();
    await decide(ada, await typed(ada, codes.userCode), 'allow');
    const answers = await Promise.all(Array.from({ length: 20 }, () => poll(codes)));
    assert.equal(new Set(answers.map((answer) => JSON.stringify(pairOf(answer)))).size, 1);
  });

  test('RFC 8628 §3.4: a device code is of one client, and of nothing else any use', async () => {
    const codes = await ask();
    await decide(ada, await typed(ada, codes.userCode), 'allow');
    const other = await addClient(service, { deviceFlow: true }, 'public');
    for (const client of [other, confidential]) assertRefused(await poll(codes, service, client), 400, 'invalid_grant');
    assertRefused(await poll(codes, service, { ...tv, clientSecret: 'x' }), 401, 'invalid_client');
    const { deviceCode, userCode } = codes;
    const middle = Math.floor(deviceCode.length / 2);
    const flipped =
      deviceCode.slice(0, middle) + (deviceCode[middle] === 'A' ? 'B' : 'A') + deviceCode.slice(middle + 1);
    for (const text of [userCode, flipped, deviceCode.slice(0, -1), `${deviceCode} `, 'x', '\0'])
      assertRefused(await poll({ ...codes, deviceCode: text }), 400, 'invalid_grant', text);
    assertRefused(await exchangeCode(service, tv, deviceCode), 400, 'invalid_grant');
    assertRefused(await refreshWith(service, tv, deviceCode), 400, 'invalid_grant');
    pairOf(await poll(codes));
  });

  test('Promise 2: nothing comes of it when the person or the operator ends it before the device comes', async () => {
    const client = await addClient(service, { name: 'Toaster', deviceFlow: true }, 'public');
    const codes = await ask(service, client);
    const shown = await typed(grace, codes.userCode);
    await service.installation.clients.pause(client.clientId, service.installation.operator);
    assert.equal((await typed(grace, codes.userCode)).status, 400);
    assert.equal((await decide(grace, shown, 'allow')).status, 400);
    assertRefused(await poll(codes, service, client), 401, 'invalid_client');
    await service.installation.clients.resume(client.clientId, service.installation.operator);
    await decide(grace, await typed(grace, codes.userCode), 'allow');
    await service.installation.clients.revokeGrants(client.clientId, service.installation.operator);
    assertRefused(await poll(codes, service, client), 400, 'invalid_grant');
  });
});

describe('RFC 8628 §3.3: the page', { concurrency: true }, () => {
  test('RFC 8628 §3.3: a code that leads nowhere is told, and can be corrected', async (t) => {
    const { own, codes, browser } = await waiting(t);
    const { userCode } = codes;
    const probe = `"><script>alert(1)</script>`;
    const wrong = [
      'AEIO-UAEI',
      'BCDF',
      `${userCode}B`,
      userCode.slice(1),
      '12345678',
      'ВСРМ-ВСРМ',
      probe,
      '\0',
      'x'.repeat(5000),
    ];
    for (const code of wrong) {
      const visit = await browser.get(`${own.appUrl}/device?${new URLSearchParams({ user_code: code })}`);
      assert.deepEqual([visit.status, isCodeForm(visit), visit.body.includes('<script>')], [400, true, false], code);
    }
    assert.ok(isConsent(await browser.get(codes.complete)));
  });

  test('RFC 8628 §3.3: nobody who is not signed in learns whether a code waits', async () => {
    const { complete } = await ask();
    const visits = await Promise.all(
      [complete, `${page}?user_code=BBBB-BBBB`, page].map((url) => new Browser().get(url)),
    );
    for (const { status, body } of visits) {
      assert.equal(status, 200);
      assert.match(body, /name="password"/);
      assert.doesNotMatch(body, /Telly/);
    }
    const { status, headers } = await new Browser().post(
      complete,
      { decision: 'allow' },
      { 'Sec-Fetch-Site': 'same-origin' },
    );
    const location = headers.get('location') ?? '';
    assert.deepEqual([status, service.appUrl + location], [303, complete]);
  });

  test('RFC 6749 §10.12: only the form of this code, in this browser, by its own page', async () => {
    const [codes, other] = [await ask(), await ask()];
    const shown = await typed(ada, codes.userCode);
    const ofOther = await typed(ada, other.userCode);
    const ofGrace = await typed(grace, codes.userCode);
    const good = formOf(shown.body, '/device').fields;
    const site = { 'Sec-Fetch-Site': 'same-origin' };
    const press = (fields: Record<string, string>, headers: Record<string, string | undefined> = site, browser = ada) =>
      browser.post(codes.complete, { ...good, decision: 'allow', ...fields }, headers);
    const tokenOf = (visit: Visit, action = '/device') => String(formOf(visit.body, action).fields['form_token']);
    const refused = [
      await press({}, { 'Sec-Fetch-Site': 'cross-site' }),
      await press({}, { Origin: 'https://evil.test' }),
      await press({}, site, grace),
      await press({ form_token: '' }),
      await press({ form_token: 'x' }),
      await press({ form_token: tokenOf(ofOther) }),
      await press({ form_token: tokenOf(ofGrace) }),
      await press({ form_token: tokenOf(shown, '/sign-out') }),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status),
      Array(refused.length).fill(403),
    );
    for (const decision of ['', 'Allow', 'yes']) assert.equal((await press({ decision })).status, 400, decision);
    assertRefused(await poll(codes), 400, 'authorization_pending');
    assert.equal((await press({})).status, 200);
    pairOf(await poll(codes));
    assertRefused(await poll(other), 400, 'authorization_pending');
  });

  test('Promise 1: of two people who decide on one code the first one does, and the other is told', async () => {
    const codes = await ask();
    const [hers, ofGrace] = [await typed(ada, codes.userCode), await typed(grace, codes.userCode)];
    assert.equal((await decide(grace, ofGrace, 'allow')).status, 200);
    for (const decision of ['allow', 'deny']) {
      const late = await decide(ada, hers, decision);
      assert.ok(late.status === 400 && isCodeForm(late), decision);
    }
    const { accessToken } = pairOf(await poll(codes));
    const { body } = await me(service, accessToken);
    assert.equal((body['data'] as { email: string }).email, 'grace@example.com');
  });

  test('a person who presses Allow twice, or comes back to the page, hears that it is done while it lasts', async () => {
    const radio = await addClient(service, { deviceFlow: true }, 'public');
    const codes = await ask(service, radio);
    const shown = await typed(ada, codes.userCode);
    await decide(ada, shown, 'allow');
    const { accessToken } = pairOf(await poll(codes, service, radio));
    const done = /You can go back to your device/;
    for (const visit of [
      await decide(ada, shown, 'allow'),
      await decide(ada, shown, 'deny'),
      await ada.get(codes.complete),
    ])
      assert.ok(visit.status === 200 && done.test(visit.body));
    const other = await typed(grace, codes.userCode);
    assert.ok(other.status === 400 && isCodeForm(other), 'nobody else does');
    assert.equal((await me(service, accessToken)).status, 200);
    const apps = await ada.get(`${service.appUrl}/account/apps`);
    await ada.submit(apps, '/account/apps/revoke', { client_id: radio.clientId });
    assert.ok(isCodeForm(await ada.get(codes.complete)), 'taken back, it is no longer so');
  });

  test('Promise 1: of ten presses at once one decides, and the others are told', async (t) => {
    const { service: own } = await startOnFile(t);
    await addUser(own);
    const codes = await ask(own, await addClient(own, { deviceFlow: true }, 'public'));
    const browser = await signedInBrowser(own);
    const shown = await browser.get(codes.complete);
    own.clock.advance(300); // Long enough that a press first waits for the disk, to note the session's use: all come together.
    const presses = Array.from({ length: 10 }, (_, index) => decide(browser, shown, index % 2 ? 'allow' : 'deny'));
    const visits = await Promise.all(presses);
    assert.equal(new Set(visits.filter(({ status }) => status === 200).map(({ body }) => body)).size, 1);
    for (const visit of visits) assert.ok(visit.status === 200 || isCodeForm(visit));
    assert.equal((await auditActions(own)).filter((action) => action.startsWith('consent_')).length, 1);
  });

  test('a double click on Allow never hears that the code does not work', async (t) => {
    const { service: own } = await startOnFile(t);
    await addUser(own);
    const codes = await ask(own, await addClient(own, { deviceFlow: true }, 'public'));
    const browser = await signedInBrowser(own);
    const shown = await browser.get(codes.complete);
    own.clock.advance(300); // As above: all come together.
    const visits = await Promise.all(Array.from({ length: 10 }, () => decide(browser, shown, 'allow')));
    for (const { status, body } of visits)
      assert.match(
        `${status} ${body}`,
        /^200 .*You can go back to your device|^409 .*This code was answered just now/s,
      );
    assert.equal((await browser.get(codes.complete)).status, 200, 'Continue shows the answer');
    assert.equal((await auditActions(own)).filter((action) => action === 'consent_allowed').length, 1);
  });

  test('RFC 9700 §4.16: every page has the headers that keep it safe, and its forms stay here', async () => {
    const codes = await ask();
    const shown = await typed(ada, codes.userCode);
    const visits = [await ada.get(page), await typed(ada, 'x'), shown, await decide(ada, shown, 'deny')];
    for (const { headers, body } of visits) {
      const csp = String(headers.get('content-security-policy')).split('; ');
      for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
        assert.ok(csp.includes(part), part);
      const names = ['cache-control', 'x-frame-options', 'referrer-policy', 'content-type'];
      assert.deepEqual(
        names.map((name) => headers.get(name)),
        ['no-store', 'DENY', 'same-origin', 'text/html; charset=utf-8'],
      );
      assert.doesNotMatch(body, /<script| style="| on\w+="/);
    }
  });
});

describe('RFC 8628 §5.1: guessing codes', { concurrency: true }, () => {
  test('RFC 8628 §5.1, RFC 6749 §10.10: twenty wrong ones, and also the right one has to wait', async (t) => {
    const { own, codes, browser } = await waiting(t);
    const shown = await browser.get(codes.complete);
    const guess = () => browser.get(`${own.appUrl}/device?user_code=BBBB-BBBB`);
    for (let count = 0; count < 20; count++) assert.equal((await guess()).status, 400);
    const slowed = await guess();
    assert.equal(slowed.status, 429);
    assert.ok(isCodeForm(slowed) && Number(slowed.headers.get('retry-after')) > 0);
    assert.equal((await browser.get(codes.complete)).status, 429);
    assert.equal((await decide(browser, shown, 'allow')).status, 429);
    own.clock.advance(Number(slowed.headers.get('retry-after')));
    assert.ok(isConsent(await browser.get(codes.complete)));
  });

  test('RFC 8628 §5.1: what can be no code costs no try', async (t) => {
    const { own, codes, browser } = await waiting(t);
    for (let count = 0; count < 30; count++)
      assert.equal((await browser.get(`${own.appUrl}/device?user_code=BBBB-${count}`)).status, 400);
    assert.ok(isConsent(await browser.get(codes.complete)));
  });

  test('RFC 8628 §5.1: of two hundred at once twenty are looked up', async (t) => {
    const { own, codes, browser } = await waiting(t);
    const head = requestHead(own.appUrl, 'GET /device?user_code=BBBB-BBBB', {
      Connection: 'keep-alive',
      Cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    });
    const { text } = await sendRaw(own.appUrl, head.repeat(199) + head.replace('keep-alive', 'close'));
    const statuses = [...text.matchAll(/^HTTP\/1.1 (\d+)/gm)].map(([, status]) => status);
    assert.equal(statuses.length, 200);
    assert.equal(statuses.filter((status) => status === '400').length, 20);
    assert.equal(statuses.filter((status) => status === '429').length, 180);
    own.clock.advance(60);
    for (let count = 0; count < 30; count++) assert.ok(isConsent(await browser.get(codes.complete)));
  });

  test('RFC 8628 §5.1: the /64s of one /56 guess four times as often as one, together', async (t) => {
    const own = await startTestService(t, { VALETKEY_TRUSTED_PROXIES: '127.0.0.1' });
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      await addUser(own, `${n}@example.com`);
      const browser = new Browser({ 'X-Forwarded-For': `2001:db8:1:10${n}::1` });
      const form = await browser.get(`${own.appUrl}/sign-in`);
      await browser.submit(form, '/sign-in', { email: `${n}@example.com`, password: PASSWORD });
      for (let count = 0; count < 20; count++)
        statuses.push((await browser.get(`${own.appUrl}/device?user_code=BBBB-BBBB`)).status);
    }
    assert.deepEqual([statuses.indexOf(429), statuses.lastIndexOf(400)], [80, 79]);
  });

  test('RFC 8628 §5.1: another account at the same address, or another address of the same account, is no way around', async (t) => {
    const own = await startTestService(t, { VALETKEY_TRUSTED_PROXIES: '127.0.0.1' });
    const from = async (address: string, email: string) => {
      const browser = new Browser({ 'X-Forwarded-For': address });
      const form = await browser.get(`${own.appUrl}/sign-in`);
      await browser.submit(form, '/sign-in', { email, password: PASSWORD });
      return browser;
    };
    for (const name of ['one', 'two']) await addUser(own, `${name}@example.com`);
    const guess = async (browser: Browser) => (await browser.get(`${own.appUrl}/device?user_code=BBBB-BBBB`)).status;
    const guesser = await from('192.0.2.1', 'one@example.com');
    for (let count = 0; count < 20; count++) await guess(guesser);
    assert.equal(await guess(await from('192.0.2.1', 'two@example.com')), 429);
    assert.equal(await guess(await from('192.0.2.2', 'one@example.com')), 429);
    assert.equal(await guess(await from('192.0.2.2', 'two@example.com')), 400);
  });
});
