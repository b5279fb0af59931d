/** The sign-in endpoint of packages/product, from its tarball, on each framework, against a running service. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser } from '../support/browser.ts';
import { installProduct } from './installed.ts';
import { FRAMEWORKS } from './site.ts';
import { begin, press, startWorld } from './walks.ts';

const { modules } = await installProduct({ after });

for (const framework of FRAMEWORKS) {
  describe(framework, () => {
    test('a user signs in, chooses, takes another account, and refuses', async (t) => {
      const world = await startWorld(t, modules, framework);
      const browser = new Browser();
      const login = await begin(browser, world);
      assert.match(login.body, /Sign in to Photos.*Test App asks/s, 'its own page names the app');
      const consent = await press(browser, login, 'Sign in as ada');
      assert.match(consent.body, /value="allow"/);
      assert.match((await begin(browser, world)).body, /value="allow"/, 'a signed-in user sees no page of the product');

      const choice = await begin(browser, world, { prompt: 'select_account' });
      assert.match(choice.body, /Test App asks for access/);
      assert.match((await press(browser, choice, 'Go on as Ada <Lovelace>')).body, /Ada &lt;Lovelace&gt;/);
      const other = await press(browser, await begin(browser, world, { prompt: 'select_account' }), 'Another account');
      assert.match((await press(browser, other, 'Sign in as grace')).body, /Grace Hopper/);
      const third = await begin(browser, world, { prompt: 'select_account' });
      assert.match((await press(browser, third, 'No, go back')).url, /error=access_denied/);
      const refusing = new Browser();
      assert.match((await press(refusing, await begin(refusing, world), 'Refuse')).url, /error=access_denied/);
      assert.deepEqual(world.site.problems, []);
    });

    test('what is no answer of its own form is refused', async (t) => {
      const world = await startWorld(t, modules, framework);
      const browser = new Browser();
      await press(browser, await begin(browser, world), 'Sign in as ada');
      const choice = await begin(browser, world, { prompt: 'select_account' });
      for (const headers of [
        { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
        { Origin: 'https://evil.example', 'Sec-Fetch-Site': undefined },
        { Origin: undefined, 'Sec-Fetch-Site': undefined },
        { Origin: 'null', 'Sec-Fetch-Site': undefined },
      ])
        assert.equal((await press(browser, choice, 'Go on as Ada <Lovelace>', headers)).status, 403);
      assert.equal(world.site.problems.length, 4);
    });
  });
}
