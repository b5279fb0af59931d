import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser, formOf, type Visit } from '../../support/browser.ts';
import { asJson, authorizeUrl, me, obtainPair, signedInBrowser, signIn } from '../../support/flow.ts';
import { addClient, addUser, freePort, PASSWORD, startTestService, type TestService } from '../../support/service.ts';
import { standardUrl } from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
/** Refused before any hashing, but counted: guesses that cost nothing here. */
const HOPELESS = 'x'.repeat(1025);

/** Answers the account that a browser is signed in as, or null. */
async function whoIs({ appUrl }: TestService, browser: Browser): Promise<string | null> {
  return /[a-z]+@example\.com/.exec((await browser.get(`${appUrl}/account/apps`)).body)?.[0] ?? null;
}

function guesses(own: TestService, browser: Browser, count: number, headers = () => ({})): Promise<Visit[]> {
  const visits: Promise<Visit[]> = Promise.resolve([]);
  return Array.from({ length: count }).reduce<Promise<Visit[]>>(async (done) => {
    const before = await done;
    Object.assign(browser.headers, headers());
    return [...before, await signIn(own, browser, 'ada@example.com', HOPELESS)];
  }, visits);
}

test('ASVS 6.3.8: a wrong password looks the same for known and unknown accounts', async () => {
  const browser = new Browser();
  const look = async (email: string) => {
    const { status, headers, body } = await signIn(service, browser, email, 'a wrong password');
    const names = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
    return { status, names, body: body.replaceAll(email, '').replace(/name="form_token" value="[^"]*"/, '') };
  };
  const [known, unknown] = [await look('ada@example.com'), await look('bob@example.com')];
  assert.deepEqual(known, unknown);
  assert.equal(known.status, 400);
});

test('Promise 6: 30 wrong guesses from one address slow that address down, and never lock the owner out', async (t) => {
  const own = await startTestService(t, { VALETKEY_TRUSTED_PROXIES: '127.0.0.1' });
  await addUser(own);
  const from = (address: string) => new Browser({ 'X-Forwarded-For': address });
  const visits = await guesses(own, from('192.0.2.1'), 30);
  assert.deepEqual([...new Set(visits.map(({ status }) => status))], [400, 429]);
  const last = visits.at(-1) as Visit;
  assert.ok(Number(last.headers.get('retry-after')) > 0);
  assert.match(last.headers.get('ratelimit') ?? '', /^"default";r=0;t=\d+$/);
  assert.equal((await signIn(own, from('192.0.2.1'))).status, 429, 'even the right one has to wait there');
  assert.equal((await signIn(own, from('192.0.2.2'))).status, 303);
  own.clock.advance(Number(last.headers.get('retry-after')));
  assert.equal((await signIn(own, from('192.0.2.1'))).status, 303, 'and is told truly for how long');
});

test('Promise 6: one address is slowed down over many accounts too', async (t) => {
  const own = await startTestService(t);
  const browser = new Browser();
  const page = await browser.get(`${own.appUrl}/sign-in`);
  const post = (n: number) => browser.submit(page, '/sign-in', { email: `u${n}@example.com`, password: HOPELESS });
  const visits = await Promise.all(Array.from({ length: 101 }, (_, n) => post(n)));
  assert.deepEqual(
    visits
      .map(({ status }) => status)
      .sort()
      .slice(-2),
    [400, 429],
  );
});

describe('X-Forwarded-For counts from trusted proxies only', { concurrency: true }, () => {
  let turn = 0;
  const random = () => ({ 'X-Forwarded-For': `203.0.113.${(turn++ % 250) + 1}` });
  const constant = (value: string) => () => ({ 'X-Forwarded-For': value });
  const trusted = { VALETKEY_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' };
  const cases: [
    name: string,
    variables: Record<string, string>,
    headers: () => Record<string, string>,
    last: number,
  ][] = [
    ['is ignored from everybody else', {}, random, 429],
    ['counts from a trusted proxy', trusted, random, 400],
    [
      'counts with its right-most hop',
      trusted,
      () => ({ 'X-Forwarded-For': `203.0.113.${turn++ % 250}, 192.0.2.7` }),
      429,
    ],
    [
      'is followed through trusted hops',
      trusted,
      () => ({ 'X-Forwarded-For': `${Object.values(random())}, 10.1.2.3` }),
      400,
    ],
    [
      'with a name is never looked up, and bypasses nothing',
      trusted,
      () => ({ 'X-Forwarded-For': `h${turn++}.example` }),
      429,
    ],
    ['that is a letter bypasses nothing', trusted, constant('a'), 429],
    ['that is empty bypasses nothing', trusted, constant(''), 429],
    ['of 10 KB bypasses nothing', trusted, constant('1.2.3.4,'.repeat(1250)), 429],
    ['that names the proxy itself bypasses nothing', trusted, constant('127.0.0.1'), 429],
    [
      'counts an IPv6 network as one',
      trusted,
      () => ({ 'X-Forwarded-For': `2001:db8:1:2::${(turn++).toString(16)}` }),
      429,
    ],
  ];
  for (const [name, variables, headers, last] of cases)
    test(`RFC 9700 §4.13, Promise 6: X-Forwarded-For ${name}`, async (t) => {
      const own = await startTestService(t, variables);
      const visits = await guesses(own, new Browser(), 11, headers);
      assert.equal(visits[10]?.status, last);
      assert.ok(visits.every(({ status }) => status < 500));
    });
});

test('ASVS 7.2.4: sign-in makes a new session and ends the one before; a forged one is never taken over', async () => {
  const browser = new Browser();
  browser.cookies.set('valetkey_session', 'forged');
  const page = await browser.get(`${service.appUrl}/sign-in`);
  const visitor = browser.cookies.get('valetkey_visitor');
  await browser.submit(page, '/sign-in', { email: 'ada@example.com', password: PASSWORD });
  const first = browser.cookies.get('valetkey_session');
  assert.match(String(first), /^[A-Za-z0-9_-]{43}$/);
  assert.equal(browser.cookies.has('valetkey_visitor'), false, 'the visitor from before is gone');
  const again = new Browser();
  again.cookies.set('valetkey_session', String(first));
  const form = await new Browser().get(`${service.appUrl}/sign-in`);
  const { fields } = formOf(form.body, '/sign-in');
  again.cookies.set('valetkey_visitor', 'another');
  const refused = await again.post(`${service.appUrl}/sign-in`, {
    ...fields,
    email: 'ada@example.com',
    password: PASSWORD,
  });
  assert.deepEqual([refused.status, refused.headers.get('location')], [303, '/account/apps']);
  assert.equal(again.cookies.get('valetkey_session'), first, 'a form token counts for one visitor only');
  again.cookies.set('valetkey_visitor', String(visitor));
  assert.equal((await again.submit(page, '/sign-in', { email: 'ada@example.com', password: PASSWORD })).status, 303);
  assert.notEqual(again.cookies.get('valetkey_session'), first);
  assert.equal(await whoIs(service, browser), null, 'the session before is over');
  assert.equal(await whoIs(service, again), 'ada@example.com');
});

test('RFC 6749 §10.12: the sign-in form of one browser signs nobody in at another, whose owner would use a stranger’s account', async () => {
  const [stranger, victim] = [new Browser(), new Browser()];
  const [strangers, own] = [
    await stranger.get(`${service.appUrl}/sign-in`),
    await victim.get(`${service.appUrl}/sign-in`),
  ];
  const credentials = { email: 'ada@example.com', password: PASSWORD };
  const visit = await victim.submit(strangers, '/sign-in', credentials);
  assert.deepEqual([visit.status, victim.cookies.has('valetkey_session')], [403, false]);
  assert.equal((await victim.submit(own, '/sign-in', credentials)).status, 303);
  assert.equal((await stranger.submit(strangers, '/sign-in', credentials)).status, 303);
});

test('ASVS 3.3: cookies on https are __Host-, Secure, HttpOnly and SameSite=Lax; pages send HSTS', async (t) => {
  const own = await startTestService(t, {
    VALETKEY_APP_URL: 'https://auth.example',
    VALETKEY_API_URL: 'https://api.example',
    VALETKEY_APP_LISTEN: `127.0.0.1:${await freePort()}`,
    VALETKEY_API_LISTEN: `127.0.0.1:${await freePort()}`,
  });
  await addUser(own);
  const browser = new Browser();
  const visit = await signIn(own, browser);
  const cookies = visit.headers.getSetCookie().sort();
  assert.match(
    String(cookies[0]),
    /^__Host-valetkey_known=[\w-]{51}; Max-Age=31536000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  assert.match(
    String(cookies[1]),
    /^__Host-valetkey_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  assert.match(String(cookies[2]), /^__Host-valetkey_visitor=; Max-Age=0; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  const { headers, body } = await browser.get(`${own.appUrl}/sign-out`);
  assert.equal(headers.get('strict-transport-security'), 'max-age=31536000');
  assert.ok(!body.includes('127.0.0.1'));
  const url = authorizeUrl(own, await addClient(own));
  const absent = { 'Sec-Fetch-Site': undefined };
  const foreign = await browser.submit(await browser.get(url), '/auth', { decision: 'allow' }, absent);
  assert.equal(foreign.status, 403, 'the address that is bound is not the origin');
});

describe('sign-out', () => {
  test('ASVS 7.4.1: a GET signs nobody out, and neither does another site', async () => {
    const browser = await signedInBrowser(service);
    const page = await browser.get(`${service.appUrl}/sign-out`);
    const cross = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' };
    assert.equal((await browser.submit(page, '/sign-out', {}, cross)).status, 403);
    const unproven = await browser.submit(page, '/sign-out', { form_token: '' });
    assert.deepEqual([unproven.status, formOf(unproven.body, '/sign-out').fields['continue']], [403, undefined]);
    assert.equal(await whoIs(service, browser), 'ada@example.com');
  });

  test('ASVS 7.4.1: after sign-out the session is over on the server, and its cookie is taken', async () => {
    const browser = await signedInBrowser(service);
    const session = String(browser.cookies.get('valetkey_session'));
    const visit = await browser.submit(await browser.get(`${service.appUrl}/sign-out`), '/sign-out');
    assert.match(visit.headers.getSetCookie().join(), /^valetkey_session=; Max-Age=0;/);
    browser.cookies.set('valetkey_session', session);
    assert.equal(await whoIs(service, browser), null);
    const again = await new Browser().post(`${service.appUrl}/sign-out`, {}, { 'Sec-Fetch-Site': 'same-origin' });
    assert.equal(again.status, 303, 'nobody is signed out twice, and that is no error');
  });
});

test('RFC 6749 §10.12: a sign-out form counts for 10 minutes; after them it is asked again', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const browser = await signedInBrowser(own);
  const page = await browser.get(`${own.appUrl}/sign-out`);
  own.clock.advance(601);
  assert.equal((await browser.submit(page, '/sign-out')).status, 403);
  assert.equal(await whoIs(own, browser), 'ada@example.com');
  const consent = await browser.get(authorizeUrl(own, await addClient(own)));
  own.clock.advance(601);
  const asked = await browser.submit(consent, '/sign-out');
  const back = await browser.submit(asked, '/sign-out');
  assert.equal(new URL(String(back.headers.get('location')), own.appUrl).href, consent.url, 'the app is not forgotten');
});

test('a person who signed in in another tab goes on, and need not sign in again', async () => {
  const browser = new Browser();
  const [one, other] = [await browser.get(`${service.appUrl}/sign-in`), await browser.get(`${service.appUrl}/sign-in`)];
  await browser.submit(one, '/sign-in', { email: 'ada@example.com', password: PASSWORD });
  const session = browser.cookies.get('valetkey_session');
  const visit = await browser.submit(other, '/sign-in', { email: 'ada@example.com', password: 'wrong' });
  assert.deepEqual([visit.status, visit.headers.get('location')], [303, '/account/apps']);
  assert.equal(browser.cookies.get('valetkey_session'), session);
});

test('ASVS 6.2.7: passwords count in full, to the last character', async () => {
  const passwords = { 'long@example.com': `${'p4ssphrase '.repeat(9)}!`, 'emoji@example.com': '🔑🌊'.repeat(10) };
  for (const [email, password] of Object.entries(passwords)) {
    const { accounts, operator } = service.installation;
    await accounts.add({ email, name: 'Grace Hopper', username: null, password }, operator);
    for (const wrong of [
      `${password.slice(0, -2)}x`,
      `${password.toUpperCase()}!`,
      `${password} `,
      password.slice(0, 72),
    ])
      if (wrong !== password) assert.equal((await signIn(service, new Browser(), email, wrong)).status, 400, wrong);
    assert.equal((await signIn(service, new Browser(), email, password)).status, 303, email);
  }
});

describe('sign-in under load', () => {
  test('ASVS 6.2.9: a password that is too long is refused before anything is done with it', async () => {
    const browser = new Browser();
    assert.equal((await signIn(service, browser, 'ada@example.com', 'x'.repeat(2 ** 20))).status, 413);
    assert.equal((await signIn(service, browser, 'ada@example.com', 'x'.repeat(4097))).status, 400);
  });

  test('Promise 6: during a storm of sign-ins checks stay fast, and whoever is turned away is told until when', async (t) => {
    const own = await startTestService(t);
    await addUser(own);
    const { accessToken } = await obtainPair(own, await signedInBrowser(own), await addClient(own));
    const browser = new Browser();
    const page = await browser.get(`${own.appUrl}/sign-in`);
    const storm = Array.from({ length: 80 }, (_, n) =>
      browser.submit(page, '/sign-in', { email: `storm${n}@example.com`, password: 'a wrong password' }),
    );
    const times: number[] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        const start = performance.now();
        assert.equal((await me(own, accessToken)).status, 200);
        times.push(performance.now() - start);
      }
    })();
    const visits = await Promise.all(storm);
    isOver = true;
    await watching;
    const statuses = new Set(visits.map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), [400, 503]);
    for (const { status, headers } of visits) assert.equal(headers.has('retry-after'), status !== 400);
    assert.ok(Number(times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)]) < 1500, `${times}`);
  });
});

test('ASVS 7.4.3: a new password and a disabled account end every session', async () => {
  const { accounts, operator } = service.installation;
  const { id, email } = await addUser(service, 'sessions@example.com');
  const browsers = [await signedInBrowser(service, email), await signedInBrowser(service, email)];
  await accounts.setPassword(id, 'another horse battery', operator);
  for (const browser of browsers) assert.equal(await whoIs(service, browser), null);
  assert.equal((await signIn(service, new Browser(), email)).status, 400, 'the earlier password');
  const [browser] = browsers as [Browser];
  assert.equal((await signIn(service, browser, email, 'another horse battery')).status, 303);
  await accounts.disable(id, operator);
  assert.equal(await whoIs(service, browser), null);
  assert.equal((await signIn(service, browser, email, 'another horse battery')).status, 400);
  await accounts.enable(id, operator);
  assert.equal(await whoIs(service, browser), null, 'enabling brings no session back');
});

test('ASVS 7.3.1, 7.3.2: a session ends 12 hours after its last use, and after 30 days in any case', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const hours = (count: number) => own.clock.advance(count * 3600);
  const idle = await signedInBrowser(own);
  own.clock.advance(-1);
  hours(12);
  assert.equal(await whoIs(own, idle), 'ada@example.com');
  hours(12);
  assert.equal(await whoIs(own, idle), null);
  const busy = await signedInBrowser(own);
  for (let day = 0; day < 59; day++) {
    hours(12);
    own.clock.advance(-1);
    assert.equal(await whoIs(own, busy), 'ada@example.com', `half day ${day}`);
  }
  hours(12);
  own.clock.advance(59);
  assert.equal(await whoIs(own, busy), null);
});

test('ASVS 3.7.2, RFC 6749 §10.15, RFC 9700 §2.1: sign-in and sign-out only ever go on to a page of ours that asks for a sign-in', async () => {
  const refused = [
    'https://evil.test/',
    '//evil.test/',
    '/\\evil.test/',
    '\\\\evil.test',
    '/\t/evil.test/',
    ' /account',
    'javascript:alert(1)',
    `${service.appUrl}.evil.test/`,
    '/account/apps?\r\nX: y',
    '//127.0.0.1/account/apps',
    '///account/apps',
    '/\\account/apps',
    '/account\\apps',
    '/account/apps?\\',
    '/account%2Fapps',
    '/%61ccount/apps',
    '/oauth2/../device',
    '/account/apps/',
    '/account/apps/revoke',
    '/Account/apps',
    '/account/apps#elsewhere',
    '/account/apps?a#elsewhere',
    '/account/apps%23',
    '/oauth2/authorize#',
    '/oauth2/authorize/',
    '/auth/oauth2/authorize%3Fclient_id=a',
    '/auth/oauth2',
    '/device/more',
    '/devices',
    '/developers',
    '/',
    '/sign-in',
    '/sign-out?x',
    '/oauth2/token',
    '/v2/me',
    '/a-page-of-the-product',
    '/account/settings',
    'account/apps',
    '?user_code=a',
    `${service.appUrl}/account/apps`,
    '/account/apps?é',
    '',
  ];
  const accepted = [
    '/account/apps',
    '/account/password?a=b',
    '/device?user_code=BCDF-GHJK',
    '/auth/oauth2/authorize?client_id=%C3%A9&state=a%23b%5C',
    '/oauth2/authorize?client_id=a&redirect_uri=https://app.example/callback?a',
  ];
  for (const target of [...refused, ...accepted]) {
    const browser = new Browser();
    const url = `${service.appUrl}/sign-in?${new URLSearchParams({ continue: target })}`;
    const expected = refused.includes(target) ? '/account/apps' : target;
    const visit = await browser.submit(await browser.get(url), '/sign-in', {
      email: 'ada@example.com',
      password: PASSWORD,
      continue: target,
    });
    assert.equal(visit.headers.get('location'), expected, target);
    assert.equal((await browser.get(url)).headers.get('location'), expected, `signed in: ${target}`);
    const page = await browser.get(`${service.appUrl}/sign-out`);
    const out = await browser.submit(page, '/sign-out', { continue: target });
    assert.equal(out.headers.get('location'), refused.includes(target) ? '/sign-out' : target);
  }
});

test('RFC 6749 §10.12: a sign-in form counts for 12 hours in the browser that it was shown to', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const browser = new Browser();
  const page = await browser.get(`${own.appUrl}/sign-in`);
  const fields = { email: 'ada@example.com', password: PASSWORD };
  own.clock.advance(12 * 3600 + 1);
  const late = await browser.submit(page, '/sign-in', fields);
  assert.equal(late.status, 403);
  assert.match(late.body, /role="alert".*This page was open for too long/s);
  assert.equal((await new Browser().submit(late, '/sign-in', fields)).status, 403, 'another browser');
  own.clock.advance(12 * 3600);
  assert.equal((await browser.submit(late, '/sign-in', fields)).status, 303, 'the answer is a fresh form');
});

test('who blocks cookies is told so, and who opened the page twice is told something else', async () => {
  const fields = { email: 'ada@example.com', password: PASSWORD };
  const blocking = new Browser();
  let page = await blocking.get(authorizeUrl(service, await addClient(service)));
  for (const time of ['first', 'second']) {
    blocking.cookies.clear();
    page = await blocking.submit(page, '/sign-in', fields);
    assert.equal(page.status, 403, time);
    assert.match(page.body, /role="alert".*Your browser blocks our cookies.*Allow cookies for this site/s);
  }
  assert.ok(service.log.some((line) => line.includes('"error":"no_cookies"')));
  const browser = new Browser();
  const one = await browser.get(`${service.appUrl}/sign-in`);
  browser.cookies.clear();
  await browser.get(`${service.appUrl}/sign-in`);
  const twice = await browser.submit(one, '/sign-in', fields);
  assert.match(twice.body, /role="alert".*This page was opened twice.*please sign in here/s);
  assert.equal((await browser.submit(twice, '/sign-in', fields)).status, 303);
  await browser.submit(await browser.get(`${service.appUrl}/sign-out`), '/sign-out');
  const signedOut = await browser.submit(one, '/sign-in', fields);
  assert.match(signedOut.body, /signed in or out in another window/, 'not cookies: its mark is there');
});

test('RFC 6749 §4.1.2.1: from sign-in a link leads back to the app, which is told access_denied', async () => {
  const app = await addClient(service);
  const backOf = ({ body }: Visit) => {
    const [, href = ''] = /<a href="([^"]*)">Go back to/.exec(body) ?? [];
    return new URL(href.replaceAll('&amp;', '&'));
  };
  const [published, standard] = [authorizeUrl(service, app), standardUrl(service, app)];
  for (const url of [
    published,
    standard,
    `${service.appUrl}/sign-in?continue=${encodeURIComponent(new URL(standard).pathname + new URL(standard).search)}`,
  ]) {
    const page = await new Browser().get(url);
    const { origin, pathname, searchParams } = backOf(page);
    assert.equal(origin + pathname, 'https://client.example/callback');
    assert.equal(searchParams.get('error'), 'access_denied');
    assert.ok(searchParams.get('state'));
    assert.equal(searchParams.get('iss'), url === published ? null : service.appUrl);
    assert.match(page.body, /Can’t sign in\? Ask the people who run this service/);
    const wrong = await new Browser().submit(page, '/sign-in', { email: 'x', password: 'x' });
    assert.equal(backOf(wrong).searchParams.get('error'), 'access_denied', 'also after a mistake');
  }
  assert.doesNotMatch((await new Browser().get(`${service.appUrl}/sign-in`)).body, /Go back to/);
});

test('ASVS 6.3.8: the answer to a request without a session is the same wherever one is needed', async () => {
  const url = `${service.appUrl}/account/apps`;
  const { status, body } = await new Browser().get(url);
  assert.deepEqual([status, formOf(body, '/sign-in').fields['continue']], [200, '/account/apps']);
  const { status: posted } = await new Browser().post(
    `${url}/revoke`,
    { client_id: 'x' },
    { 'Sec-Fetch-Site': 'same-origin' },
  );
  assert.equal(posted, 403);
  assert.equal((await asJson(await fetch(`${service.appUrl}/healthz`))).status, 200);
});
