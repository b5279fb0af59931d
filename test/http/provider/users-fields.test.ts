// What a provider says of its people, field by field, and how it proves itself where there is no body: on each store.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { PublicKey } from '../../../src/oauth/clients/client.ts';
import { Browser } from '../../support/browser.ts';
import { asJson, assertRefused, type JsonAnswer } from '../../support/flow.ts';
import { askUsers, atProvider, signInThrough, storesWithProvider } from '../../support/provider.ts';
import type { TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { ASSERTION_TYPE, assertionClaims, makeKey } from '../../support/standard.ts';

const server = await sharedPostgres();
after(() => server.remove());

const EMOJI = '😀';
const LONE = '\ud83d';

/** What is refused of each field, of one person or of one in a list. */
const WRONG: Record<string, readonly unknown[]> = {
  subject: ['', 'a b', 'ä', 'a\0', 'a\n', 'x'.repeat(256), 7, null],
  email: ['', 'a\0@example.com', `${LONE}@example.com`, 'x'.repeat(255), 7, false, {}],
  email_verified: ['true', 1, []],
  name: ['', 'A\0da', `Ada ${LONE}`, EMOJI.repeat(201), 7, ['Ada']],
  username: ['', '\0', LONE, 'x'.repeat(201), 7],
  avatar_url: [
    '',
    'http://a.example/x',
    '/x',
    'https://a.example/\0',
    `https://a.example/${LONE}`,
    7,
    `https://a.example/${'x'.repeat(2048)}`,
  ],
};

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`the fields of a provider’s people on ${store}`, { concurrency: true }, () => {
    const setUp = async (t: Parameters<typeof start>[0], settings: Parameters<typeof start>[1] = {}) => {
      const { instances, provider } = await start(t, settings);
      const one = instances[0] as TestService;
      const two = instances.at(-1) as TestService;
      // Each instance counts a moment late; here it is not the limit that is tried.
      const ask = (call: string, members?: Record<string, unknown>, at = one) => {
        one.clock.advance(1);
        return askUsers(at, provider, call, members);
      };
      return { one, two, provider, ask };
    };

    test('a field of another kind, too long, or with NUL or half a surrogate pair is refused by its name; nothing is shortened or written', async (t) => {
      const { one, ask } = await setUp(t);
      for (const [field, values] of Object.entries(WRONG))
        for (const value of values) {
          const what = `${field} ${JSON.stringify(value)?.slice(0, 40)}`;
          const says = (answer: JsonAnswer, name: string) => {
            assertRefused(answer, 400, 'invalid_request', what);
            assert.match(String(answer.body['error_description']), new RegExp(`^${name}[: ]`), what);
          };
          says(await ask('PUT ', { subject: 'ada', [field]: value }), field);
          const users = [{ subject: 'eve' }, { subject: 'ada', [field]: value }];
          says(await ask('PUT ', { users }), `users\\[1\\]\\.${field}`);
        }
      for (const subject of ['%00', '%ED%A0%BD', '%FF', 'a%20b', '', `${'x'.repeat(256)}`, 'a&subject=a'])
        for (const path of ['', '/connections'])
          assertRefused(await ask(`GET ${path}?subject=${subject}`), 400, 'invalid_request', subject);
      assertRefused(await ask('GET '), 400, 'invalid_request');
      for (const client_id of ['', 'a\0', LONE, 7, null, undefined])
        assertRefused(await ask('POST /connections/revoke', { subject: 'ada', client_id }), 400, 'invalid_request');
      assert.equal(await one.installation.accounts.hasAny(), false);
    });

    test('what is as long as it may be is kept as it was sent; what is not known is ignored', async (t) => {
      const { ask, two } = await setUp(t);
      const person = {
        subject: `!~${'x'.repeat(253)}`,
        email: `${'x'.repeat(242)}@example.com`,
        email_verified: true,
        name: EMOJI.repeat(200),
        username: 'ü'.repeat(200),
        avatar_url: `https://a.example/${'x'.repeat(2030)}`,
      };
      const unknown = { id: 'usr_mine', status: 'disabled', password: 'x', epoch: 7 };
      assert.equal((await ask('PUT ', { ...unknown, ...person })).status, 204);
      const { body } = await ask(`GET ?subject=${encodeURIComponent(person.subject)}`, undefined, two);
      assert.match(String(body['id']), /^usr_(?!mine)/);
      assert.deepEqual({ ...body, id: 0 }, { ...person, id: 0, status: 'active' });
    });

    test('each field: absent keeps it, and null clears it', async (t) => {
      const { ask } = await setUp(t);
      const full = {
        email: 'ada@example.com',
        email_verified: true,
        name: 'Ada',
        username: 'ada',
        avatar_url: 'https://a.example/ada.png',
      };
      await ask('PUT ', { subject: 'ada', ...full });
      let expected: Record<string, unknown> = { ...full };
      const shown = async () => {
        const { id: _id, status: _status, subject: _subject, ...rest } = (await ask('GET ?subject=ada')).body;
        return rest;
      };
      await ask('PUT ', { subject: 'ada' });
      assert.deepEqual(await shown(), expected);
      for (const field of Object.keys(full)) {
        assert.equal((await ask('PUT ', { subject: 'ada', [field]: null })).status, 204, field);
        expected = { ...expected, [field]: field === 'email_verified' ? false : null };
        // Without an address nothing is verified.
        if (field === 'email') expected['email_verified'] = false;
        assert.deepEqual(await shown(), expected, field);
      }
    });

    test('subjects are compared byte for byte, and with --own-ids are no ids that are made here', async (t) => {
      const { ask } = await setUp(t, { ownIds: true });
      const subjects = ['a', 'A', 'a.', 'a:', ':a', 'a%', '%61'];
      assert.equal((await ask('PUT ', { users: subjects.map((subject) => ({ subject, name: subject })) })).status, 204);
      for (const subject of subjects) {
        const { body } = await ask(`GET ?subject=${encodeURIComponent(subject)}`);
        assert.deepEqual([body['id'], body['subject'], body['name']], [subject, subject, subject]);
      }
      const refused = await ask('PUT ', { users: [{ subject: 'b' }, { subject: 'usr_b' }] });
      assertRefused(refused, 400, 'invalid_request');
      assert.match(String(refused.body['error_description']), /^users\[1\]\.subject /);
      assertRefused(await ask('GET ?subject=b'), 404, 'not_found');
    });

    test('who is erased is signed out, and what was known of them is known no more', async (t) => {
      const { one, two, provider, ask } = await setUp(t, { sessionLifetime: 43_200 });
      const browser = new Browser();
      await signInThrough(one, provider, browser, `${one.appUrl}/account/apps`);
      assert.equal((await browser.get(`${two.appUrl}/account/apps`)).status, 200);
      await ask('PUT ', { subject: 'ada', email: 'ada@example.com', name: 'Ada', avatar_url: 'https://a.example/a' });
      const { id } = (await ask('GET ?subject=ada')).body;
      assert.equal((await ask('POST /delete', { subject: 'ada' })).status, 204);
      atProvider(await browser.get(`${two.appUrl}/account/apps`));
      assert.equal(await one.installation.accounts.hasAny(), false);
      const events = await one.installation.audit.listAuditEvents({ resourceOwnerId: String(id), limit: 50 });
      assert.ok(events.length > 0);
      // As words: random ids have these letters in a row now and then.
      assert.doesNotMatch(JSON.stringify(events), /\b[Aa]da\b|a\.example/);
      await ask('PUT ', { subject: 'ada' });
      const { body } = await ask('GET ?subject=ada');
      assert.notEqual(body['id'], id);
      assert.deepEqual([body['email'], body['name'], body['avatar_url']], [null, null, null]);
    });

    test('a provider that signs with its own key asks all of it, with an assertion as bearer where there is no body', async (t) => {
      const key = makeKey();
      const { one, two, provider } = await setUp(t, { keys: [key.jwk as PublicKey] });
      const sign = (claims: object = {}) =>
        key.sign({ ...assertionClaims(two, { clientId: provider.id, clientSecret: '' }), aud: two.appUrl, ...claims });
      const url = `${two.appUrl}/api/auth/oauth/users`;
      const get = async (path: string, bearer?: string) =>
        asJson(await fetch(url + path, { headers: { Authorization: `Bearer ${bearer ?? (await sign())}` } }));
      const send = async (method: string, path: string, members: object) => {
        const body = { client_assertion: await sign(), client_assertion_type: ASSERTION_TYPE, ...members };
        const headers = { 'Content-Type': 'application/json' };
        return (await fetch(url + path, { method, headers, body: JSON.stringify(body) })).status;
      };
      assert.equal(await send('PUT', '', { subject: 'ada', name: 'Ada' }), 204);
      const once = await sign();
      assert.equal((await get('?subject=ada', once)).body['name'], 'Ada');
      assertRefused(await get('?subject=ada', once), 401, 'invalid_client', 'used before');
      assertRefused(await get('?subject=ada', await sign({ aud: 'https://other.example' })), 401, 'invalid_client');
      assertRefused(await get('?subject=ada', 'x'), 401, 'invalid_client');
      assert.deepEqual((await get('/connections?subject=ada')).body['connections'], []);
      assert.equal(await send('POST', '/connections/revoke', { subject: 'ada', client_id: 'app_example' }), 204);
      assert.equal(await send('POST', '/delete', { subject: 'ada' }), 204);
      const at = new Date(one.clock.now()).toISOString();
      const told = (await get('/disconnects')).body['disconnects'] as object[];
      assert.deepEqual(told.at(-1), { subject: 'ada', reason: 'account_ended', at });
      const posted = await fetch(`${url}/disable`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${await sign()}` },
        body: '{"subject":"ada"}',
      });
      assertRefused(await asJson(posted), 401, 'invalid_client', 'where there is a body it is in the body');
    });
  });
