/** Changing one's own password, on the wire. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Browser, type PostedFields, type Visit } from '../../support/browser.ts';
import { auditActions, me, obtainPair, signedInBrowser, signIn } from '../../support/flow.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../../support/service.ts';

const service = await startTestService({ after });
const NEXT = 'a horse of another color';
let people = 0;

/** Somebody new, signed in. */
async function somebody() {
  people += 1;
  const email = `person${people}@example.com`;
  await addUser(service, email);
  return { email, browser: await signedInBrowser(service, email) };
}

const url = `${service.appUrl}/account/password`;

async function change(browser: Browser, fields: PostedFields = {}, headers = {}): Promise<Visit> {
  const all = { current_password: PASSWORD, password: NEXT, password_again: NEXT, ...fields };
  return browser.submit(await browser.get(url), '/account/password', all, headers);
}

const isSignedIn = async (browser: Browser) =>
  (await browser.get(`${service.appUrl}/account/apps`)).body.includes('Connected apps</h1>');

test('ASVS 6.2.2, 6.2.3: a password is changed by who knows the current one, and is the only one from then on', async () => {
  const { email, browser } = await somebody();
  const visit = await change(browser);
  assert.equal(visit.status, 303);
  const page = await browser.get(new URL(String(visit.headers.get('location')), url).href);
  assert.match(page.body, /role="status".*Your password was changed/s);
  assert.equal((await signIn(service, new Browser(), email)).status, 400);
  assert.equal((await signIn(service, new Browser(), email, NEXT)).status, 303);
  assert.equal((await auditActions(service)).includes('password_changed'), true);
});

test('ASVS 7.4.3: a changed password ends every other session, and gives this browser a new one', async () => {
  const { email, browser } = await somebody();
  const elsewhere = await signedInBrowser(service, email);
  const stolen = new Browser();
  for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
  assert.equal((await change(browser)).status, 303);
  assert.equal(await isSignedIn(browser), true);
  assert.equal(await isSignedIn(elsewhere), false);
  assert.equal(await isSignedIn(stolen), false, 'a copy of the cookie from before is worth nothing');
});

test('apps keep their access when the password is changed: they never had it', async () => {
  const { browser } = await somebody();
  const { accessToken } = await obtainPair(service, browser, await addClient(service));
  assert.equal((await change(browser)).status, 303);
  assert.equal((await me(service, accessToken)).status, 200);
});

test('a browser that knows the account knows it with the new password as well', async () => {
  const { email, browser } = await somebody();
  await change(browser);
  // Strangers use up what they may guess at the account; who comes back is not held up.
  const stranger = new Browser();
  for (let n = 0; n < 11; n += 1) await signIn(service, stranger, email, `wrong ${n} and wrong`);
  assert.equal((await signIn(service, new Browser(), email, NEXT)).status, 429);
  await browser.submit(await browser.get(`${service.appUrl}/sign-out`), '/sign-out');
  assert.equal((await signIn(service, browser, email, NEXT)).status, 303);
});

test('a form for passwords waits for hours, so that nobody types them twice; then it says so and changes nothing', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const browser = await signedInBrowser(own);
  const address = `${own.appUrl}/account/password`;
  const fields = { current_password: PASSWORD, password: NEXT, password_again: NEXT };
  const early = await browser.get(address);
  own.clock.advance(7 * 3600);
  await browser.get(address);
  own.clock.advance(5 * 3600 + 1);
  const late = await browser.submit(early, '/account/password', fields);
  assert.equal(late.status, 403);
  assert.match(late.body, /open for too long.*Nothing was changed/s);
  own.clock.advance(11 * 3600);
  assert.equal((await browser.submit(late, '/account/password', fields)).status, 303);
});

const REFUSED: Record<string, [PostedFields, RegExp]> = {
  'a wrong current password': [{ current_password: 'not it at all' }, /current password is not right/],
  'no current password': [{ current_password: '' }, /current password is not right/],
  'two new ones that differ': [{ password_again: `${NEXT}!` }, /two new passwords differ/],
  'a short one': [{ password: 'k3vu8', password_again: 'k3vu8' }, /too short/],
  'a long one': [{ password: 'x'.repeat(1025), password_again: 'x'.repeat(1025) }, /too long/],
  'a common one': [{ password: 'password1', password_again: 'password1' }, /most common/],
  'the product’s name': [{ password: 'Valetkey123', password_again: 'Valetkey123' }, /too close to a name/],
};
for (const [what, [fields, says]] of Object.entries(REFUSED))
  test(`ASVS 6.2: ${what}: 400 with the reason, nothing is changed and no password comes back`, async () => {
    const { email, browser } = await somebody();
    const visit = await change(browser, fields);
    assert.equal(visit.status, 400);
    assert.match(visit.body, says);
    assert.match(visit.body, /aria-invalid="true"/);
    for (const value of Object.values(fields))
      if (value !== '') assert.ok(!visit.body.includes(String(value)), 'what was typed comes back');
    assert.equal(await isSignedIn(browser), true);
    assert.equal((await signIn(service, new Browser(), email)).status, 303);
  });

test('Promise 6: wrong current passwords are counted as tries to sign in are', async () => {
  const { browser } = await somebody();
  const statuses: number[] = [];
  // Ten by the mark of this browser, then ten as a stranger's.
  for (let n = 0; n < 21; n += 1) statuses.push((await change(browser, { current_password: `wrong ${n}` })).status);
  assert.deepEqual(new Set(statuses.slice(0, 20)), new Set([400]));
  assert.equal(statuses[20], 429);
  const right = await change(browser);
  assert.equal(right.status, 429);
  assert.ok(Number(right.headers.get('retry-after')) > 0);
});

test('a post from elsewhere, without its own token or without a session changes nothing', async () => {
  const { email, browser } = await somebody();
  const other = await somebody();
  assert.equal((await change(browser, {}, { 'Sec-Fetch-Site': 'cross-site' })).status, 403);
  const stale = await change(browser, { form_token: 'x' });
  assert.equal(stale.status, 403);
  assert.match(stale.body, /opened twice/);
  const [, foreign = ''] = /name="form_token" value="([^"]+)"/.exec((await other.browser.get(url)).body) ?? [];
  assert.equal((await change(browser, { form_token: foreign })).status, 403);
  const page = await browser.get(url);
  const typed = { current_password: PASSWORD, password: NEXT, password_again: NEXT };
  await browser.submit(await browser.get(`${service.appUrl}/sign-out`), '/sign-out');
  const signedOut = await browser.submit(page, '/account/password', typed);
  assert.equal(signedOut.status, 403);
  assert.match(signedOut.body, /role="alert".*Please sign in/s);
  browser.cookies.clear();
  const blocked = await browser.submit(page, '/account/password', typed);
  assert.equal(blocked.status, 403);
  assert.match(blocked.body, /role="alert".*Your browser blocks our cookies/s);
  assert.equal((await signIn(service, new Browser(), email)).status, 303);
});

test('a double click changes the password once, and each answer says so', async () => {
  const { email, browser } = await somebody();
  const page = await browser.get(url);
  const press = () => {
    const copy = new Browser();
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    const typed = { current_password: PASSWORD, password: NEXT, password_again: NEXT };
    return { copy, visit: copy.submit(page, '/account/password', typed) };
  };
  const before = (await auditActions(service)).filter((action) => action === 'password_changed').length;
  const presses = [press(), press(), press()];
  for (const { copy, visit } of presses) {
    const { status, headers } = await visit;
    assert.equal(status, 303);
    const done = await copy.get(new URL(String(headers.get('location')), url).href);
    assert.match(done.body, /role="status".*Your password was changed/s, 'and this browser is signed in');
  }
  assert.equal((await auditActions(service)).filter((action) => action === 'password_changed').length, before + 1);
  const late = await press().visit;
  assert.equal(late.status, 403);
  assert.match(late.body, /Please sign in.*If you pressed the button twice, your new password may be set already/s);
  const { copy } = presses[0] as (typeof presses)[0];
  const fromBefore = await copy.submit(page, '/account/password', { password: NEXT, password_again: NEXT });
  assert.match(fromBefore.body, /Your new password may be set already/);
  for (const body of [late.body, fromBefore.body]) assert.doesNotMatch(body, /[Nn]othing was changed/);
  assert.equal((await signIn(service, new Browser(), email, NEXT)).status, 303);
});

test('two new passwords that differ are told with all else that is wrong with the first', async () => {
  const { browser } = await somebody();
  const differs = await change(browser, { password_again: `${NEXT}!` });
  assert.match(
    differs.body,
    /The two new passwords differ<\/strong> Nothing was changed\. Type the same new password twice\.<\/div>/,
  );
  for (const [password, says] of [
    ['short', /The two new passwords differ<\/strong>[^<]*The new password is too short\. Use at least 8/],
    ['password1', /The two new passwords differ<\/strong>[^<]*The new password is one of the most common ones\. /],
  ] as const) {
    const { status, body } = await change(browser, { password, password_again: 'x' });
    assert.equal(status, 400);
    assert.match(body, says);
  }
});

test('apps are spoken of only to a person who has some', async () => {
  const { browser } = await somebody();
  const hints = async () => {
    const [page, signOut] = [await browser.get(url), await browser.get(`${service.appUrl}/sign-out`)];
    return [/connected apps keep their access/.test(page.body), /Apps you’ve connected/.test(signOut.body)];
  };
  assert.deepEqual(await hints(), [false, false]);
  await obtainPair(service, browser, await addClient(service));
  assert.deepEqual(await hints(), [true, true]);
});

test('/account says where to go to the signed-in person, and asks everybody else to sign in first', async () => {
  const address = `${service.appUrl}/account`;
  const { email, browser } = await somebody();
  const page = await browser.get(address);
  assert.equal(page.status, 200);
  for (const path of ['/account/apps', '/account/password']) assert.ok(page.body.includes(`href="${path}"`));
  assert.ok(page.body.includes('action="/sign-out"'));
  const visitor = new Browser();
  const first = await visitor.get(address);
  assert.match(first.body, /<h1>Sign in/);
  const done = await visitor.submit(first, '/sign-in', { email, password: PASSWORD });
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/account']);
});

test('of two different new passwords at once one is set, and only its browser stays signed in', async () => {
  const { email, browser } = await somebody();
  const page = await browser.get(url);
  const other = new Browser();
  for (const [name, value] of browser.cookies) other.cookies.set(name, value);
  const visits = await Promise.all(
    [browser, other].map((each, n) => {
      const password = `${NEXT} ${n}`;
      const typed = { current_password: PASSWORD, password, password_again: password };
      return each.submit(page, '/account/password', typed);
    }),
  );
  assert.deepEqual(visits.map(({ status }) => status).sort(), [303, 400]);
  const set = visits.findIndex(({ status }) => status === 303);
  assert.equal((await signIn(service, new Browser(), email, `${NEXT} ${set}`)).status, 303);
  assert.equal((await signIn(service, new Browser(), email, `${NEXT} ${1 - set}`)).status, 400);
});

test('who is not signed in signs in first, and comes back to the page', async () => {
  const { email } = await somebody();
  const browser = new Browser();
  const page = await browser.get(url);
  const visit = await browser.submit(page, '/sign-in', { email, password: PASSWORD });
  assert.equal(visit.headers.get('location'), '/account/password');
});
