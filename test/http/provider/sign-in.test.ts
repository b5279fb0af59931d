// Signing in at an identity provider: the walk, and one test for each threat, on each store.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import type { AccountStore } from '../../../src/accounts/people/store.ts';
import type { PublicKey } from '../../../src/oauth/clients/client.ts';
import { allAccounts } from '../../support/all-accounts.ts';
import { Browser, type Visit } from '../../support/browser.ts';
import {
  assertRefused,
  auditActions,
  authorizeUrl,
  exchange,
  me,
  pairOf,
  postBody,
  refresh,
  signedInBrowser,
} from '../../support/flow.ts';
import {
  atProvider,
  redirectOf,
  registerProvider,
  requestOf,
  signInThrough,
  state,
  storesWithProvider,
  type TestProvider,
  type WithProvider,
} from '../../support/provider.ts';
import { addClient, addUser, REDIRECT_URI, startTestService, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import {
  ASSERTION_TYPE,
  assertionClaims,
  authorizationRequest,
  makeKey,
  post,
  postAs,
  standardUrl,
} from '../../support/standard.ts';

/** A text of some length in which nothing repeats. */
function someText(length: number): string {
  return randomBytes(length).toString('base64url').slice(0, length);
}

const server = await sharedPostgres();
after(() => server.remove());

/** The first instance and the last, which are the same on SQLite. */
function ends({ instances }: WithProvider): [TestService, TestService] {
  return [instances[0] as TestService, instances.at(-1) as TestService];
}

/** A browser on its way: it went to the provider with a request. */
async function begin(service: TestService, path = '/account/apps') {
  const browser = new Browser();
  return { browser, request: requestOf(await browser.get(service.appUrl + path)) };
}

/** The optional scopes that are ticked on a consent page. */
function ticked(body: string): string[] {
  const boxes = [...body.matchAll(/<input type="checkbox"[^>]*>/g)].map(([box]) => box);
  return boxes.filter((box) => /\bchecked\b/.test(box)).map((box) => /value="([^"]*)"/.exec(box)?.[1] ?? '');
}

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`external sign-in on ${store}`, { concurrency: 4 }, () => {
    test('external sign-in: from the app to the provider, back, Allow, and a token of that person', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const client = await addClient(one);
      const browser = new Browser();
      const first = await browser.get(authorizeUrl(one, client));
      const url = atProvider(first);
      assert.equal(url.searchParams.get('from'), 'valetkey', 'its own query is kept');
      assert.deepEqual(
        [url.searchParams.get('client_id'), url.searchParams.get('client_name')],
        [client.clientId, 'Test App'],
      );
      assert.equal(first.headers.get('referrer-policy'), 'no-referrer');
      const stated = await state(two, world.provider, requestOf(first), {
        ...{ amr: ['pwd', 'otp'], username: 'ada', email_verified: true },
      });
      const back = await browser.get(redirectOf(stated, one));
      assert.deepEqual([back.status, back.headers.get('cache-control')], [303, 'no-store']);
      const consent = await browser.get(two.appUrl + back.headers.get('location'));
      assert.match(consent.body, /Ada/);
      const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
      const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
      const { accessToken } = pairOf(await exchange(one, client, code));
      const { data } = (await me(two, accessToken)).body as { data: Record<string, unknown> };
      assert.match(String(data['id']), /^usr_/);
      assert.deepEqual(
        { ...data, id: '' },
        { id: '', username: 'ada', email: 'ada@example.com', name: 'Ada', avatar_url: null },
      );
      const events = await one.installation.audit.listAuditEvents({ action: 'sign_in', limit: 1 });
      assert.deepEqual(
        [events[0]?.clientId, events[0]?.detail],
        ['product', '{"provider":"product","methods":["pwd","otp"]}'],
      );
    });

    test('external sign-in: the same person comes again to the same account, and another to another', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const who = async (subject: string, members = {}) => {
        await signInThrough(one, world.provider, new Browser(), `${one.appUrl}/account/apps`, { subject, ...members });
        return (await allAccounts(one.installation.accounts)).length;
      };
      assert.deepEqual([await who('ada'), await who('ada'), await who('Ada'), await who('ada '.trim())], [1, 1, 2, 2]);
      await who('ada', { name: null, email: undefined });
      const all = await allAccounts(one.installation.accounts);
      const [ada] = all.filter(({ name }) => name === null);
      assert.equal(ada?.email, 'ada@example.com', 'null clears, what is absent stays');
    });

    test('external sign-in: a link begun in the attacker’s browser signs in no other one, and takes nothing there', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const { browser: attacker, request } = await begin(one);
      const victim = new Browser();
      await victim.get(`${one.appUrl}/account/apps`);
      const link = redirectOf(await state(one, world.provider, request), two);
      const page = await victim.get(link);
      assert.equal(page.status, 400);
      assert.match(page.body, /Begin again in this browser/);
      assert.ok(
        !(await auditActions(one)).includes('sign_in_refused'),
        'whoever asks for it without the cookie writes nothing',
      );
      assert.equal((await allAccounts(one.installation.accounts)).length, 0);
      assert.equal((await attacker.get(link)).status, 303);
      assert.equal((await victim.get(link)).status, 400, 'also once it was taken');
      atProvider(await victim.get(`${one.appUrl}/account/apps`));
    });

    test('external sign-in: a request read from a log is bound to whom it was first said of', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const { browser, request } = await begin(one);
      const good = await state(one, world.provider, request);
      const conflict = await state(two, world.provider, request, { subject: 'eve' });
      assertRefused(conflict, 400, 'invalid_grant');
      assert.match(String(conflict.body['error_description']), /^sign_in_request was answered with another subject/);
      assert.ok((await auditActions(one)).includes('sign_in_request_conflict'));
      const denied = await state(two, world.provider, request, {
        subject: undefined,
        name: undefined,
        error: 'access_denied',
      });
      assertRefused(denied, 400, 'invalid_grant');
      assert.equal((await browser.get(redirectOf(good, two))).status, 303);
      const used = await state(one, world.provider, request);
      assertRefused(used, 400, 'invalid_grant', 'a used one gets no further ticket');
      assert.match(String(used.body['error_description']), /^sign_in_request was used/);
    });

    test('external sign-in: its own browser gets the same answer and session each time it shows a ticket, on two instances at once', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const { browser, request } = await begin(one);
      const answer = await state(one, world.provider, request);
      const jar = [...browser.cookies];
      const tabs = Array.from({ length: 6 }, () => Object.assign(new Browser(), { cookies: new Map(jar) }));
      const shown = await Promise.all(tabs.map((tab, n) => tab.get(redirectOf(answer, n % 2 === 0 ? one : two))));
      const leads = shown.map(({ status, headers }) => `${status} ${headers.get('location')}`);
      assert.deepEqual(new Set(leads), new Set(['303 /account/apps']));
      const tokens = new Set(tabs.map(({ cookies }) => cookies.get('valetkey_session')));
      assert.equal(tokens.size, 1);
      assert.equal((await auditActions(one)).filter((action) => action === 'sign_in').length, 1);
      // The answer was lost, or a page was loaded before somebody asked for it: the browser has no session yet.
      const late = Object.assign(new Browser(), { cookies: new Map(jar) });
      one.clock.advance(59);
      assert.equal((await late.get(redirectOf(answer, two))).status, 303);
      assert.ok(tokens.has(late.cookies.get('valetkey_session')));
      assert.match((await late.get(`${two.appUrl}/account/apps`)).body, /No connected apps/);
      one.clock.advance(1);
      assert.equal((await late.get(redirectOf(answer, two))).status, 400, 'as long as the ticket would have lived');
    });

    test('external sign-in: a ticket whose session ended meanwhile is dead', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const client = await addClient(one);
      const ways: Record<string, (browser: Browser) => Promise<unknown>> = {
        'signed out': async (browser) => browser.submit(await browser.get(`${one.appUrl}/sign-out`), '/sign-out'),
        ended: () => one.installation.accounts.endSessions('product:ada', one.installation.operator),
        'somebody else signed in': (browser) =>
          signInThrough(one, world.provider, browser, authorizeUrl(one, client), { subject: 'eve', name: 'Eve' }),
      };
      for (const [why, end] of Object.entries(ways)) {
        const { browser, request } = await begin(one);
        const link = redirectOf(await state(one, world.provider, request, { email_verified: true }), two);
        assert.equal((await browser.get(link)).status, 303);
        await end(browser);
        const before = browser.cookies.get('valetkey_session');
        assert.equal((await browser.get(link)).status, 400, why);
        assert.equal(browser.cookies.get('valetkey_session'), before, why);
      }
    });

    test('external sign-in: a ticket that is given as its request ends lives its minute, and so does the cookie', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const browser = new Browser();
      const gone = await browser.get(`${one.appUrl}/account/apps`);
      const ages = gone.headers.getSetCookie().filter((cookie) => cookie.includes('sign_in_'));
      assert.match(ages.join(), /Max-Age=3660;/);
      one.clock.advance(3599);
      const link = redirectOf(await state(one, world.provider, requestOf(gone)), one);
      one.clock.advance(59);
      assert.deepEqual([(await browser.get(link)).status, (await browser.get(link)).status], [303, 303]);
    });

    test('ASVS 7.2.4: external sign-in: a demanded sign-in gets a new session token, which is good for the other tabs too', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const auth_time = () => Math.floor(one.clock.now() / 1000);
      for (const demand of [{ prompt: 'login' }, { max_age: '100' }] as Record<string, string>[]) {
        const browser = new Browser();
        const [first, second] = [{ state: 'first' }, { state: 'second' }].map((some) => standardUrl(one, client, some));
        await signInThrough(one, world.provider, browser, first as string, { auth_time: auth_time() - 200 });
        const before = browser.cookies.get('valetkey_session');
        await signInThrough(one, world.provider, browser, second as string, { auth_time: auth_time() - 200 });
        assert.equal(browser.cookies.get('valetkey_session'), before, 'one more tab');
        const asked = standardUrl(one, client, { state: 'third', ...demand });
        await signInThrough(one, world.provider, browser, asked, { auth_time: auth_time() });
        assert.notEqual(browser.cookies.get('valetkey_session'), before, JSON.stringify(demand));
        assert.match((await browser.get(first as string)).body, /value="allow"/);
        const stolen = Object.assign(new Browser(), { cookies: new Map([['valetkey_session', before ?? '']]) });
        atProvider(await stolen.get(first as string));
      }
    });

    test('external sign-in: nothing is known of a person, and nothing changes, before the browser is back', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const shown = async () =>
        (await allAccounts(one.installation.accounts)).map(({ name, username }) => [name, username]);
      const { browser, request } = await begin(one);
      const stated = await state(one, world.provider, request, { username: 'ada' });
      assert.deepEqual(await shown(), []);
      await browser.get(redirectOf(stated, two));
      assert.deepEqual(await shown(), [['Ada', 'ada']]);
      const { request: next } = await begin(one);
      await state(two, world.provider, next, { name: 'Somebody Else' });
      assert.deepEqual(await shown(), [['Ada', 'ada']], 'the right to say who signs in alone changes no profile');
      const events = await one.installation.audit.listAuditEvents({ action: 'user_added', limit: 5 });
      assert.deepEqual(
        events.map(({ actor: { kind, id, source } }) => [kind, id, source]),
        [['provider', 'product', null]],
      );
    });

    test('external sign-in: of what is said of a person in two browsers, what comes back last counts', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const [first, second] = [await begin(one), await begin(one)];
      const links = [
        redirectOf(await state(one, world.provider, first.request, { name: 'First' }), one),
        redirectOf(await state(two, world.provider, second.request, { name: 'Second' }), two),
      ] as const;
      const [back, other] = await Promise.all([second.browser.get(links[1]), first.browser.get(links[0])]);
      assert.deepEqual([back.status, other.status], [303, 303]);
      assert.equal((await allAccounts(one.installation.accounts)).length, 1, 'they are one person');
    });

    test('external sign-in: an account with a password keeps its address, whatever its product says', async (t) => {
      const world = await start(t, {}, { VALETKEY_SIGN_IN_METHODS: 'password,product' });
      const [one] = ends(world);
      const { id } = await addUser(one);
      await one.installation.links.link(
        { account: id, provider: 'product', subject: 'ada' },
        one.installation.operator,
      );
      const way = `${one.appUrl}/sign-in/with?provider=product&continue=/account/apps`;
      const news = { email: 'other@example.com', email_verified: true, name: 'Ada L.', username: 'ada' };
      await signInThrough(one, world.provider, new Browser(), way, news);
      const after = await one.installation.accounts.show(id);
      assert.deepEqual([after.email, after.name, after.username], ['ada@example.com', 'Ada L.', 'ada']);
      await one.installation.accounts.update(id, { email: 'new@example.com' }, one.installation.operator);
      assert.equal((await one.installation.accounts.show(id)).email, 'new@example.com', 'the operator changes it');
    });

    test('RFC 9700 §4.11, external sign-in: a link continues to a page of ours as it was written, and otherwise to Connected apps', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const endOf = async (given: string) => {
        const browser = new Browser();
        const query = new URLSearchParams({ provider: 'product', continue: given });
        const request = requestOf(await browser.get(`${one.appUrl}/sign-in/with?${query}`));
        const { headers } = await browser.get(redirectOf(await state(two, world.provider, request), one));
        return headers.get('location');
      };
      for (const own of ['/account?x=//evil.example', '/oauth2/authorize?done=1&redirect_uri=%2F%2Fevil.example'])
        assert.equal(await endOf(own), own);
      for (const given of [
        ...['//evil.example', '/.//evil.example/', '/account/..//evil.example/?done=1', '/%2e//evil.example/account'],
        ...['/\\evil.example', '/account\\..\\..\\evil.example', 'https://evil.example/account', '/account/apps#x'],
        ...['//account', '/account/', '/./account', '/%61ccount', ' /account', '/account\t', one.appUrl, ''],
      ])
        assert.equal(await endOf(given), '/account/apps', given);
    });

    test('external sign-in: the older ticket dies, as do late ones and junk, all with one page', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const { browser, request } = await begin(one);
      const older = redirectOf(await state(one, world.provider, request), two);
      const newer = redirectOf(await state(two, world.provider, request), one);
      const junk = ['', 'x', 'A'.repeat(64)].map((ticket) => `${one.appUrl}/sign-in/continue?ticket=${ticket}`);
      const texts = (body: string) => body.replace(/<bdi class="address".*?<\/bdi>/gs, '');
      const pages = await Promise.all([older, ...junk].map((url) => browser.get(url)));
      assert.deepEqual([...new Set(pages.map(({ status }) => status))], [400]);
      one.clock.advance(60);
      const late = await browser.get(newer);
      assert.equal(late.status, 400);
      assert.equal(new Set([...pages, late].map(({ body }) => texts(body))).size, 1);
    });

    test('RFC 9110 §9.2.1: a HEAD at authorize begins no sign-in at the provider', async (t) => {
      const [one] = ends(await start(t));
      const url = authorizeUrl(one, await addClient(one));
      const [head, got] = [
        await fetch(url, { method: 'HEAD', redirect: 'manual' }),
        await fetch(url, { redirect: 'manual' }),
      ];
      assert.deepEqual([head.status, got.status], [303, 303]);
      assert.equal(head.headers.get('set-cookie'), null);
      assert.match(got.headers.get('set-cookie') ?? '', /valetkey_sign_in_/);
    });

    test('external sign-in: HEAD and a page that is loaded ahead take no ticket', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const { browser, request } = await begin(one);
      const url = redirectOf(await state(one, world.provider, request), one);
      const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
      const head = await fetch(url, { method: 'HEAD', headers: { cookie }, redirect: 'manual' });
      assert.equal(head.status, 204);
      const ahead = await fetch(url, { headers: { cookie, 'sec-purpose': 'prefetch' }, redirect: 'manual' });
      assert.equal(ahead.status, 204);
      assert.equal((await browser.get(url)).status, 303);
    });

    test('external sign-in: a request of one provider is refused to another, and not used up', async (t) => {
      const world = await start(t, {}, {}, [{ id: 'other' }]);
      const [one] = ends(world);
      const [other] = world.others as [TestProvider];
      const { browser, request } = await begin(one, '/sign-in/with?provider=product');
      const foreign = await state(one, other, request);
      assertRefused(foreign, 400, 'invalid_grant');
      assert.deepEqual(foreign.body, (await state(one, other, 'junk')).body, 'it hears no more than of junk');
      assert.ok((await auditActions(one)).includes('sign_in_request_conflict'));
      assert.equal((await browser.get(redirectOf(await state(one, world.provider, request), one))).status, 303);
    });

    test('external sign-in: a password account with the same address stays another’s', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const ada = await addUser(one);
      const page = await signInThrough(one, world.provider, new Browser(), `${one.appUrl}/account/apps`);
      assert.equal(page.status, 200);
      const all = await allAccounts(one.installation.accounts);
      assert.deepEqual(
        all.map(({ email }) => email),
        ['ada@example.com', 'ada@example.com'],
      );
      assert.equal((await one.installation.accounts.show(ada.id)).name, 'Ada Example');
    });

    test('external sign-in: who is invited to set a password keeps an address that somebody else signs in with', async (t) => {
      const world = await start(t, {}, { VALETKEY_SIGN_IN_METHODS: 'password,product' });
      const [one] = ends(world);
      await addUser(one, 'grace@example.com');
      const say = async (members: Record<string, unknown>) => {
        const { browser, request } = await begin(one, '/sign-in/with?provider=product');
        return browser.get(redirectOf(await state(one, world.provider, request, members), one));
      };
      assert.equal((await say({ email: 'ada@example.com' })).status, 303);
      await one.installation.accounts.invite('product:ada', one.installation.operator);
      assert.equal((await say({ email: 'grace@example.com', name: 'Ada L.' })).status, 303);
      const { name, invitation } = await one.installation.accounts.show('ada@example.com');
      assert.equal(name, 'Ada L.');
      assert.ok(invitation, 'it is good as before');
    });

    test('ASVS 3.4: where people sign in elsewhere as well, `form-action` stays on all pages but those whose form may lead there', async (t) => {
      const world = await start(t, {}, { VALETKEY_SIGN_IN_METHODS: 'password,product' });
      const [one] = ends(world);
      await addUser(one);
      const app = await addClient(one);
      const browser = await signedInBrowser(one);
      const { token } = await one.installation.accounts.addInvited(
        { email: 'grace@example.com', name: 'Grace Example', username: null },
        one.installation.operator,
      );
      const isKept = async (path: string, who = browser) =>
        String((await who.get(one.appUrl + path)).headers.get('content-security-policy')).includes(
          "form-action 'self'",
        );
      const authorize = authorizeUrl(one, app).slice(one.appUrl.length);
      for (const path of ['/account', '/account/apps', '/account/password', '/sign-out', '/device', authorize])
        assert.equal(await isKept(path), false, path);
      assert.equal(await isKept('/sign-in', new Browser()), false);
      const kept = ['/', '/developers', '/nope', '/oauth2/authorize', '/account/new-password?token=x'];
      for (const path of [...kept, `/account/new-password?${new URLSearchParams({ token })}`])
        assert.equal(await isKept(path), true, path);
      assert.equal(await isKept('/sign-out', new Browser()), true, 'nobody is signed in, and there is no form');
    });

    test('external sign-in: a provider that VALETKEY_SIGN_IN_METHODS leaves out is as if paused', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const [early, late] = [await begin(one), await begin(one)];
      const stated = await state(one, world.provider, early.request);
      const without = await world.restart({ VALETKEY_SIGN_IN_METHODS: 'password' });
      assert.equal((await early.browser.get(redirectOf(stated, without))).status, 503);
      const refused = await state(without, world.provider, late.request);
      assertRefused(refused, 401, 'invalid_client');
      assert.doesNotMatch(JSON.stringify(refused.body), /SIGN_IN_METHODS/);
      const reason = new RegExp(`VALETKEY_SIGN_IN_METHODS leaves it out: add ${world.provider.id} to it`);
      assert.ok(
        without.log.some((line) => reason.test(line)),
        'the log says why',
      );
    });

    test('external sign-in: a statement that waits while its provider is paused binds nothing', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const { audit, identityProviders, operator } = one.installation;
      const { browser, request } = await begin(one);
      const store = audit as unknown as Pick<AccountStore, 'findIdentity'>;
      const { findIdentity } = store;
      store.findIdentity = async (...asked) =>
        [await findIdentity(...asked), await identityProviders.pause('product', operator)][0] as never;
      const waiting = await state(one, world.provider, request, { subject: 'eve' });
      store.findIdentity = findIdentity;
      assertRefused(waiting, 401, 'invalid_client');
      await identityProviders.resume('product', operator);
      const link = redirectOf(await state(one, world.provider, request), one);
      assert.equal((await browser.get(link)).status, 303, 'the request is bound to nobody');
    });

    test('external sign-in: a person has 60 sign-ins in ten minutes, on all instances, and others have their own', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const { request } = await begin(one);
      for (let n = 0; n < 60; n += 1)
        assert.equal((await state(n % 2 ? one : two, world.provider, request)).status, 200);
      const refused = await state(one, world.provider, request);
      assertRefused(refused, 429, 'temporarily_unavailable');
      assert.equal(refused.headers.get('retry-after'), '10');
      assert.match(String(refused.body['error_description']), /signed in too often/);
      const { request: other } = await begin(one);
      assert.equal((await state(two, world.provider, other, { subject: 'eve' })).status, 200);
      one.clock.advance(10);
      assert.equal((await state(one, world.provider, request)).status, 200);
    });

    test('external sign-in: cookies with names that are none of ours do no harm', async (t) => {
      const [one] = ends(await start(t));
      const browser = new Browser();
      for (let n = 0; n < 6; n += 1) browser.cookies.set(`valetkey_sign_in_${n} x`, 'x');
      atProvider(await browser.get(`${one.appUrl}/account/apps`));
    });

    test('external sign-in: a person disabled, or a provider paused, between ticket and return comes in not', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const { accounts, identityProviders, operator } = one.installation;
      await signInThrough(one, world.provider, new Browser(), `${one.appUrl}/account/apps`);
      const { browser, request } = await begin(one);
      const link = redirectOf(await state(one, world.provider, request), two);
      const [ada] = await allAccounts(accounts);
      await accounts.disable(ada?.id ?? '', operator);
      assert.equal((await browser.get(link)).status, 400, 'what was said before is dead');
      const again = await begin(one);
      assertRefused(await state(one, world.provider, again.request), 403, 'access_denied');
      const third = await begin(one);
      const eve = redirectOf(await state(one, world.provider, third.request, { subject: 'eve' }), two);
      await identityProviders.pause('product', operator);
      assert.equal((await third.browser.get(eve)).status, 503);
      const told = (error: string) => two.log.some((line) => JSON.parse(line).error === error);
      assert.ok(told('provider_paused') && !told('unavailable'), 'no alert is about these');
      assertRefused(await state(one, world.provider, third.request, { subject: 'eve' }), 401, 'invalid_client');
      assert.equal((await new Browser().get(`${one.appUrl}/account/apps`)).status, 503, 'its only way is paused');
    });

    test('external sign-in: a ticket that brought nobody in is dead, also when what kept them out is over', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const { identityProviders, accounts, operator } = one.installation;
      const client = await addClient(one);
      await signInThrough(one, world.provider, new Browser(), `${one.appUrl}/account/apps`);
      const denial = { subject: undefined, name: undefined, email: undefined, error: 'access_denied' };
      const login = standardUrl(one, client, { prompt: 'login' });
      const cases: readonly [string, number, Record<string, unknown>, string, () => unknown, () => unknown][] = [
        [
          'paused',
          503,
          {},
          authorizeUrl(one, client),
          () => identityProviders.pause('product', operator),
          () => identityProviders.resume('product', operator),
        ],
        [
          'disabled',
          400,
          {},
          authorizeUrl(one, client),
          () => accounts.disable('product:ada', operator),
          () => accounts.enable('product:ada', operator),
        ],
        ['too old', 403, { auth_time: 1 }, login, () => {}, () => {}],
        ['denied', 303, denial, authorizeUrl(one, client), () => {}, () => {}],
      ];
      for (const [why, status, members, url, before, after] of cases) {
        const browser = new Browser();
        const stated = await state(one, world.provider, requestOf(await browser.get(url)), members);
        await before();
        assert.equal((await browser.get(redirectOf(stated, one))).status, status, why);
        await after();
        const again = why === 'denied' ? 303 : 400;
        assert.equal((await browser.get(redirectOf(stated, two))).status, again, `${why}, and again`);
        assert.ok(![...browser.cookies.keys()].some((name) => name.endsWith('_session')), why);
      }
    });

    test('external sign-in: a refusal binds a request as a person does', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const { browser, request } = await begin(one);
      const denial = { subject: undefined, name: undefined, email: undefined, error: 'access_denied' };
      const first = await state(one, world.provider, request, denial);
      assertRefused(await state(two, world.provider, request), 400, 'invalid_grant');
      const second = await state(two, world.provider, request, denial);
      assert.equal((await browser.get(redirectOf(first, one))).status, 400, 'the older one died');
      assert.equal((await browser.get(redirectOf(second, one))).status, 403);
      assertRefused(await state(two, world.provider, request, denial), 400, 'invalid_grant', 'used');
    });

    test('external sign-in: a product that lies about auth_time gets a page and no loop', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const seconds = () => Math.floor(one.clock.now() / 1000);
      const visit = async (parameters: Record<string, string>, auth_time?: number) => {
        const browser = new Browser();
        const request = requestOf(await browser.get(standardUrl(one, client, parameters)));
        return { browser, answer: await state(one, world.provider, request, { auth_time }) };
      };
      for (const parameters of [{ prompt: 'login' }, { max_age: '100' }] as Record<string, string>[]) {
        const missing = await visit(parameters);
        assertRefused(missing.answer, 400, 'invalid_request');
        assert.match(String(missing.answer.body['error_description']), /^auth_time /);
        assertRefused((await visit(parameters, seconds() + 61)).answer, 400, 'invalid_request');
        const old = await visit(parameters, seconds() - 161);
        assert.equal((await old.browser.get(redirectOf(old.answer, one))).status, 403);
        const good = await visit(parameters, seconds());
        const back = await good.browser.get(redirectOf(good.answer, one));
        const consent = await good.browser.get(one.appUrl + back.headers.get('location'));
        assert.match(consent.body, /value="allow"/, JSON.stringify(parameters));
      }
    });

    test('external sign-in: five tabs of one person all arrive, and the sixth makes the oldest go', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const client = await addClient(one);
      const browser = new Browser();
      const urls = Array.from({ length: 6 }, (_, n) => authorizeUrl(n % 2 ? one : two, client, { state: `tab${n}` }));
      const requests: string[] = [];
      for (const url of urls) {
        requests.push(requestOf(await browser.get(url)));
        one.clock.advance(1);
      }
      const secrets = [...browser.cookies.keys()].filter((name) => name.includes('sign_in_'));
      assert.equal(secrets.length, 5);
      const arrived: number[] = [];
      for (const request of requests) {
        const back = await browser.get(redirectOf(await state(one, world.provider, request), two));
        arrived.push(back.status);
      }
      assert.deepEqual(arrived, [400, 303, 303, 303, 303, 303]);
      for (const url of urls.slice(1)) assert.match((await browser.get(url)).body, /value="allow"/);
      atProvider(await browser.get(urls[0] as string));
    });

    test('external sign-in: a session is good for the last five requests, and another person’s replaces it', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const browser = new Browser();
      const urls = Array.from({ length: 6 }, (_, n) => authorizeUrl(one, client, { state: `tab${n}` }));
      for (const url of urls) {
        one.clock.advance(1);
        assert.match((await signInThrough(one, world.provider, browser, url)).body, /Ada/);
      }
      atProvider(await browser.get(urls[0] as string));
      assert.match((await browser.get(urls[1] as string)).body, /value="allow"/);
      const older = await browser.get(urls[5] as string);
      const eves = authorizeUrl(one, client, { state: 'eve' });
      const eve = await signInThrough(one, world.provider, browser, eves, { subject: 'eve', name: 'Eve' });
      assert.match(eve.body, /Eve/);
      atProvider(await browser.get(urls[5] as string));
      const pressed = await browser.submit(older, '/auth/oauth2/authorize', { decision: 'allow' });
      assert.match(pressed.headers.get('location') ?? '', /^\/auth\/oauth2\/authorize/, 'nothing was allowed');
    });

    test('external sign-in: with --own-ids, too, another person’s session replaces it', async (t) => {
      const world = await start(t, { ownIds: true });
      const [one] = ends(world);
      const client = await addClient(one);
      const browser = new Browser();
      const adas = authorizeUrl(one, client, { state: 'ada' });
      assert.match((await signInThrough(one, world.provider, browser, adas)).body, /Ada/);
      const eves = authorizeUrl(one, client, { state: 'eve' });
      const eve = await signInThrough(one, world.provider, browser, eves, { subject: 'eve', name: 'Eve' });
      assert.match(eve.body, /Eve/);
      assert.doesNotMatch(eve.body, /Ada/);
      atProvider(await browser.get(adas));
    });

    test('external sign-in: a session is good for its request alone, for ten minutes', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const browser = new Browser();
      const url = authorizeUrl(one, client);
      assert.match((await signInThrough(one, world.provider, browser, url)).body, /value="allow"/);
      atProvider(await browser.get(authorizeUrl(one, client, { state: 'other' })));
      atProvider(await browser.get(`${one.appUrl}/account/apps`));
      const none = await browser.get(standardUrl(one, client, { prompt: 'none' }));
      assert.equal(new URL(none.headers.get('location') ?? '').searchParams.get('error'), 'login_required');
      one.clock.advance(601);
      atProvider(await browser.get(url));
    });

    test('external sign-in: what was chosen when the session lapsed is kept, and nobody else can choose', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const scopes = ['read', 'write', 'delete'].map((name) => ({ name, sentence: null, optional: true }));
      const client = await addClient(one, { scopes });
      const browser = new Browser();
      const consent = await signInThrough(one, world.provider, browser, authorizeUrl(one, client));
      one.clock.advance(601);
      const lapsed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow', scope: ['write'] });
      const url = one.appUrl + lapsed.headers.get('location');
      const [kept = '', choice = ''] = [...browser.cookies].find(([name]) => name.endsWith('choice')) ?? [];
      const again = await signInThrough(one, world.provider, browser, url);
      assert.match(again.body, /Please answer once more/);
      assert.deepEqual(ticked(again.body), ['write']);
      const other = new Browser();
      assert.deepEqual(ticked((await signInThrough(one, world.provider, other, url)).body).length, 0, 'its address');
      other.cookies.set(kept, choice.replace('write', 'delete'));
      assert.deepEqual(ticked((await other.get(url)).body).length, 0, 'a choice that we did not mark');
      one.clock.advance(601);
      await one.installation.accounts.endSessions('product:ada', one.installation.operator);
      assert.equal(ticked((await signInThrough(one, world.provider, browser, url)).body).length, 0, 'a late one');
    });

    test('external sign-in: with --session one sign-in is good for every page', async (t) => {
      const world = await start(t, { sessionLifetime: 43_200 });
      const [one] = ends(world);
      const browser = new Browser();
      await signInThrough(one, world.provider, browser, `${one.appUrl}/account/apps`);
      one.clock.advance(40_000);
      assert.match((await browser.get(authorizeUrl(one, await addClient(one)))).body, /value="allow"/);
    });

    test('external sign-in: what the person refused at the provider goes on to the app, and is a page elsewhere', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const refuse = async (url: string) => {
        const browser = new Browser();
        const request = requestOf(await browser.get(url));
        const members = { subject: undefined, name: undefined, email: undefined, error: 'access_denied' };
        return browser.get(redirectOf(await state(one, world.provider, request, members), one));
      };
      const app = new URL((await refuse(authorizeUrl(one, client))).headers.get('location') ?? '');
      assert.deepEqual(
        [app.origin + app.pathname, app.searchParams.get('error'), app.searchParams.get('state')],
        [REDIRECT_URI, 'access_denied', 'xyz'],
      );
      assert.equal((await refuse(`${one.appUrl}/device`)).status, 403);
    });

    test('external sign-in: "Not you?" ends the session and asks the provider for another account', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const browser = new Browser();
      const consent = await signInThrough(one, world.provider, browser, authorizeUrl(one, client));
      const away = await browser.submit(consent, '/sign-out');
      assert.equal(atProvider(away).searchParams.get('prompt'), 'select_account');
      const back = await browser.get(
        redirectOf(await state(one, world.provider, requestOf(away), { subject: 'grace', name: 'Grace' }), one),
      );
      assert.match((await browser.get(one.appUrl + back.headers.get('location'))).body, /Grace/);
    });

    test('external sign-in: "Not you?" at the consent for a device names the app, unless the user guessed codes', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one, { name: 'Telly', deviceFlow: true }, 'public');
      const { body } = await post(one, 'device_authorization', { client_id: client.clientId });
      const url = String(body['verification_uri_complete']);
      const browser = new Browser();
      const switched = async (from: Visit, by = browser, fields = {}) => {
        const { searchParams } = atProvider(await by.submit(from, '/sign-out', fields));
        return ['prompt', 'client_id', 'client_name'].map((name) => searchParams.get(name));
      };
      const consent = await signInThrough(one, world.provider, browser, url);
      assert.deepEqual(await switched(consent), ['select_account', client.clientId, 'Telly']);
      const again = await signInThrough(one, world.provider, browser, url);
      const [guesser, app] = [new Browser(), await addClient(one)];
      for (let guess = 0; guess < 20; guess++) {
        const page = await signInThrough(one, world.provider, guesser, authorizeUrl(one, app));
        const guessed = await switched(page, guesser, { continue: '/device?user_code=BBBB-BBBB' });
        assert.deepEqual(guessed, ['select_account', null, null]);
      }
      assert.deepEqual(await switched(again), ['select_account', null, null]);
    });

    test('external sign-in: who signs out is told that the product’s session goes on, before and after', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const browser = new Browser();
      await signInThrough(one, world.provider, browser, authorizeUrl(one, client));
      const asked = await browser.get(`${one.appUrl}/sign-out`);
      assert.match(asked.body, /Sign out\?.*You stay signed in at <bdi>/s);
      const done = await browser.submit(asked, '/sign-out');
      assert.equal(done.status, 303);
      const out = await browser.get(one.appUrl + done.headers.get('location'));
      assert.match(out.body, /You’re signed out.*You stay signed in at <bdi>/s);
      for (const from of ['', '?from=nobody'])
        assert.doesNotMatch((await browser.get(`${one.appUrl}/sign-out${from}`)).body, /stay signed in at/);
    });

    test('external sign-in: a request of 4,300 bytes is carried, whatever its text; what is far longer is invalid_request', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const base = new URL(authorizeUrl(one, client, { padding: '' }));
      const ofLength = (length: number) =>
        authorizeUrl(one, client, { padding: someText(length - (base.pathname + base.search).length) });
      assert.ok(requestOf(await new Browser().get(ofLength(4300))).length <= 6000);
      const long = await new Browser().get(ofLength(7000));
      const refused = new URL(long.headers.get('location') ?? '').searchParams;
      assert.equal(refused.get('error'), 'invalid_request');
      assert.ok(refused.get('state'), 'with its state');
      const longest = await registerProvider(one, { id: 'p'.repeat(40) });
      const elsewhere = await world.restart({ VALETKEY_SIGN_IN_METHODS: longest.id });
      const asked = { prompt: 'login', max_age: String(2 ** 31 - 1), padding: '' };
      const { pathname, search } = new URL(standardUrl(elsewhere, client, asked));
      const padding = someText(4300 - (pathname + search).length);
      const full = await new Browser().get(standardUrl(elsewhere, client, { ...asked, padding }));
      assert.ok(requestOf(full).length <= 6000, 'with all that is asked of a sign-in');
    });

    test('external sign-in: a pushed request of 4,300 bytes is carried, with all that is asked of a sign-in; a longer one is refused at the push', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const longest = await registerProvider(one, { id: 'p'.repeat(40) });
      const elsewhere = await world.restart({ VALETKEY_SIGN_IN_METHODS: longest.id });
      const asked = { prompt: 'login', max_age: String(2 ** 31 - 1), state: someText(3500) };
      const push = (length: number) => {
        const fields = authorizationRequest(client, asked);
        const rest = new URLSearchParams(fields as Record<string, string>).toString().length + '&login_hint='.length;
        return postAs(elsewhere, client, 'par', { ...fields, login_hint: someText(length - rest) });
      };
      const { status, body } = await push(4300);
      assert.equal(status, 201, JSON.stringify(body));
      const query = new URLSearchParams({ client_id: client.clientId, request_uri: String(body['request_uri']) });
      const sent = await new Browser().get(`${elsewhere.appUrl}/oauth2/authorize?${query}`);
      assert.ok(requestOf(sent).length <= 6000);
      const refused = await push(4500);
      assert.deepEqual([refused.status, refused.body['error']], [400, 'invalid_request']);
      assert.match(String(refused.body['error_description']), /too long: shorten/);
    });

    test('external sign-in: a restart between any two steps loses nothing', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const browser = new Browser();
      const path = authorizeUrl(one, client).slice(one.appUrl.length);
      const request = requestOf(await browser.get(one.appUrl + path));
      const stated = await state(await world.restart(), world.provider, request);
      const back = await browser.get(redirectOf(stated, await world.restart()));
      assert.equal(back.status, 303);
      const consent = await browser.get((await world.restart()).appUrl + back.headers.get('location'));
      const form = { ...consent, url: (await world.restart()).appUrl + path };
      const allowed = await browser.submit(form, '/auth/oauth2/authorize', { decision: 'allow' });
      const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
      pairOf(await exchange(await world.restart(), client, code));
    });

    test('external sign-in: a request that was changed, and one of another installation, say nothing', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const { request } = await begin(one);
      for (const at of [5, 20, 100, request.length - 2]) {
        const other = request[at] === 'A' ? 'B' : 'A';
        const changed = request.slice(0, at) + other + request.slice(at + 1);
        assertRefused(await state(one, world.provider, changed), 400, 'invalid_grant', String(at));
      }
      const elsewhere = ends(await start(t))[0];
      assertRefused(await state(one, world.provider, (await begin(elsewhere)).request), 400, 'invalid_grant');
      one.clock.advance(3600);
      assertRefused(await state(one, world.provider, request), 400, 'invalid_grant', 'after an hour');
    });

    test('external sign-in: a secret that is retired midway is refused, and the ticket it made is good', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const { identityProviders, operator } = one.installation;
      const { secret } = await identityProviders.rotateSecret('product', operator);
      const { browser, request } = await begin(one);
      const link = redirectOf(await state(two, world.provider, request), one);
      await identityProviders.retireSecret('product', operator);
      assertRefused(await state(two, world.provider, (await begin(one)).request), 401, 'invalid_client');
      assert.equal((await state(two, { id: 'product', secret }, (await begin(one)).request)).status, 200);
      assert.equal((await browser.get(link)).status, 303);
    });

    test('external sign-in: a provider that signs assertions, for the issuer alone and each once', async (t) => {
      const key = makeKey();
      const world = await start(t, { keys: [key.jwk as PublicKey] });
      const [one] = ends(world);
      const client = { clientId: 'product', clientSecret: '' };
      const said = async (aud: string, assertion?: string) => {
        const client_assertion = assertion ?? (await key.sign({ ...assertionClaims(one, client), aud }));
        const members = { client_secret: undefined, client_assertion, client_assertion_type: ASSERTION_TYPE };
        const answer = await state(one, world.provider, (await begin(one)).request, members);
        return { answer, client_assertion };
      };
      const good = await said(one.appUrl);
      assert.equal(good.answer.status, 200, JSON.stringify(good.answer.body));
      assertRefused((await said('', good.client_assertion)).answer, 401, 'invalid_client', 'used before');
      assertRefused(
        (await said(`${one.appUrl}/oauth2/token`)).answer,
        401,
        'invalid_client',
        'an endpoint as audience',
      );
    });

    test('external sign-in: with --own-ids the subject is the id, and a deleted person’s tokens stay dead', async (t) => {
      const world = await start(t, { ownIds: true });
      const [one, two] = ends(world);
      const { accounts, operator } = one.installation;
      const client = await addClient(one);
      const allow = async (browser: Browser) => {
        const consent = await signInThrough(one, world.provider, browser, authorizeUrl(one, client), { subject: '42' });
        const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
        const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
        return pairOf(await exchange(one, client, code));
      };
      const before = await allow(new Browser());
      const checked = await me(two, before.accessToken);
      assert.equal((checked.body as { data: { id: string } }).data.id, '42');
      await accounts.delete('42', operator);
      assert.equal((await me(two, before.accessToken)).status, 401);
      const after = await allow(new Browser());
      assert.equal((await me(two, after.accessToken)).status, 200);
      assert.equal((await me(one, before.accessToken)).status, 401);
      assert.equal((await refresh(one, client, before.refreshToken)).status, 400);
      const { request } = await begin(one);
      assertRefused(await state(one, world.provider, request, { subject: 'usr_1' }), 400, 'invalid_request');
      await assert.rejects(addUser(one), /gives all people their IDs/);
      await assert.rejects(accounts.setPassword('42', 'correct horse battery', operator), /gives all people their IDs/);
      await assert.rejects(registerProvider(one, { id: 'second' }), /gives all people their IDs/);
    });

    test('external sign-in: beside the password, people choose; a way that is not registered is no start', async (t) => {
      const world = await start(t, {}, { VALETKEY_SIGN_IN_METHODS: 'password,product' });
      const [one] = ends(world);
      await addUser(one);
      const client = await addClient(one);
      const browser = new Browser();
      const page = await browser.get(authorizeUrl(one, client));
      assert.match(page.body, /name="password"/);
      const [, href = ''] = /href="(\/sign-in\/with[^"]*)"/.exec(page.body) ?? [];
      const gone = await browser.get(one.appUrl + href.replaceAll('&amp;', '&'));
      assert.equal(atProvider(gone).searchParams.get('client_id'), client.clientId);
      const back = await browser.get(redirectOf(await state(one, world.provider, requestOf(gone)), one));
      assert.match((await browser.get(one.appUrl + back.headers.get('location'))).body, /value="allow"/);
      await one.installation.identityProviders.pause('product', one.installation.operator);
      assert.doesNotMatch((await new Browser().get(`${one.appUrl}/sign-in`)).body, /sign-in\/with/);
      await assert.rejects(
        startTestService(t, { VALETKEY_SIGN_IN_METHODS: 'password,nobody' }),
        /nobody, which is not/,
      );
    });

    test('external sign-in: no credential of one kind is taken at another’s endpoint', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const client = await addClient(one);
      const { row: resourceServer, secret } = await one.installation.resourceServers.register(
        {
          name: 'API',
          resource: null,
          scopes: null,
        },
        one.installation.operator,
      );
      const { request } = await begin(one);
      const owners = {
        client: { id: client.clientId, secret: client.clientSecret },
        'resource server': { id: resourceServer.id, secret },
        provider: world.provider,
      };
      const endpoints: Record<string, [string, Record<string, string>]> = {
        client: ['/oauth2/token', { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT_URI }],
        'resource server': ['/oauth2/introspect', { token: 'x' }],
        provider: ['/api/auth/oauth/sign-in', { sign_in_request: request, subject: 'ada' }],
      };
      for (const [owner, { id, secret: own }] of Object.entries(owners))
        for (const [endpoint, [path, fields]] of Object.entries(endpoints))
          for (const claimed of [id, owners[endpoint as keyof typeof owners].id]) {
            if (owner === endpoint) continue;
            const response = await fetch(one.appUrl + path, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ ...fields, client_id: claimed, client_secret: own }),
            });
            assert.equal(response.status, 401, `the secret of a ${owner} as ${claimed} at that of a ${endpoint}`);
          }
    });

    test('external sign-in: bad posts are OAuth errors that name the field', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const { request } = await begin(one);
      const bad: [Record<string, unknown>, string][] = [
        [{ subject: undefined }, 'subject'],
        [{ subject: '' }, 'subject'],
        [{ subject: 'a b' }, 'subject'],
        [{ subject: 'x'.repeat(256) }, 'subject'],
        [{ subject: 7 }, 'subject'],
        [{ sign_in_request: 7 }, 'sign_in_request'],
        [{ auth_time: '7' }, 'auth_time'],
        [{ auth_time: 1.5 }, 'auth_time'],
        [{ amr: 'pwd' }, 'amr'],
        [{ amr: [7] }, 'amr'],
        [{ email: 7 }, 'email'],
        [{ email: 'x'.repeat(255) }, 'email'],
        [{ email_verified: 'yes' }, 'email_verified'],
        [{ name: 'a\0b' }, 'name'],
        [{ name: '\ud800' }, 'name'],
        [{ name: 'x'.repeat(201) }, 'name'],
        [{ username: {} }, 'username'],
        [{ avatar_url: 'http://example.com/a.png' }, 'avatar_url'],
        [{ avatar_url: 'https:example.com/a.png' }, 'avatar_url'],
        [{ avatar_url: ' https://example.com/a.png' }, 'avatar_url'],
        [{ avatar_url: 'https://example.com/\na.png' }, 'avatar_url'],
        [{ auth_time: -1 }, 'auth_time'],
        [{ auth_time: 2 ** 53 }, 'auth_time'],
        [{ auth_time: one.clock.now() / 1000 + 61 }, 'auth_time'],
        [{ amr: ['x'.repeat(41)] }, 'amr'],
        [{ name: '' }, 'name'],
        [{ subject: 'é' }, 'subject'],
        [{ subject: 'a\u007f' }, 'subject'],
        [{ error: 'access_denied' }, 'error'],
        [{ error: 'server_error', subject: undefined }, 'error'],
      ];
      for (const [members, field] of bad) {
        const answer = await state(one, world.provider, request, members);
        assertRefused(answer, 400, 'invalid_request', JSON.stringify(members));
        assert.match(String(answer.body['error_description']), new RegExp(`^${field}\\b`), JSON.stringify(members));
      }
      const form = await fetch(`${one.appUrl}/api/auth/oauth/sign-in`, {
        method: 'POST',
        body: new URLSearchParams({ sign_in_request: request, subject: 'ada' }),
      });
      assert.equal(form.status, 415);
      const { error_description: description } = (await form.json()) as Record<string, string>;
      assert.equal(description, 'the body must be application/json, in UTF-8 and not compressed');
      assert.equal(
        (await state(one, world.provider, request, { unknown: [1] })).status,
        200,
        'unknown fields are ignored',
      );
      const raw: readonly [body: string, type: string, status: number, text: RegExp][] = [
        ['{"subject":"a","\\u0073ubject":"b"}', 'application/json', 400, /repeated/],
        ['{"__proto__":{"sign_in_request":"x"}}', 'application/json', 401, /client authentication failed/],
        ['{"auth_time":1e400', 'application/json', 400, /not JSON/],
        ['[]', 'application/json', 400, /not a JSON object/],
        ['sign_in_request=x', 'application/x-www-form-urlencoded', 415, /must be application\/json,/],
        [`{"name":"${'x'.repeat(65_536)}"}`, 'application/json', 413, /64 KiB/],
      ];
      for (const [body, type, status, text] of raw) {
        const answer = await postBody(`${one.appUrl}/api/auth/oauth/sign-in`, body, { 'Content-Type': type });
        assert.equal(answer.status, status, body.slice(0, 60));
        assert.match(String(answer.body['error_description']), text);
      }
      const inherited = { ...JSON.parse('{"__proto__":{"subject":"ada"}}'), subject: undefined };
      assertRefused(await state(one, world.provider, request, inherited), 400, 'invalid_request');
    });
  });
