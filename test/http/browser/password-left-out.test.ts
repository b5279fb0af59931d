// Where VALETKEY_SIGN_IN_METHODS leaves out the password, no page checks or sets one: also none that was opened before.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Browser, type PostedFields, type Visit } from '../../support/browser.ts';
import { auditActions } from '../../support/flow.ts';
import { storesWithProvider } from '../../support/provider.ts';
import { addUser, PASSWORD, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';

const server = await sharedPostgres();
after(() => server.remove());
const NEXT = 'a horse of another color';

/** What was recorded of people. A service that stops signs its trail as well. */
const acts = async (service: TestService) =>
  (await auditActions(service)).filter((action) => action !== 'audit_checkpoint');

for (const [store, start] of Object.entries(storesWithProvider(server)))
  test(`a password that is no way to sign in is neither checked nor set, on ${store}`, async (t) => {
    const world = await start(t, {}, { VALETKEY_SIGN_IN_METHODS: 'password,product' });
    const [one] = world.instances;
    assert.ok(one);
    const { accounts, operator, newPasswordUrl } = one.installation;
    await addUser(one);
    await addUser(one, 'bob@example.com');
    await accounts.setPassword('bob@example.com', PASSWORD, operator, true);
    const person = { email: 'grace@example.com', name: 'Grace', username: null };
    const { token } = await accounts.addInvited(person, operator);
    const invitation = `${newPasswordUrl}?${new URLSearchParams({ token })}`;
    const [ada, bob, grace, signedIn] = [new Browser(), new Browser(), new Browser(), new Browser()];
    const form = await ada.get(`${one.appUrl}/sign-in`);
    const ofBob = { email: 'bob@example.com', password: PASSWORD };
    const renewal = await bob.submit(await bob.get(`${one.appUrl}/sign-in`), '/sign-in', ofBob);
    const invited = await grace.get(invitation);
    const credentials = { email: 'ada@example.com', password: PASSWORD };
    await signedIn.submit(await signedIn.get(`${one.appUrl}/sign-in`), '/sign-in', credentials);
    const change = await signedIn.get(`${one.appUrl}/account/password`);
    const told = await acts(one);

    const now = await world.restart({ VALETKEY_SIGN_IN_METHODS: 'product' });
    const post = async (browser: Browser, page: Visit, path: string, fields: PostedFields) => {
      const { pathname, search } = new URL(page.url);
      const visit = await browser.submit({ ...page, url: now.appUrl + pathname + search }, path, fields);
      return `${visit.status} ${(visit.headers.get('location') ?? '').split('?')[0]}`;
    };
    const both = { password: NEXT, password_again: NEXT };
    const elsewhere = '303 https://photos.example/oauth/sign-in';
    assert.equal(await post(ada, form, '/sign-in', credentials), elsewhere);
    assert.equal(await post(bob, renewal, '/sign-in/new-password', both), elsewhere);
    assert.equal(await post(grace, invited, '/account/new-password', both), '404 ');
    assert.equal(await post(signedIn, change, '/account/password', { current_password: PASSWORD, ...both }), '404 ');
    for (const [browser, path] of [
      [signedIn, '/account/password'],
      [grace, new URL(invitation).pathname + new URL(invitation).search],
    ] as const)
      assert.equal((await browser.get(now.appUrl + path)).status, 404, path);
    assert.equal(ada.cookies.has('valetkey_session') || bob.cookies.has('valetkey_session'), false);
    assert.deepEqual(await acts(now), told, 'nothing was written');
    assert.doesNotMatch((await signedIn.get(`${now.appUrl}/account/apps`)).body, /\/account\/password/);
  });
