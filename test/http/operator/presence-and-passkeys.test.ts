// A removed or copied passkey leaves none of its sessions and no presence behind, on both stores.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { shownOperator } from '../../../src/cli/operators/operator-view.ts';
import type { Operator } from '../../../src/operator/access/operator.ts';
import { makeRootKey } from '../../../src/settings/root-keys.ts';
import { Browser, type Visit } from '../../support/browser.ts';
import {
  addSignInAddress,
  enrolledOperator,
  postOwn,
  startConsole,
  type TestConsole,
  usePasskey,
} from '../../support/console.ts';
import { SoftPasskey, type Tampered } from '../../support/passkeys.ts';
import type { Lifetime } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { storesOfRun } from '../../support/stores.ts';

const server = await sharedPostgres();
after(() => server.remove());

const STORES: Record<string, (folder: string) => string | Promise<string>> = {
  SQLite: (folder) => `sqlite:${join(folder, 'valetkey.db')}`,
  PostgreSQL: () => server.createDatabase(),
};

/** An operator with two passkeys, signed in at one browser with the first of them, which was used just now. */
async function startWithTwo(t: Lifetime, database: (folder: string) => string | Promise<string>) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  const variables = { VALETKEY_DATABASE_URL: await database(folder), VALETKEY_KEYS: makeRootKey() };
  const service = await startConsole(t, variables);
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { operator, browser, passkey: laptop } = await enrolledOperator(service);
  const phone = new SoftPasskey(service.operatorUrl);
  assert.ok(isAdded(await enroll(service, browser, phone, 'phone')));
  return { service, operator, browser, laptop, phone };
}

async function enroll({ operatorUrl }: TestConsole, browser: Browser, passkey: SoftPasskey, name: string) {
  const page = await browser.get(`${operatorUrl}/passkeys/new`);
  if (page.status !== 200) return page;
  return postOwn(browser, `${operatorUrl}/passkeys/new`, { answer: passkey.create(page), name });
}

function isAdded({ headers }: Visit): boolean {
  return headers.get('location') === '/passkeys?done=added';
}

async function signIn({ operatorUrl }: TestConsole, passkey: SoftPasskey): Promise<Browser> {
  const browser = new Browser({ 'Sec-Fetch-Site': 'same-origin' });
  assert.equal((await usePasskey(browser, passkey, `${operatorUrl}/sign-in`)).status, 303);
  return browser;
}

async function remove({ operatorUrl }: TestConsole, browser: Browser, { id }: SoftPasskey): Promise<void> {
  const { headers } = await postOwn(browser, `${operatorUrl}/passkeys/remove`, { passkey: id });
  assert.equal(headers.get('location'), '/passkeys?done=removed');
}

/** The passkeys of an operator by name, with the times of their marks. */
async function marks({ installation }: TestConsole, { id }: Operator): Promise<[string, number | null][]> {
  const passkeys = await installation.operators.store.listPasskeys(id);
  return passkeys.map((each): [string, number | null] => [each.name, each.suspectedAt]).sort();
}

/** A session: `ended`, signed in, or signed in with presence. */
async function stateOf({ operatorUrl }: TestConsole, browser: Browser): Promise<'ended' | 'signed in' | 'present'> {
  if ((await browser.get(`${operatorUrl}/passkeys`)).status !== 200) return 'ended';
  const { status, headers } = await browser.get(`${operatorUrl}/passkeys/new`);
  if (status === 200) return 'present';
  assert.match(String(headers.get('location')), /^\/confirm/);
  return 'signed in';
}

for (const [name, database] of storesOfRun(STORES))
  describe(`operators §2: presence ends with its passkey, ${name}`, () => {
    test('after a passkey is removed at one session, another one that it began enrolls no passkey and adds no admin', async (t) => {
      const { service, operator, browser, phone } = await startWithTwo(t, database);
      const thief = await signIn(service, phone);
      const [opened, stick] = [await thief.get(`${service.operatorUrl}/passkeys/new`), new SoftPasskey(phone.origin)];
      await remove(service, browser, phone);
      const late = await postOwn(thief, `${service.operatorUrl}/passkeys/new`, { answer: stick.create(opened) });
      assert.ok(!isAdded(late), 'a page that was open before');
      assert.ok(!isAdded(await enroll(service, thief, stick, 'stick')));
      await postOwn(thief, `${service.operatorUrl}/operators`, { name: 'Eve', role: 'admin' });
      const { registry, store } = service.installation.operators;
      assert.deepEqual(
        (await registry.list()).map((each) => each.name),
        [operator.name],
      );
      assert.deepEqual(
        (await store.listPasskeys(operator.id)).map((each) => each.name),
        ['laptop'],
      );
      assert.equal(await stateOf(service, thief), 'ended');
    });

    test('a removal ends the sessions that the passkey began or last confirmed, and those of one-time links; the others lose presence', async (t) => {
      const { service, operator, browser, laptop, phone } = await startWithTwo(t, database);
      const confirm = `${service.operatorUrl}/confirm`;
      const [byPhone, byLaptop] = [await signIn(service, phone), await signIn(service, laptop)];
      const [begun, confirmed] = [await signIn(service, phone), await signIn(service, laptop)];
      assert.equal((await usePasskey(begun, laptop, confirm)).status, 303);
      assert.equal((await usePasskey(confirmed, phone, confirm)).status, 303);
      const byLink = new Browser({ 'Sec-Fetch-Site': 'same-origin' });
      await postOwn(byLink, await addSignInAddress(service, operator));
      const { browser: bob } = await enrolledOperator(service, 'admin', 'Bob');
      await remove(service, browser, phone);
      assert.deepEqual(
        await Promise.all(
          [byPhone, begun, confirmed, byLink, byLaptop, browser, bob].map((each) => stateOf(service, each)),
        ),
        ['ended', 'ended', 'ended', 'ended', 'signed in', 'present', 'present'],
      );
      assert.equal((await usePasskey(byLaptop, laptop, confirm)).status, 303);
      assert.equal(await stateOf(service, byLaptop), 'present');
    });

    test('the session that removes its own passkey goes on, and is present once another one confirms it', async (t) => {
      const { service, browser, laptop, phone } = await startWithTwo(t, database);
      await remove(service, browser, laptop);
      assert.equal(await stateOf(service, browser), 'signed in');
      const { status } = await postOwn(browser, `${service.operatorUrl}/operators`, { name: 'Eve', role: 'admin' });
      assert.equal(status, 403);
      assert.equal((await usePasskey(browser, phone, `${service.operatorUrl}/confirm`)).status, 303);
      assert.equal(await stateOf(service, browser), 'present');
    });

    test('WebAuthn L3 §6.1.1: a counter that went back ends the sessions of its passkey, takes presence from the others, and marks the passkey until it is removed', async (t) => {
      const { service, operator, browser, laptop, phone } = await startWithTwo(t, database);
      const { operatorUrl, installation } = service;
      phone.counter = 5;
      const [byPhone, confirmed] = [await signIn(service, phone), await signIn(service, laptop)];
      phone.counter = 6;
      assert.equal((await usePasskey(confirmed, phone, `${operatorUrl}/confirm`)).status, 303);
      const byLink = new Browser({ 'Sec-Fetch-Site': 'same-origin' });
      await postOwn(byLink, await addSignInAddress(service, operator));
      const { browser: bob } = await enrolledOperator(service, 'read', 'Bob');
      const states = () =>
        Promise.all([byPhone, confirmed, browser, byLink, bob].map((each) => stateOf(service, each)));
      const before = ['present', 'present', 'present', 'present', 'present'];
      assert.deepEqual(await states(), before);

      const answer = async (tampered: Tampered) => {
        const copy = new Browser();
        const page = await copy.get(`${operatorUrl}/sign-in`);
        return (await postOwn(copy, `${operatorUrl}/sign-in`, { answer: phone.get(page, tampered) })).status;
      };
      assert.equal(await answer({ counter: 5, isForged: true }), 400);
      assert.deepEqual(await states(), before, 'unsigned, it is no one’s');
      service.clock.advance(1);
      assert.equal(await answer({ counter: 6 }), 400);
      const [event] = await installation.audit.listAuditEvents({ limit: 1 });
      assert.match(
        `${event?.action} ${event?.detail}`,
        /^operator_refused \{"passkey":"phone","reason":"its counter did not go on/,
      );
      assert.deepEqual(await states(), ['ended', 'ended', 'signed in', 'present', 'present']);
      const marked = () => marks(service, operator);
      const at = service.clock.now();
      assert.deepEqual(await marked(), [
        ['laptop', null],
        ['phone', at],
      ]);

      service.clock.advance(1);
      phone.counter = 7;
      const again = await signIn(service, phone);
      assert.equal(await answer({ counter: 7 }), 400);
      assert.equal(await stateOf(service, again), 'ended', 'each time');
      assert.deepEqual((await marked())[1], ['phone', at], 'the mark keeps its first time');
      const own = await browser.get(`${operatorUrl}/passkeys`);
      assert.match(own.body, /phone.*May have been copied/s);
      assert.match((await bob.get(`${operatorUrl}/operators/${operator.id}`)).body, /phone.*May have been copied/s);
      const { registry } = installation.operators;
      const shown = shownOperator(await registry.show(operator.id));
      assert.match(JSON.stringify(shown.json), /"suspected_copied_at":"2026-01-15T12:00:01.000Z"/);
      assert.match(shown.text.join('\n'), /phone, .*may have been copied.*\n.*\n/);
      assert.match(String(shown.note), /adds another passkey.*operator reset opr_/);
      const { text: key } = await registry.addKey(
        'Bob',
        { name: 'watch', rights: ['status.read'] },
        installation.operator,
      );
      const findings = async () =>
        (await new Browser({ Authorization: `Bearer ${key}` }).get(`${operatorUrl}/v1/status`)).body;
      assert.match(await findings(), /the passkey phone of the operator Ann admin may have been copied/);
      assert.equal((await usePasskey(browser, laptop, `${operatorUrl}/confirm`)).status, 303);
      await remove(service, browser, phone);
      assert.deepEqual(await marked(), [['laptop', null]]);
      service.clock.advance(10);
      assert.doesNotMatch(await findings(), /copied/);
      assert.doesNotMatch((await browser.get(`${operatorUrl}/passkeys`)).body, /copied/);
    });

    test('operators §1: a program is no admin who could change operators on the pages, nor is an operator without a passkey', async (t) => {
      const { service, operator } = await startWithTwo(t, database);
      const { installation } = service;
      const { registry } = installation.operators;
      await registry.addProgram('portal', 'admin', installation.operator);
      await registry.add('Bob', 'admin', installation.operator);
      await enrolledOperator(service, 'support', 'Cem');
      assert.equal(await registry.hasAdminOnPages(), true);
      await registry.disable(operator.id, installation.operator);
      assert.equal(await registry.hasAdminOnPages(), false);
      await registry.enable(operator.id, installation.operator);
      assert.equal(await registry.hasAdminOnPages(), true);
    });

    test('WebAuthn L3 §7.2: an answer that comes again is a repeat: it ends nothing, and marks nothing', async (t) => {
      const { service, operator, browser, phone } = await startWithTwo(t, database);
      const url = `${service.operatorUrl}/sign-in`;
      phone.counter = 5;
      const again = new Browser({ 'Sec-Fetch-Site': 'same-origin' });
      const answer = phone.get(await again.get(url));
      assert.equal((await postOwn(again, url, { answer })).status, 303);
      const repeat = new Browser({ 'Sec-Fetch-Site': 'same-origin' });
      repeat.cookies.set('operator_browser', String(again.cookies.get('operator_browser')));
      assert.equal((await postOwn(repeat, url, { answer })).status, 400);
      assert.deepEqual([await stateOf(service, again), await stateOf(service, browser)], ['present', 'present']);
      assert.deepEqual(await marks(service, operator), [
        ['laptop', null],
        ['phone', null],
      ]);
    });

    test('WebAuthn L3 §6.1.1: of two copies that answer at once with one count, the second one is noticed', async (t) => {
      const { service, operator, phone } = await startWithTwo(t, database);
      phone.counter = 9;
      const url = `${service.operatorUrl}/sign-in`;
      const browsers = [new Browser(), new Browser()];
      const pages = await Promise.all(browsers.map((each) => each.get(url)));
      const answers = pages.map((page) => phone.get(page));
      const done = await Promise.all(browsers.map((each, at) => postOwn(each, url, { answer: answers[at] ?? '' })));
      assert.deepEqual(done.map(({ status }) => status).sort(), [303, 400]);
      assert.deepEqual((await marks(service, operator))[1], ['phone', service.clock.now()]);
      assert.deepEqual(await Promise.all(browsers.map((each) => stateOf(service, each))), ['ended', 'ended']);
    });
  });
