/** What a browser, an app or another site may do to a product's sign-in endpoint. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { startService } from '../examples/product.ts';
import { allAccounts } from '../support/all-accounts.ts';
import { Browser } from '../support/browser.ts';
import { addClient, freePort } from '../support/service.ts';
import { standardUrl } from '../support/standard.ts';
import { installProduct } from './installed.ts';
import { PATH, startSite } from './site.ts';
import { begin, follow, press, startWorld, targetOf, type World } from './walks.ts';

const { modules } = await installProduct({ after });
const world = await startWorld({ after }, modules);

/** The address at the product that a new authorization request leads to. */
async function arrivalOf({ service, client }: World, browser: Browser, members = {}): Promise<string> {
  return (await browser.get(standardUrl(service, client, members))).headers.get('location') ?? '';
}

/** The cookies of requests that a browser holds. */
const requestsIn = ({ cookies }: Browser) => [...cookies].filter(([name]) => name.startsWith('valetkey_request_'));

test('a request that is changed, or in the cookie of another browser, is a page', async () => {
  const [one, other] = [new Browser(), new Browser()];
  const { url } = await begin(one, world);
  const next = world.site.url + new URL(url).searchParams.get('next');
  const stranger = await other.get(next);
  assert.deepEqual([stranger.status, /This sign-in is over/.test(stranger.body)], [400, true]);
  const [[name, value] = ['', '']] = requestsIn(one);
  for (const changed of [value.replace(/.$/, 'x~'), value.replace(/^./, '0'), value.slice(0, -1), 'a.b.c.d', '']) {
    one.cookies.set(name, changed);
    assert.match((await one.get(next)).body, /This sign-in is over/, changed);
  }
});

test('the two ends in different browsers: nobody is signed in by an address of another', async () => {
  const [victim, attacker] = [new Browser(), new Browser()];
  await press(victim, await begin(victim, world), 'Sign in as ada');
  const arrival = await arrivalOf(world, attacker);
  const kept = await victim.get(arrival);
  const back = await victim.get(new URL(kept.headers.get('location') ?? '', arrival).href);
  const end = await victim.get(back.headers.get('location') ?? '');
  assert.deepEqual([end.status, /can’t be finished here/.test(end.body)], [400, true]);
});

test('operators §2: an app’s name of 100 characters is whole, however many bytes each has, and a longer text is cut between characters', async () => {
  const browser = new Browser();
  const arrival = new URL(await arrivalOf(world, browser));
  const wish = async (members: Record<string, string>) => {
    for (const [name, value] of Object.entries(members)) arrival.searchParams.set(name, value);
    await follow(browser, await browser.get(arrival.href));
    return world.site.wishes.at(-1) as { appName: string; hint: string };
  };
  const name = `a${'😀'.repeat(99)}`;
  assert.equal((await wish({ client_name: name })).appName, name);
  const { appName, hint } = await wish({ client_name: `${name}😀`, login_hint: `ab${'😀'.repeat(254)}` });
  assert.deepEqual([appName, hint], [name, `ab${'😀'.repeat(252)}`]);
});

test('a forged post changes nothing, with or without the MAC of another request', async () => {
  const browser = new Browser();
  await press(browser, await begin(browser, world), 'Sign in as ada');
  const choice = await begin(browser, world, { prompt: 'select_account' });
  const other = await begin(browser, world, { prompt: 'select_account', state: 'other' });
  const own = { 'Content-Type': 'text/plain', Origin: world.site.url, 'Sec-Fetch-Site': 'same-origin' };
  const target = new URL(targetOf(choice, 'No, go back'));
  for (const mac of ['', 'x'.repeat(43), new URL(targetOf(other, 'No, go back')).searchParams.get('mac') ?? '']) {
    target.searchParams.set('mac', mac);
    assert.match((await browser.post(target.href, {}, own)).body, /Choose an account/, 'as without an answer');
  }
  const foreign = await browser.post(targetOf(choice, 'No, go back'), {}, { ...own, Origin: 'https://evil.example' });
  assert.equal(foreign.status, 403);
});

test('an answer is for the person whom the page named', async () => {
  const browser = new Browser();
  await press(browser, await begin(browser, world), 'Sign in as ada');
  const choice = await begin(browser, world, { prompt: 'select_account' });
  const grace = new Browser();
  await press(grace, await begin(grace, world), 'Sign in as grace');
  browser.cookies.set('sid', grace.cookies.get('sid') ?? '');
  assert.match((await press(browser, choice, 'Go on as Ada <Lovelace>')).body, /Go on as Grace Hopper/);
});

test('RFC 9700 §4.11: no header of a request makes an address: next is a path, and redirects to the endpoint are relative', async () => {
  const arrival = await arrivalOf(world, new Browser());
  const answers = new Promise<{ headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const sent = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' };
    request(arrival, { headers: { ...sent, Forwarded: 'host=evil.example' } }, resolve)
      .on('error', reject)
      .end();
  });
  const { headers } = await answers;
  assert.match(String(headers['location']), /^\/oauth\/sign-in\?request=[\w-]{16}$/);
  for (const cookie of headers['set-cookie'] ?? [])
    assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Lax$/, 'http by its address: not Secure');
});

test('RFC 9700 §4.11: what stands in the address leads nowhere else', async () => {
  const browser = new Browser();
  const arrival = new URL(await arrivalOf(world, browser));
  arrival.searchParams.set('next', 'https://evil.example/');
  arrival.searchParams.set('client_name', '"><script>alert(1)</script>\r\nX: y');
  const login = await follow(browser, await browser.get(arrival.href));
  assert.equal(new URL(login.url).origin, world.site.url);
  assert.doesNotMatch(login.body, /<script>|evil/);
  const choice = new URL(await arrivalOf(world, browser, { prompt: 'select_account' }));
  choice.searchParams.set('client_name', '"><script>alert(1)</script>');
  await press(browser, login, 'Sign in as ada');
  const again = await follow(browser, await browser.get(choice.href));
  assert.match(again.body, /Go on as|value="allow"/);
  assert.doesNotMatch(again.body, /<script>/);
});

/** The sentence for a person whose request is another product's or installation's. */
const FOREIGN =
  /<h1>This request is not for here<\/h1><p>It was made for another product or installation, or is too old: go back to the app, begin again there, and ask its support if this page comes back\.<\/p>/;

test('a request of another installation is refused by Valetkey, and the page says so without a loop', async (t) => {
  const elsewhere = await startWorld(t, modules);
  const browser = new Browser();
  await press(browser, await begin(browser, world), 'Sign in as ada');
  const arrival = new URL(await arrivalOf(elsewhere, new Browser()));
  const end = await follow(browser, await browser.get(world.site.url + arrival.pathname + arrival.search));
  assert.equal(end.status, 400);
  assert.match(end.body, FOREIGN);
  assert.equal(world.site.problems.at(-1)?.code, 'invalid_grant');
});

test('a request of another provider of the same installation is refused in plain words', async (t) => {
  const port = await freePort();
  const music = { id: 'music', name: 'Music', signInUrl: 'http://localhost:9/sign-in' };
  const { service, secret } = await startService(t, `http://localhost:${port}${PATH}`, {}, [music]);
  const site = await startSite(t, modules, 'Express', { url: service.appUrl, secret }, port);
  const client = await addClient(service);
  const browser = new Browser();
  const to = async (provider: string) => {
    const choice = await browser.get(standardUrl(service, client));
    const [, href] = new RegExp(`href="(/sign-in/with\\?provider=${provider}&[^"]*)"`).exec(choice.body) ?? [];
    assert.ok(href, choice.body);
    return browser.get(service.appUrl + href.replaceAll('&amp;', '&'));
  };
  const foreign = new URL((await to('music')).headers.get('location') ?? '');
  assert.equal(foreign.origin, 'http://localhost:9');
  const login = await follow(browser, await browser.get(site.url + PATH + foreign.search));
  const end = await press(browser, login, 'Sign in as ada');
  assert.equal(end.status, 400);
  assert.match(end.body, FOREIGN);
  const [problem] = site.problems;
  assert.equal(problem?.code, 'invalid_grant');
  assert.match(problem.message, /sign_in_request is broken, expired, or was not for this identity provider/);
  assert.deepEqual([requestsIn(browser), await allAccounts(service.installation.accounts)], [[], []]);
  assert.match((await follow(browser, await to('product'))).body, /value="allow"/, 'begun again, it works');
});

test('what is logged holds no secret, no request and no address', async (t) => {
  const own = await startWorld(t, modules);
  const browser = new Browser();
  const arrival = await arrivalOf(own, browser);
  const login = await follow(browser, await browser.get(arrival));
  own.service.clock.advance(3601);
  const late = await press(browser, login, 'Sign in as ada');
  assert.match(late.body, FOREIGN, 'for Valetkey, whose clock alone went on, it is too old');
  const said = JSON.stringify(own.site.problems);
  assert.match(said, /invalid_grant/);
  for (const part of [own.secret, new URL(arrival).searchParams.get('sign_in_request') ?? '', 'ticket'])
    assert.ok(!said.includes(part), said);
});

test('three requests at most, and the oldest goes first; two tabs are two requests', async () => {
  const browser = new Browser();
  const pages = [];
  for (const state of ['one', 'two', 'three', 'four']) pages.push(await begin(browser, world, { state }));
  assert.equal(requestsIn(browser).length, 3);
  const [first, second, third] = pages;
  assert.ok(first && second && third);
  const lost = await press(browser, first, 'Sign in as ada');
  assert.match(lost.body, /This sign-in is over/);
  for (const [page, state] of [
    [third, 'three'],
    [second, 'two'],
  ] as const) {
    const consent = await follow(
      browser,
      await browser.get(world.site.url + new URL(page.url).searchParams.get('next')),
    );
    assert.match(consent.url, new RegExp(`state=${state}`));
  }
});

test('the longest request that Valetkey seals fits, in two cookies; of three such the newest is kept', async () => {
  const client = await addClient(world.service);
  const browser = new Browser();
  const begun = async (state: string) => {
    for (let length = 4300; length > 3000; length -= 20) {
      const long = {
        client_id: client.clientId,
        state: state + randomBytes(length).toString('base64url').slice(0, length),
        ui_locales: 'en',
      };
      const visit = await browser.get(standardUrl(world.service, client, long));
      const location = visit.headers.get('location') ?? '';
      if (location.startsWith(world.site.url)) return location;
    }
    throw new Error('none is sealed');
  };
  const arrival = await begun('a');
  const sealed = new URL(arrival).searchParams.get('sign_in_request') ?? '';
  assert.ok(sealed.length > 4200, `${sealed.length} characters`);
  const login = await follow(browser, await browser.get(arrival));
  const kept = requestsIn(browser);
  assert.equal(kept.length, 2);
  for (const [, value] of kept) assert.ok(value.length <= 3800);
  assert.match((await press(browser, login, 'Sign in as ada')).body, /value="allow"/);
  await browser.get(await begun('b'));
  await browser.get(await begun('c'));
  const characters = requestsIn(browser).reduce((sum, [, value]) => sum + value.length, 0);
  assert.ok(characters <= 7000, `${characters} characters`);
});

test('what is longer than headers bear, or no request, is a page', async () => {
  for (const text of ['x'.repeat(7000), 'a b', '', 'ä'])
    assert.equal(
      (await new Browser().get(`${world.site.url}${PATH}?sign_in_request=${encodeURIComponent(text)}`)).status,
      400,
    );
  assert.equal((await new Browser().get(world.site.url + PATH)).status, 400);
  const browser = new Browser();
  const kept = await browser.get(
    `${world.site.url}${PATH}?sign_in_request=${'x'.repeat(6000)}&login_hint=${'y'.repeat(900)}`,
  );
  assert.deepEqual([kept.status, requestsIn(browser).length], [303, 2], 'the longest that Valetkey promises');
});
