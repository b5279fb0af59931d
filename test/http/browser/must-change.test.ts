/** Passwords that somebody else knows, on the wire: they are good for choosing another one, and for nothing else. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Browser, type PostedFields, type Visit } from '../../support/browser.ts';
import { auditActions, authorizeUrl, signedInBrowser, signIn } from '../../support/flow.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../../support/service.ts';

const service = await startTestService({ after });
const { accounts, operator } = service.installation;
const NEXT = 'a horse of another color';
const PATH = '/sign-in/new-password';
let people = 0;

/** Somebody whose password was made for them. */
async function somebody(): Promise<string> {
  people += 1;
  const email = `person${people}@example.com`;
  await addUser(service, email);
  await accounts.setPassword(email, PASSWORD, operator, true);
  return email;
}

function set(browser: Browser, page: Visit, fields: PostedFields = {}, headers = {}): Promise<Visit> {
  return browser.submit(page, PATH, { password: NEXT, password_again: NEXT, ...fields }, headers);
}

const PAGES = ['/account/apps', '/account/password', '/device', '/sign-in/new-password'];

async function assertNobody(browser: Browser): Promise<void> {
  assert.equal(browser.cookies.has('valetkey_session'), false);
  for (const path of PAGES) {
    const visit = await browser.get(service.appUrl + path);
    if (path === '/sign-in/new-password') assert.equal(visit.headers.get('location'), '/sign-in');
    else assert.match(visit.body, /<h1>Sign in/, path);
  }
}

test('ASVS 6.4.1: a password that was made for somebody opens no page before another one is set', async () => {
  const email = await somebody();
  const browser = new Browser();
  const page = await signIn(service, browser, email);
  assert.equal(page.status, 200);
  assert.match(page.body, /<h1>Choose your own password/);
  await assertNobody(browser);
  const client = await addClient(service);
  assert.match((await browser.get(authorizeUrl(service, client))).body, /<h1>Sign in/, 'no consent');
  const done = await set(browser, page);
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/account/apps']);
  assert.match((await browser.get(`${service.appUrl}/account/apps`)).body, /Connected apps<\/h1>/);
  assert.equal((await signIn(service, new Browser(), email)).status, 400, 'the old one is over');
  assert.equal((await signIn(service, new Browser(), email, NEXT)).status, 303, 'and nothing is asked again');
  assert.equal((await auditActions(service)).includes('password_changed'), true);
});

test('who was on the way to an app goes on to it with the new password', async () => {
  const email = await somebody();
  const url = authorizeUrl(service, await addClient(service));
  const browser = new Browser();
  const page = await browser.submit(await browser.get(url), '/sign-in', { email, password: PASSWORD });
  assert.match(page.body, /<h1>Choose your own password/);
  const again = await set(browser, page, { password: 'short', password_again: 'short' });
  const done = await set(browser, again);
  assert.equal(done.status, 303);
  assert.equal(new URL(done.headers.get('location') ?? '', url).href, url);
  assert.match((await browser.get(url)).body, /name="decision" value="allow"/);
});

const REFUSED: Record<string, [PostedFields, RegExp]> = {
  'the same again': [{ password: PASSWORD, password_again: PASSWORD }, /the password that you were given/],
  'two that differ': [{ password_again: `${NEXT}!` }, /two new passwords differ/],
  'two that differ, one of them short': [
    { password: 'short' },
    /two new passwords differ[^<]*<\/strong>[^<]*too short/,
  ],
  'a short one': [{ password: 'k3vu8', password_again: 'k3vu8' }, /too short/],
  'a common one': [{ password: 'password1', password_again: 'password1' }, /most common/],
};
for (const [what, [fields, says]] of Object.entries(REFUSED))
  test(`ASVS 6.4.1: ${what}: 400 with the reason, and nobody is signed in`, async () => {
    const email = await somebody();
    const browser = new Browser();
    const visit = await set(browser, await signIn(service, browser, email), fields);
    assert.equal(visit.status, 400);
    assert.match(visit.body, says);
    await assertNobody(browser);
    assert.equal((await set(browser, visit)).status, 303);
  });

test('the form is good for the browser and the person whose password was right, and for ten minutes', async () => {
  const [ada, bob] = [await somebody(), await somebody()];
  const browser = new Browser();
  const page = await signIn(service, browser, ada);
  const { id } = await accounts.show(bob);
  const plain = await addUser(service, 'nobody-asked@example.com');
  const tokenOf = (visit: Visit) => /name="form_token" value="([^"]+)"/.exec(visit.body)?.[1] ?? '';
  const signInToken = tokenOf(await browser.get(`${service.appUrl}/sign-in`));
  const refused: [string, Promise<Visit>][] = [
    ['another browser', set(new Browser(), page)],
    ['another person', set(browser, page, { account: id })],
    ['somebody whose password is their own', set(browser, page, { account: plain.id })],
    ['nobody', set(browser, page, { account: '' })],
    ['no token', set(browser, page, { form_token: '' })],
    ['the token of the sign-in form', set(browser, page, { form_token: signInToken })],
    ['another site', set(browser, page, {}, { 'Sec-Fetch-Site': 'cross-site' })],
  ];
  for (const [what, visit] of refused) assert.equal((await visit).status, 403, what);
  service.clock.advance(601);
  const late = await set(browser, page);
  assert.equal(late.status, 403);
  assert.match(late.body, /<h1>Sign in.*open for too long/s);
  for (const email of [ada, bob]) assert.match((await signIn(service, new Browser(), email)).body, /Choose your own/);
  assert.equal((await signIn(service, new Browser(), plain.email)).status, 303);
});

test('the form is over when a password was set meanwhile, or the account disabled', async () => {
  const ends: ((email: string) => Promise<unknown>)[] = [
    async (email) => {
      service.clock.advance(1);
      await accounts.setPassword(email, PASSWORD, operator, true);
    },
    (email) => accounts.setPassword(email, PASSWORD, operator),
    (email) => accounts.disable(email, operator),
    (email) => accounts.delete(email, operator),
  ];
  for (const end of ends) {
    const email = await somebody();
    const browser = new Browser();
    const page = await signIn(service, browser, email);
    await end(email);
    assert.equal((await set(browser, page)).status, 403);
    await assertNobody(browser);
  }
});

test('of many who set it at once one is signed in', async () => {
  const email = await somebody();
  const browsers = Array.from({ length: 5 }, () => new Browser());
  const pages = await Promise.all(browsers.map((browser) => signIn(service, browser, email)));
  const done = await Promise.all(
    browsers.map((browser, n) =>
      set(browser, pages[n] as Visit, { password: `${NEXT} ${n}`, password_again: `${NEXT} ${n}` }),
    ),
  );
  assert.deepEqual(done.map(({ status }) => status).sort(), [303, 403, 403, 403, 403]);
});

test('a double click sets it once, and each answer signs in; later the sign-in form does not deny it', async () => {
  const email = await somebody();
  const browser = new Browser();
  const page = await signIn(service, browser, email);
  const copies = [new Browser(), new Browser()];
  for (const copy of copies) for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  const done = await Promise.all(copies.map((copy) => set(copy, page)));
  for (const { status, headers } of done) assert.deepEqual([status, headers.get('location')], [303, '/account/apps']);
  for (const copy of copies)
    assert.match((await copy.get(`${service.appUrl}/account/apps`)).body, /Connected apps<\/h1>/);
  const late = await set(browser, page);
  assert.equal(late.status, 403);
  assert.match(late.body, /<h1>Sign in.*your new password may be set already/s);
});

test('a session of somebody else in this browser ends', async () => {
  await addUser(service, 'eve@example.com');
  const email = await somebody();
  const browser = await signedInBrowser(service, 'eve@example.com');
  const stolen = new Browser();
  for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
  // The sign-in form in place of a page for who is signed in: as with prompt=login.
  const url = authorizeUrl(service, await addClient(service), { prompt: 'login' }).replace('/auth/oauth2', '/oauth2');
  const form = await browser.get(`${url}&response_type=code`);
  const page = await browser.submit(form, '/sign-in', { email, password: PASSWORD });
  assert.equal((await set(browser, page)).status, 303);
  assert.match((await stolen.get(`${service.appUrl}/account/apps`)).body, /<h1>Sign in/);
});

test('an invitation takes the place of a password that must be changed, but not by the same', async () => {
  const email = await somebody();
  const { token } = await accounts.invite(email, operator);
  const browser = new Browser();
  const page = await browser.get(`${service.installation.newPasswordUrl}?${new URLSearchParams({ token })}`);
  const same = { password: PASSWORD, password_again: PASSWORD };
  const refused = await browser.submit(page, '/account/new-password', same);
  assert.deepEqual([refused.status, /you were given/.test(refused.body)], [400, true]);
  const next = { password: NEXT, password_again: NEXT };
  assert.equal((await browser.submit(refused, '/account/new-password', next)).status, 200);
  assert.equal((await signIn(service, browser, email, NEXT)).status, 303);
});
