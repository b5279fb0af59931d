/** Answers that get lost on their way, and people who take nearly the whole hour: they get in, once. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { allAccounts } from '../support/all-accounts.ts';
import { Browser } from '../support/browser.ts';
import { standardUrl } from '../support/standard.ts';
import { installProduct } from './installed.ts';
import { begin, follow, press, startWorld, targetOf, type World } from './walks.ts';

const { modules } = await installProduct({ after });

const accountsOf = async ({ service }: World) => (await allAccounts(service.installation.accounts)).length;

for (const members of [{}, { prompt: 'login' }, { max_age: '0' }])
  test(`${JSON.stringify(members)}: the browser lost the answer after the statement: it asks again, and gets in`, async (t) => {
    const world = await startWorld(t, modules);
    const browser = new Browser();
    const login = await begin(browser, world, members);
    const signedIn = await browser.post(targetOf(login, 'Sign in as ada'), {}, { Origin: world.site.url });
    const endpoint = new URL(signedIn.headers.get('location') ?? '', world.site.url).href;
    // Another browser with the same cookies takes the answer away: here it never comes, and no cookie changes.
    const lost = new Browser();
    for (const [name, value] of browser.cookies) lost.cookies.set(name, value);
    const answer = await lost.get(endpoint);
    assert.ok(answer.headers.get('location')?.startsWith(world.service.appUrl), 'the server stated who it is');
    assert.match((await follow(browser, await browser.get(endpoint))).body, /value="allow"/);
    assert.deepEqual([await accountsOf(world), world.site.problems], [1, []]);
    assert.match((await begin(browser, world)).body, /value="allow"/, 'and the next time');
    assert.equal(await accountsOf(world), 1);
  });

/** Loses the next answers to statements, after Valetkey gave them. */
function losing(t: TestContext): { next: number; sent: string[] } {
  const line = { next: 0, sent: [] as string[] };
  const { fetch } = globalThis;
  t.mock.method(globalThis, 'fetch', async (...parts: Parameters<typeof fetch>) => {
    if (!String(parts[0]).endsWith('/api/auth/oauth/sign-in')) return fetch(...parts);
    line.sent.push(String(parts[1]?.body));
    const response = await fetch(...parts);
    if (line.next === 0) return response;
    line.next -= 1;
    assert.equal(response.status, 200);
    throw new TypeError('fetch failed');
  });
  return line;
}

test('the product’s server lost the answer: it states the same again, and the user notices nothing', async (t) => {
  const line = losing(t);
  const world = await startWorld(t, modules);
  const browser = new Browser();
  const login = await begin(browser, world);
  line.next = 2;
  assert.match((await press(browser, login, 'Sign in as ada')).body, /value="allow"/);
  assert.deepEqual([line.sent.length, new Set(line.sent).size], [3, 1]);
  assert.deepEqual([await accountsOf(world), world.site.problems], [1, []]);
});

test('it lost all of them: a page says to try again, and that leads on', async (t) => {
  const line = losing(t);
  const world = await startWorld(t, modules);
  const browser = new Browser();
  const login = await begin(browser, world);
  line.next = 3;
  const page = await press(browser, login, 'Sign in as ada');
  assert.deepEqual([page.status, /Apps can’t be connected now. Try again in a minute/.test(page.body)], [503, true]);
  assert.equal(world.site.problems[0]?.code, 'unreachable');
  assert.match((await press(browser, page, 'Try again')).body, /value="allow"/);
  assert.equal(await accountsOf(world), 1);
});

for (const members of [{}, { prompt: 'login' }, { max_age: '0' }, { prompt: 'select_account' }])
  test(`${JSON.stringify(members)}: a request that was kept for an hour works just before its end`, async (t) => {
    const world = await startWorld(t, modules);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const browser = new Browser();
    const arrival = (await browser.get(standardUrl(world.service, world.client, members))).headers.get('location');
    const kept = await browser.get(arrival ?? '');
    const [cookie] = kept.headers.getSetCookie().filter((line) => line.startsWith('valetkey_request_'));
    assert.match(cookie ?? '', /; Max-Age=3600;/, 'the browser, too, keeps it as long');
    const login = await follow(browser, kept);
    t.mock.timers.tick(3_590_000);
    world.service.clock.advance(3590);
    assert.match((await press(browser, login, 'Sign in as ada')).body, /value="allow"/);
    assert.deepEqual(world.site.problems, []);
  });
