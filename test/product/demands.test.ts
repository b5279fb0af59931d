/** What an app demands of a sign-in (`prompt`, `max_age`), and what a product does with it: never a loop. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Browser } from '../support/browser.ts';
import { installProduct } from './installed.ts';
import { PATH } from './site.ts';
import { begin, follow, press, startWorld } from './walks.ts';

const { modules } = await installProduct({ after });

for (const members of [{ prompt: 'login' }, { max_age: '0' }]) {
  const asked = JSON.stringify(members);

  test(`OpenID Connect Core §3.1.2.1: ${asked}: a user who is signed in signs in again, and once`, async (t) => {
    const world = await startWorld(t, modules);
    const browser = new Browser();
    await press(browser, await begin(browser, world), 'Sign in as ada');
    const login = await begin(browser, world, members);
    assert.match(login.body, /Sign in to Photos/);
    const { mustSignIn } = world.site.wishes.at(-1) as { mustSignIn: boolean };
    assert.equal(mustSignIn, true);
    assert.match((await press(browser, login, 'Sign in as ada')).body, /value="allow"/);
  });

  test(`${asked}: a sign-in page that sends signed-in people straight back makes no loop`, async (t) => {
    const world = await startWorld(t, modules, 'Express', { sendsBack: true });
    const browser = new Browser();
    await press(browser, await begin(browser, world), 'Sign in as ada');
    const page = await begin(browser, world, members);
    assert.match(page.body, /Sign out first.*still signed in as Ada &#60;Lovelace&#62;/s);
    await browser.get(`${world.site.url}/out`);
    const login = await press(browser, page, 'Go on');
    assert.match((await press(browser, login, 'Sign in as ada')).body, /value="allow"/);
  });

  test(`${asked}: a product that keeps no times asks to sign out first, and then goes on`, async (t) => {
    const world = await startWorld(t, modules, 'Express', { forgetsTimes: true });
    const browser = new Browser();
    await press(browser, await begin(browser, world), 'Sign in as ada');
    const page = await begin(browser, world, members);
    assert.match(page.body, /Sign out first/);
    assert.match((await press(browser, page, 'Go on')).body, /Sign out first/, 'as long as it is so');
    await browser.get(`${world.site.url}/out`);
    const login = await press(browser, page, 'Go on');
    assert.match((await press(browser, login, 'Sign in as grace')).body, /value="allow"/);
  });
}

test('without times, another account is chosen on the page for it, and nobody is asked to sign out', async (t) => {
  const world = await startWorld(t, modules, 'Express', { forgetsTimes: true });
  const browser = new Browser();
  await press(browser, await begin(browser, world), 'Sign in as ada');
  const choice = await begin(browser, world, { prompt: 'select_account' });
  const again = await press(browser, await press(browser, choice, 'Another account'), 'Sign in as grace');
  assert.match((await press(browser, again, 'Go on as Grace Hopper')).body, /Grace Hopper/);
});

test('OpenID Connect Core §3.1.2.1: a sign-in that is newer than max_age does, and an older one does not', async (t) => {
  const world = await startWorld(t, modules);
  const browser = new Browser();
  await press(browser, await begin(browser, world), 'Sign in as ada');
  assert.match((await begin(browser, world, { max_age: '600' })).body, /value="allow"/);
});

test('a user whom the product does not see after the sign-in gets a page, and no loop', async (t) => {
  const world = await startWorld(t, modules);
  const browser = new Browser();
  const login = await begin(browser, world);
  browser.cookies.delete('sid');
  const next = new URL(login.url).searchParams.get('next') ?? '';
  assert.ok(next.startsWith(`${PATH}?`), 'a path of the product');
  const page = await browser.get(world.site.url + next);
  assert.match(page.body, /You are not signed in/);
  assert.equal(world.site.problems[0]?.code, 'no_user_after_login');
  assert.match((await press(browser, page, 'Sign in')).body, /Sign in to Photos/);
});

test('sessions that are Strict: an arrival from another site without a user loads once more', async (t) => {
  const world = await startWorld(t, modules, 'Express', { strict: true });
  const browser = new Browser({ 'Sec-Fetch-Site': 'cross-site' });
  const page = await begin(browser, world);
  const [, again = ''] = /^0;url=(.*)$/.exec(page.headers.get('refresh') ?? '') ?? [];
  const url = new URL(again, page.url).href;
  const login = await follow(browser, await browser.get(url));
  assert.match(login.body, /Sign in to Photos/, 'and no third time');
});
