/** Invitations on the wire: one-time addresses where people set passwords that no operator knows. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { allAccounts } from '../../support/all-accounts.ts';
import { Browser, type PostedFields, type Visit } from '../../support/browser.ts';
import { auditActions, signedInBrowser, signIn } from '../../support/flow.ts';
import { registerProvider } from '../../support/provider.ts';
import { addUser, PASSWORD, startTestService } from '../../support/service.ts';

const service = await startTestService({ after });
const { accounts, operator, newPasswordUrl } = service.installation;
const NEXT = 'a horse of another color';
const PATH = '/account/new-password';
let people = 0;

const someEmail = () => {
  people += 1;
  return `person${people}@example.com`;
};

/** The one-time address of somebody, as the command prints it. */
async function invite(email: string): Promise<string> {
  const { token } = await accounts.invite(email, operator);
  return `${newPasswordUrl}?${new URLSearchParams({ token })}`;
}

/** Somebody new without a password, and their address. */
async function newcomer(): Promise<{ email: string; address: string }> {
  const person = { email: someEmail(), name: 'Grace Hopper', username: null };
  const { token } = await accounts.addInvited(person, operator);
  return { email: person.email, address: `${newPasswordUrl}?${new URLSearchParams({ token })}` };
}

/** Somebody with a password, and their address. */
async function somebody(): Promise<{ email: string; address: string }> {
  const email = someEmail();
  await addUser(service, email);
  return { email, address: await invite(email) };
}

function set(browser: Browser, page: Visit, fields: PostedFields = {}, headers = {}): Promise<Visit> {
  return browser.submit(page, PATH, { password: NEXT, password_again: NEXT, ...fields }, headers);
}

function assertDead(visit: Visit): void {
  assert.equal(visit.status, 400);
  assert.match(visit.body, /This link doesn’t work any more.*ask the person who sent you this link/s);
  assert.doesNotMatch(visit.body, /valetkey user/, 'an invited person has no command line');
}

test('ASVS 6.4.1: a person without a password sets one at the address, and signs in with it', async () => {
  const { email, address } = await newcomer();
  assert.equal((await signIn(service, new Browser(), email, NEXT)).status, 400);
  const browser = new Browser();
  const done = await set(browser, await browser.get(address));
  assert.equal(done.status, 200);
  assert.match(done.body, /Your password is set.*href="\/sign-in"/s);
  const apps = await browser.get(`${service.appUrl}/account/apps`);
  assert.match(apps.body, /<h1>Sign in/, 'it signs nobody in by itself');
  assert.equal((await signIn(service, browser, email, NEXT)).status, 303);
  const actions = await auditActions(service);
  assert.deepEqual(actions.includes('password_set_by_invitation'), true);
});

test('ASVS 6.4.1: the address works once; used, replaced, late or made up it is one page that says whom to ask', async () => {
  const { email, address } = await somebody();
  const [browser, other] = [new Browser(), new Browser()];
  const [page, page2] = [await browser.get(address), await other.get(address)];
  assert.equal((await set(browser, page)).status, 200);
  assertDead(await set(other, page2, { password: 'quite another one', password_again: 'quite another one' }));
  assertDead(await other.get(address));
  assert.equal((await signIn(service, new Browser(), email, NEXT)).status, 303);

  const replaced = await invite(email);
  const newer = await invite(email);
  assertDead(await other.get(replaced));
  assert.equal((await other.get(newer)).status, 200);

  const token = new URL(newer).searchParams.get('token') ?? '';
  const [id = '', secret = ''] = token.split('.');
  const madeUp = [
    '',
    id,
    `${id}.`,
    `${id}.${'A'.repeat(43)}`,
    secret,
    `usr_nobody.${secret}`,
    '\0',
    `\0.${secret}`,
    `${token}A`,
  ];
  for (const text of madeUp) assertDead(await other.get(`${newPasswordUrl}?${new URLSearchParams({ token: text })}`));
  assertDead(await other.get(newPasswordUrl));
});

test('ASVS 6.4.1: the address is good for 24 hours, and for a form that was open then', async (t) => {
  const own = await startTestService(t);
  const { installation, clock } = own;
  await addUser(own);
  const { token } = await installation.accounts.invite('ada@example.com', installation.operator);
  const address = `${installation.newPasswordUrl}?${new URLSearchParams({ token })}`;
  const browser = new Browser();
  clock.advance(24 * 3600 - 1);
  const page = await browser.get(address);
  assert.equal(page.status, 200);
  clock.advance(1);
  assertDead(await browser.get(address));
  assertDead(await set(browser, page));
  assert.equal((await signIn(own, new Browser())).status, 303);
});

test('a form that was open for hours sets the password that was typed into it', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const { token } = await own.installation.accounts.invite('ada@example.com', own.installation.operator);
  const browser = new Browser();
  const page = await browser.get(`${own.installation.newPasswordUrl}?${new URLSearchParams({ token })}`);
  own.clock.advance(12 * 3600);
  assert.equal((await set(browser, page)).status, 200);
});

test('a double click sets the password once, and each answer says so', async () => {
  const { email, address } = await newcomer();
  const browser = new Browser();
  const page = await browser.get(address);
  const isSet = (action: string) => action === 'password_set_by_invitation';
  const before = (await auditActions(service)).filter(isSet).length;
  for (const { status, body } of await Promise.all([set(browser, page), set(browser, page), set(browser, page)]))
    assert.match(`${status} ${body}`, /^200 .*Your password is set/s);
  assert.equal((await auditActions(service)).filter(isSet).length, before + 1);
  assert.equal((await signIn(service, new Browser(), email, NEXT)).status, 303);
  const late = await set(browser, page);
  assertDead(late);
  assert.match(late.body, /Did you choose a password already\? Then sign in with it/);
});

test('two passwords that differ are told with all else that is wrong with the first', async () => {
  const { address } = await newcomer();
  const browser = new Browser();
  const visit = await set(browser, await browser.get(address), { password: 'short', password_again: 'x' });
  assert.match(visit.body, /The two new passwords differ<\/strong>[^<]*The new password is too short\. /);
});

test('of two different passwords at once one is set, and the other press hears that it was not', async () => {
  const { email, address } = await newcomer();
  const browser = new Browser();
  const page = await browser.get(address);
  const typed = [NEXT, `${NEXT}!`];
  const visits = await Promise.all(typed.map((password) => set(browser, page, { password, password_again: password })));
  assert.deepEqual(visits.map(({ status }) => status).sort(), [200, 400]);
  for (const [n, { status }] of visits.entries())
    assert.equal((await signIn(service, new Browser(), email, typed[n])).status, status === 200 ? 303 : 400);
});

test('looking at the address uses nothing up: also when a program reads the mail before its person', async () => {
  const { email, address } = await newcomer();
  for (let n = 0; n < 5; n += 1) assert.equal((await new Browser({ Purpose: 'prefetch' }).get(address)).status, 200);
  assert.equal((await fetch(address, { method: 'HEAD' })).status, 200);
  const browser = new Browser();
  const page = await browser.get(address);
  assert.equal(page.headers.get('cache-control'), 'no-store');
  assert.equal(page.headers.get('referrer-policy'), 'strict-origin', 'no other request carries the address');
  assert.equal((await set(browser, page)).status, 200);
  assert.equal((await signIn(service, new Browser(), email, NEXT)).status, 303);
});

test('a password that was set at the address ends all sessions and the password before', async () => {
  const { email, address } = await somebody();
  const elsewhere = await signedInBrowser(service, email);
  const browser = new Browser();
  assert.equal((await set(browser, await browser.get(address))).status, 200);
  assert.match((await elsewhere.get(`${service.appUrl}/account/apps`)).body, /<h1>Sign in/);
  assert.equal((await signIn(service, new Browser(), email, PASSWORD)).status, 400);
});

const REFUSED: Record<string, [PostedFields, RegExp]> = {
  'two that differ': [{ password_again: `${NEXT}!` }, /two new passwords differ/],
  'a short one': [{ password: 'k3vu8', password_again: 'k3vu8' }, /too short/],
  'a common one': [{ password: 'password1', password_again: 'password1' }, /most common/],
  'the own name': [{ password: 'hopper123', password_again: 'hopper123' }, /too close to a name/],
};
for (const [what, [fields, says]] of Object.entries(REFUSED))
  test(`ASVS 6.2: ${what}: 400 with the reason, and the address is still good`, async () => {
    const { address } = await newcomer();
    const browser = new Browser();
    const visit = await set(browser, await browser.get(address), fields);
    assert.equal(visit.status, 400);
    assert.match(visit.body, says);
    for (const value of Object.values(fields))
      assert.ok(!visit.body.includes(String(value)), 'what was typed comes back');
    assert.equal((await set(browser, visit)).status, 200);
  });

test('a post from elsewhere, from another browser or for another address sets nothing', async () => {
  const [ada, bob] = [await somebody(), await somebody()];
  const browser = new Browser();
  const page = await browser.get(ada.address);
  assert.equal((await set(browser, page, {}, { 'Sec-Fetch-Site': 'cross-site' })).status, 403);
  const stranger = await set(new Browser(), page);
  assert.equal(stranger.status, 403);
  assert.match(stranger.body, /blocks our cookies/);
  const other = /name="form_token" value="([^"]+)"/.exec((await browser.get(bob.address)).body)?.[1] ?? '';
  assert.equal((await set(browser, page, { form_token: other })).status, 403);
  const signInPage = await browser.get(`${service.appUrl}/sign-in`);
  const ofSignIn = /name="form_token" value="([^"]+)"/.exec(signInPage.body)?.[1] ?? '';
  assert.equal((await set(browser, page, { form_token: ofSignIn })).status, 403);
  for (const { email } of [ada, bob]) assert.equal((await signIn(service, new Browser(), email)).status, 303);
});

test('the address is over when an operator sets a password, disables the account or changes its address', async () => {
  const ends: ((email: string) => Promise<unknown>)[] = [
    (email) => accounts.setPassword(email, 'another good password', operator),
    (email) => accounts.disable(email, operator).then(() => accounts.enable(email, operator)),
    (email) => accounts.update(email, { email: someEmail() }, operator),
    (email) => accounts.delete(email, operator),
  ];
  for (const end of ends) {
    const { email, address } = await somebody();
    const browser = new Browser();
    const page = await browser.get(address);
    await end(email);
    assertDead(await browser.get(address));
    assertDead(await set(browser, page));
  }
});

test('promise 4: the token is neither stored, recorded nor logged', async () => {
  const { address } = await newcomer();
  const browser = new Browser();
  await set(browser, await browser.get(address), { password: 'short', password_again: 'short' });
  const secret = (new URL(address).searchParams.get('token') ?? '').split('.')[1] ?? assert.fail();
  const { audit } = service.installation;
  const kept = JSON.stringify([await allAccounts(accounts), await audit.listAuditEvents({ limit: 1000 }), service.log]);
  assert.ok(!kept.includes(secret));
});

test('Promise 6: dead addresses count as wrong passwords of their source, and good ones do not', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const { installation } = own;
  const { token } = await installation.accounts.invite('ada@example.com', installation.operator);
  const browser = new Browser();
  const get = (text: string) => browser.get(`${installation.newPasswordUrl}?${new URLSearchParams({ token: text })}`);
  for (let n = 0; n < 120; n += 1) assert.equal((await get(token)).status, 200);
  for (let n = 0; n < 100; n += 1) assert.equal((await get(`x.${'A'.repeat(43)}`)).status, 400);
  const refused = await get(token);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.equal((await signIn(own, new Browser())).status, 429);
});

test('nobody is invited where all people come from one provider', async (t) => {
  const own = await startTestService(t);
  await registerProvider(own, { ownIds: true });
  const person = { email: someEmail(), name: 'Grace Hopper', username: null };
  await assert.rejects(
    own.installation.accounts.addInvited(person, own.installation.operator),
    /gives all people their IDs/,
  );
  assert.deepEqual(await allAccounts(own.installation.accounts), []);
});
