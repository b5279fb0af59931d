// Attacks on the operators' address, on the wire: each is refused, and leaves no row behind.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RIGHTS } from '../../../src/operator/access/rights.ts';
import { Browser } from '../../support/browser.ts';
import {
  addOperator,
  addSignInAddress,
  answerTo,
  enrolledOperator,
  keptFields,
  postOwn,
  type SignedInOperator,
  startConsole,
  type TestConsole,
  usePasskey,
} from '../../support/console.ts';
import { ceremonyIn, SoftPasskey, type Tampered } from '../../support/passkeys.ts';

/** The kinds of events so far. */
async function actions({ installation }: TestConsole): Promise<string[]> {
  return (await installation.audit.listAuditEvents({ limit: 200 })).map(({ action }) => action);
}

/** Signs in with an answer that is not a good one; must be refused. */
async function assertRefused(service: TestConsole, { passkey }: SignedInOperator, tampered: Tampered, about: string) {
  const browser = new Browser();
  const before = await actions(service);
  const page = await browser.get(`${service.operatorUrl}/sign-in`);
  const { status, body } = await postOwn(browser, `${service.operatorUrl}/sign-in`, {
    answer: passkey.get(page, tampered),
  });
  assert.deepEqual([status, /was not accepted/.test(body)], [400, true], about);
  assert.ok(!browser.cookies.has('operator_session'), about);
  assert.deepEqual(await actions(service), before, about);
}

test('WebAuthn L3 §7.2: an answer for another origin, host, ceremony or operator, or without presence or verification, is refused', async (t) => {
  const service = await startConsole(t);
  const operator = await enrolledOperator(service);
  const { appUrl } = service;
  const cases: Record<string, Tampered> = {
    'another origin': { origin: 'https://operators.example.com' },
    'the app’s origin': { origin: appUrl },
    'another port': { origin: 'http://localhost:1' },
    'another RP id': { rpId: 'example.com' },
    'the answer that makes a passkey': { type: 'webauthn.create' },
    'a challenge of nobody': { challenge: Buffer.alloc(54).toString('base64url') },
    'no user verification': { without: 4 },
    'no user presence': { without: 1 },
    'another operator’s handle': { userHandle: Buffer.from('opr_other').toString('base64url') },
    'no handle': { userHandle: null },
    'a frame of another site': { crossOrigin: true },
  };
  for (const [about, tampered] of Object.entries(cases)) await assertRefused(service, operator, tampered, about);
  const other = await enrolledOperator(service, 'read', 'Bob');
  const browser = new Browser();
  const page = await browser.get(`${service.operatorUrl}/sign-in`);
  const forged = { ...JSON.parse(other.passkey.get(page)), id: operator.passkey.id, rawId: operator.passkey.id };
  const { status } = await postOwn(browser, `${service.operatorUrl}/sign-in`, { answer: JSON.stringify(forged) });
  assert.equal(status, 400, 'another key’s signature');
  for (const answer of ['', '{', 'null', '[]', '{"id":1}', '{"id":"x"}', `{"id":"${operator.passkey.id}"}`])
    assert.equal((await postOwn(browser, `${service.operatorUrl}/sign-in`, { answer })).status, 400, answer);
});

test('WebAuthn L3 §7.1: a new passkey for another origin, host or ceremony, or without verification, is not enrolled', async (t) => {
  const service = await startConsole(t);
  const { enrollUrl } = await addOperator(service);
  const cases: Tampered[] = [
    { origin: service.appUrl },
    { rpId: 'example.com' },
    { type: 'webauthn.get' },
    { without: 4 },
    { challenge: 'AAAA' },
    { crossOrigin: true },
  ];
  for (const tampered of cases) {
    const browser = new Browser();
    const page = await browser.get(enrollUrl);
    const answer = new SoftPasskey(service.operatorUrl).create(page, tampered);
    assert.equal((await postOwn(browser, enrollUrl, { answer })).status, 400, JSON.stringify(tampered));
    assert.ok(!browser.cookies.has('operator_session'));
  }
  assert.deepEqual(await actions(service), ['operator_added']);
});

test('WebAuthn L3 §13.4.3: a challenge works once, in the browser, for the purpose and the operator that it was made for, and for 5 minutes', async (t) => {
  const service = await startConsole(t);
  const url = `${service.operatorUrl}/sign-in`;
  const { operator, passkey, browser: signedIn } = await enrolledOperator(service);
  const browser = new Browser();
  const page = await browser.get(url);
  const answer = passkey.get(page);
  assert.equal((await postOwn(new Browser(), url, { answer })).status, 400, 'a browser without the cookie');
  const other = new Browser();
  await other.get(url);
  assert.equal((await postOwn(other, url, { answer })).status, 400, 'another browser');
  const { browser: bob } = await enrolledOperator(service, 'read', 'Bob');
  assert.equal((await postOwn(bob, `${service.operatorUrl}/confirm`, { answer })).status, 400, 'another operator');
  const mine = await signedIn.get(`${service.operatorUrl}/confirm`);
  const { passkey: bobs } = await enrolledOperator(service, 'admin', 'Cem');
  const others = await postOwn(signedIn, `${service.operatorUrl}/confirm`, { answer: bobs.get(mine) });
  assert.equal(others.status, 400, 'another operator’s passkey at my page');
  assert.match((await signedIn.get(`${service.operatorUrl}/`)).body, /Hello, <bdi>Ann/);
  signedIn.cookies.set('operator_browser', String(browser.cookies.get('operator_browser')));
  assert.equal((await postOwn(signedIn, `${service.operatorUrl}/confirm`, { answer })).status, 400, 'another purpose');
  assert.equal((await postOwn(browser, url, { answer })).status, 303);
  browser.cookies.delete('operator_session');
  assert.equal((await postOwn(browser, url, { answer })).status, 400, 'a replay');
  assert.ok(!browser.cookies.has('operator_session'));
  const [replay] = await service.installation.audit.listAuditEvents({ limit: 1 });
  assert.match(
    `${replay?.action} ${replay?.detail}`,
    /^operator_refused \{"passkey":"laptop","reason":"the answer was used before/,
  );

  const late = await browser.get(url);
  service.clock.advance(299);
  assert.equal((await postOwn(browser, url, { answer: passkey.get(late) })).status, 303, 'in time');
  browser.cookies.delete('operator_session');
  const later = await browser.get(url);
  service.clock.advance(300);
  const { status, body } = await postOwn(browser, url, { answer: passkey.get(later) });
  assert.deepEqual([status, /open for too long/.test(body)], [400, true]);
  assert.equal(ceremonyIn(later).rpId, 'localhost');
  assert.ok(operator.id);
});

test('WebAuthn L3 §13.4.3: a challenge to add a passkey in a session enrolls none at a one-time address', async (t) => {
  const service = await startConsole(t);
  const { operator, enrollUrl } = await addOperator(service);
  const browser = new Browser();
  await postOwn(browser, await addSignInAddress(service, operator));
  const page = await browser.get(`${service.operatorUrl}/passkeys/new`);
  const answer = new SoftPasskey(service.operatorUrl).create(page);
  assert.equal((await postOwn(browser, enrollUrl, { answer })).status, 400);
  assert.equal((await postOwn(browser, `${service.operatorUrl}/passkeys/new`, { answer })).status, 303);
});

test('WebAuthn L3 §6.1.1: a counter that does not go on is refused, unless both are 0', async (t) => {
  const service = await startConsole(t);
  const operator = await enrolledOperator(service);
  const { passkey } = operator;
  const signIn = (counter: number) => {
    passkey.counter = counter;
    return usePasskey(new Browser(), passkey, `${service.operatorUrl}/sign-in`);
  };
  for (const counter of [0, 0, 5, 6]) assert.equal((await signIn(counter)).status, 303, String(counter));
  await assertRefused(service, operator, { counter: 5, isForged: true }, 'unsigned, it is no one’s');
  const before = await actions(service);
  const url = `${service.operatorUrl}/sign-in`;
  const refused: string[] = [];
  for (const counter of [5, 6, 5, 0]) {
    const browser = new Browser();
    const answer = passkey.get(await browser.get(url), { counter });
    const { status, body } = await postOwn(browser, url, { answer });
    assert.deepEqual([status, /was not accepted/.test(body)], [400, true], String(counter));
    assert.ok(!browser.cookies.has('operator_session'), String(counter));
    refused.push('operator_refused');
    assert.deepEqual(await actions(service), [...refused, ...before], 'each one ends sessions, and is recorded');
    const [recorded] = await service.installation.audit.listAuditEvents({ limit: 1 });
    assert.match(String(recorded?.detail), /^\{"passkey":"laptop","reason":"its counter did not go on/);
  }
  assert.equal((await signIn(7)).status, 303);
});

test('WebAuthn L3 §6.1.1: of two copies of a passkey that answer at once with one count, one is refused', async (t) => {
  const service = await startConsole(t);
  const { passkey } = await enrolledOperator(service);
  passkey.counter = 9;
  const url = `${service.operatorUrl}/sign-in`;
  const browsers = [new Browser(), new Browser()];
  const pages = await Promise.all(browsers.map((browser) => browser.get(url)));
  const answers = pages.map((page) => passkey.get(page));
  const done = await Promise.all(browsers.map((browser, at) => postOwn(browser, url, { answer: answers[at] ?? '' })));
  assert.deepEqual(done.map(({ status }) => status).sort(), [303, 400]);
});

describe('operators §1: a post is taken from our own page in its own window alone', () => {
  const elsewhere: Record<string, Record<string, string>> = {
    'cross-site': { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' },
    'a sibling host': { 'Sec-Fetch-Site': 'same-site', Origin: 'http://app.localhost' },
    'an old browser, another origin': { Origin: 'https://evil.example' },
    'an opaque origin': { Origin: 'null' },
    'the app on the same host': { Origin: 'http://localhost:1' },
    'no word of where from': {},
    'a frame': { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Mode': 'navigate' },
    'a script': { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Mode': 'cors' },
  };
  test('whatever the form', async (t) => {
    const service = await startConsole(t);
    const { browser: own, passkey } = await enrolledOperator(service);
    const browser = new Browser();
    for (const [name, value] of own.cookies) browser.cookies.set(name, value);
    const { enrollUrl } = await addOperator(service, 'read', 'Bob');
    const before = await actions(service);
    const confirm = await browser.get(`${service.operatorUrl}/confirm`);
    const signIn = await new Browser().get(`${service.operatorUrl}/sign-in`);
    for (const [about, headers] of Object.entries(elsewhere)) {
      for (const [url, fields] of [
        [`${service.operatorUrl}/confirm`, { answer: passkey.get(confirm) }],
        [`${service.operatorUrl}/sign-in`, { answer: passkey.get(signIn) }],
        [`${service.operatorUrl}/sign-out`, {}],
        [enrollUrl, { answer: '{}' }],
      ] as const) {
        const { status, body } = await browser.post(url, fields, headers);
        assert.deepEqual([status, /not sent from here/.test(body)], [403, true], `${about} ${url}`);
      }
    }
    assert.deepEqual(await actions(service), before);
    assert.equal((await browser.get(`${service.operatorUrl}/`)).status, 200, 'still signed in');
  });
});

test('operators §1: a frame or a script gets no page, and every answer forbids frames', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service);
  for (const headers of [
    { 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Mode': 'navigate' },
    { 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Mode': 'cors' },
  ]) {
    const framed = new Browser(headers);
    for (const [name, value] of browser.cookies) framed.cookies.set(name, value);
    for (const path of ['/', '/sign-in?x', '/confirm']) {
      const { status, body } = await framed.get(service.operatorUrl + path);
      if (status !== 303) assert.deepEqual([status, /in a window/.test(body)], [403, true], path);
    }
  }
  for (const path of ['/', '/sign-in', '/enroll', '/confirm', '/nothing']) {
    const { headers } = await browser.get(service.operatorUrl + path);
    assert.match(String(headers.get('content-security-policy')), /frame-ancestors 'none'/, path);
    assert.equal(headers.get('x-frame-options'), 'DENY', path);
    assert.equal(headers.get('cache-control'), 'no-store', path);
  }
});

test('operators §3: an operator who is disabled midway has no session, and starts none', async (t) => {
  const service = await startConsole(t);
  const { store } = service.installation.operators;
  const { operator, browser, passkey } = await enrolledOperator(service);
  const page = await browser.get(`${service.operatorUrl}/confirm`);
  const fresh = new Browser();
  const signIn = await fresh.get(`${service.operatorUrl}/sign-in`);
  const { installation, clock } = service;
  const event = { at: clock.now(), action: 'operator_disabled', actor: installation.operator } as const;
  const about = { clientId: operator.id, resourceOwnerId: null, grantId: null, detail: null };
  assert.equal(await store.disableOperator(operator.id, 'no bound', { ...event, ...about }), null);
  const { status, headers } = await browser.get(`${service.operatorUrl}/`);
  assert.deepEqual([status, headers.get('location')], [303, '/sign-in?continue=%2F']);
  const confirmed = await postOwn(browser, `${service.operatorUrl}/confirm`, { answer: passkey.get(page) });
  assert.match(String(confirmed.headers.get('location')), /^\/sign-in/);
  const refused = await postOwn(fresh, `${service.operatorUrl}/sign-in`, { answer: passkey.get(signIn) });
  assert.equal(refused.status, 400);
});

test('WebAuthn L3 §7.2 step 6: a confirmation may leave the operator unnamed, but names no other', async (t) => {
  const service = await startConsole(t);
  const { browser, passkey } = await enrolledOperator(service);
  const url = `${service.operatorUrl}/confirm`;
  const confirm = async (userHandle: string | null) =>
    (await postOwn(browser, url, { answer: passkey.get(await browser.get(url), { userHandle }) })).status;
  for (const other of ['', Buffer.from('opr_other').toString('base64url')]) assert.equal(await confirm(other), 400);
  assert.equal(await confirm(null), 303);
});

test('WebAuthn L3 §5.8.4: of the transports that an answer names, the known ones are kept', async (t) => {
  const service = await startConsole(t);
  for (const [name, transports, kept] of [
    ['Ann', 5, []],
    ['Bob', 'usb', []],
    ['Cem', ['usb', 'x', 5, null, 'usb', 'nfc'], ['nfc', 'usb']],
  ] as const) {
    const { operator, enrollUrl } = await addOperator(service, 'admin', name);
    const [browser, passkey] = [new Browser(), new SoftPasskey(service.operatorUrl)];
    const answer = passkey.create(await browser.get(enrollUrl), { transports });
    assert.equal((await postOwn(browser, enrollUrl, { answer })).status, 303, name);
    assert.deepEqual((await service.installation.operators.store.listPasskeys(operator.id))[0]?.transports, kept);
    assert.equal((await usePasskey(browser, passkey, `${service.operatorUrl}/confirm`)).status, 303, name);
  }
});

test('operators §1: a request in which a cookie of ours comes twice is refused', async (t) => {
  const service = await startConsole(t);
  for (const name of ['operator_session', 'operator_browser']) {
    const twice = new Browser({ Cookie: `${name}=a; ${name}=b` });
    assert.equal((await twice.get(`${service.operatorUrl}/sign-in`)).status, 400, name);
    assert.equal((await new Browser({ Cookie: `${name}=a` }).get(`${service.operatorUrl}/sign-in`)).status, 200, name);
  }
});

test('operators §1: sign-in and confirmation go on within this address alone', async (t) => {
  const service = await startConsole(t);
  const { passkey, browser } = await enrolledOperator(service);
  const outside = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\evil.example',
    '/x\n/y',
    'javascript:alert(1)',
    '/sign-in?continue=/x',
  ];
  for (const given of outside) {
    const url = `${service.operatorUrl}/confirm?${new URLSearchParams({ continue: given })}`;
    const { headers } = await usePasskey(browser, passkey, url);
    assert.equal(headers.get('location'), '/', given);
  }
  const { headers } = await usePasskey(browser, passkey, `${service.operatorUrl}/confirm?continue=/operators%3Fa=b`);
  assert.equal(headers.get('location'), '/operators?a=b');
});

test('operators §3: the pages read no key, and a session below /v1 counts for nothing', async (t) => {
  const service = await startConsole(t);
  const { operator, browser } = await enrolledOperator(service);
  const page = `/operators/${operator.id}`;
  const shown = await browser.get(service.operatorUrl + page);
  const made = await browser.submit(shown, `${page}/keys`, { name: 'portal', rights: [...RIGHTS] });
  const [key = ''] = /vk_ok_[\w-]+/.exec(made.body) ?? [];
  const withKey = new Browser({ Authorization: `Bearer ${key}` });
  const called = await withKey.get(`${service.operatorUrl}/v1/clients`);
  assert.equal(called.status, 200, called.body);
  for (const path of ['/', '/operators', '/passkeys', '/confirm']) {
    const { status, headers } = await withKey.get(service.operatorUrl + path);
    assert.deepEqual([status, /^\/sign-in/.test(String(headers.get('location')))], [303, true], path);
  }
  assert.equal((await browser.get(`${service.operatorUrl}/v1/clients`)).status, 401);
});

test('operators §2: an act is done only with an answer of its own operator and browser, once, and a form loaded again raises no alarm', async (t) => {
  const service = await startConsole(t);
  const { browser, passkey } = await enrolledOperator(service);
  const { passkey: bobs } = await enrolledOperator(service, 'admin', 'Bob');
  const names = async () => (await service.installation.operators.registry.list()).map(({ name }) => name);
  const before = await names();
  const at = `${service.operatorUrl}/operators`;
  service.clock.advance(301);
  const asked = await postOwn(browser, at, { name: 'Cem', role: 'read' });
  const kept = keptFields(asked);
  const elsewhere = passkey.get(await new Browser().get(`${service.operatorUrl}/sign-in`));
  const old = answerTo(asked, passkey);
  for (const answer of ['', '{}', bobs.get(asked), elsewhere]) {
    const refused = await postOwn(browser, at, { ...kept, ...old, answer });
    assert.equal(refused.status, answer === '' ? 403 : 400);
    assert.deepEqual(keptFields(refused), kept, 'nothing is lost');
    assert.doesNotMatch(refused.body, /clientDataJSON|value="\{\}"/, 'an answer is never sent back');
  }
  service.clock.advance(301);
  assert.match((await postOwn(browser, at, { ...kept, ...old })).body, /open for too long/);
  assert.deepEqual(await names(), before);

  const sent = { ...kept, ...answerTo(await postOwn(browser, at, kept), passkey) };
  const session = browser.cookies.get('operator_session');
  assert.equal((await postOwn(browser, at, sent)).status, 200);
  assert.notEqual(browser.cookies.get('operator_session'), session, 'a confirmed session has a new token');
  assert.deepEqual(await names(), [...before, 'Cem']);
  const again = await postOwn(browser, at, sent);
  assert.equal(again.status, 400, 'the name is taken');
  const replayed = { ...sent, name: 'Dan' };
  const { browser: cems } = await enrolledOperator(service, 'admin', 'Cem II');
  assert.match(
    (await postOwn(cems, at, replayed)).body,
    /You’re signed in as .*Cem II/,
    'another operator is asked anew',
  );
  service.clock.advance(301);
  assert.equal((await postOwn(browser, at, replayed)).status, 400);
  assert.ok(!(await names()).includes('Dan'), 'an answer counts once');
  const later = await service.installation.audit.listAuditEvents({ limit: 20 });
  assert.ok(!later.some(({ detail }) => /copied|used before/.test(detail ?? '')), 'a page loaded again is no attack');
});
