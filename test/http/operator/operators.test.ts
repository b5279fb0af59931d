// The pages of operators on the wire: who may do which act, what each does, and what is shown once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACTS } from '../../../src/operator/access/rights.ts';
import { Browser } from '../../support/browser.ts';
import {
  addOperator,
  addSignInAddress,
  confirmInPlace,
  enrolledOperator,
  keptFields,
  postOwn,
  startConsole,
  type TestConsole,
  usePasskey,
} from '../../support/console.ts';
import { SoftPasskey } from '../../support/passkeys.ts';

const KEY = { name: 'portal', rights: ['clients.read', 'identify'] };

/** Each act of the pages: its path, and fields that are good. */
const FORMS: Record<string, [path: string, fields: Record<string, string | string[]>]> = {
  'operators.add': ['', { name: 'New', role: 'read' }],
  'operators.update': ['/ID/role', { role: 'support' }],
  'operators.end-sessions': ['/ID/end-sessions', {}],
  'operators.reset': ['/ID/reset', {}],
  'operators.add-key': ['/ID/keys', KEY],
  'operators.end-key': ['/ID/keys/end', { key: 'opk_none' }],
  'operators.disable': ['/ID/disable', {}],
  'operators.enable': ['/ID/enable', {}],
  'operators.delete': ['/ID/delete', {}],
};

/** The tag of an operator as a page shows them; empty on a page that is gone. */
async function tagOf(browser: Browser, page: string): Promise<string> {
  const { body } = await browser.get(page);
  return (/name="tag" value="([^"]*)"/.exec(body)?.[1] ?? '').replaceAll('&quot;', '"');
}

const actions = async ({ installation }: TestConsole) =>
  (await installation.audit.listAuditEvents({ limit: 200 })).map(({ action }) => action);

test('operators §3: support and read do no act on operators, and each try is recorded once an hour', async (t) => {
  const service = await startConsole(t);
  const { operator } = await addOperator(service, 'read', 'Target');
  const [support, read] = [await enrolledOperator(service, 'support'), await enrolledOperator(service, 'read')];
  const before = (await actions(service)).length;
  for (const { browser } of [support, read])
    for (const [act, [path, fields]] of Object.entries(FORMS))
      for (const _twice of [1, 2]) {
        const url = `${service.operatorUrl}/operators${path.replace('ID', operator.id)}`;
        const { status, body } = await postOwn(browser, url, fields);
        assert.deepEqual([status, /Your role does not allow this/.test(body)], [403, true], act);
      }
  const tries = (await actions(service)).slice(0, -before);
  assert.deepEqual(new Set(tries), new Set(['operator_refused']));
  assert.equal(tries.length, 2 * Object.keys(FORMS).length);
  assert.deepEqual(
    Object.keys(FORMS).filter((act) => !(act in ACTS)),
    [],
  );
  const { body } = await read.browser.get(`${service.operatorUrl}/operators/${operator.id}`);
  assert.match(body, /Target/);
  assert.deepEqual(body.match(/action="[^"]*"/g), ['action="/search"', 'action="/sign-out"'], 'nothing to press');
});

test('operators §2: each act on operators asks for a passkey that was used within 5 minutes, and then works', async (t) => {
  const service = await startConsole(t);
  const { operator } = await addOperator(service, 'admin', 'Target');
  const { browser, passkey } = await enrolledOperator(service);
  const at = `${service.operatorUrl}/operators`;
  service.clock.advance(300);
  for (const [act, [path, fields]] of Object.entries(FORMS)) {
    const before = await actions(service);
    for (const _twice of [1, 2]) {
      const asked = await postOwn(browser, at + path.replace('ID', operator.id), fields);
      assert.deepEqual(
        [asked.status, /Confirm that it’s you.* To (?!do this)[^,]*, use your passkey/s.test(asked.body)],
        [403, true],
        act,
      );
      const sent = Object.entries(fields).map(([name, value]) => [name, [value].flat()]);
      assert.deepEqual(keptFields(asked), Object.fromEntries(sent), act);
    }
    assert.deepEqual(await actions(service), before, 'a question is no refusal');
  }
  for (const [referer, page] of Object.entries({
    [`/operators/${operator.id}`]: `/operators/${operator.id}`,
    [`/operators/${operator.id}/keys/end`]: `/operators/${operator.id}`,
    [`/operators/${operator.id}?done=updated`]: `/operators/${operator.id}`,
    '/people/usr_1/update': '/people/usr_1',
    '/people?after=x': '/people?after=x',
    '/nothing/at/all': '/',
  })) {
    const headers = { 'Sec-Fetch-Site': 'same-origin', Origin: service.operatorUrl };
    const sent = { ...headers, Referer: service.operatorUrl + referer };
    const { body } = await browser.post(`${at}/${operator.id}/disable`, {}, sent);
    assert.equal(/<a [^>]*href="([^"]*)">Cancel/.exec(body)?.[1], page, 'back to a page, never to an act');
  }
  assert.equal((await usePasskey(browser, passkey, `${service.operatorUrl}/confirm`)).status, 303);
  for (const [act, [path, fields]] of Object.entries(FORMS)) {
    const sent = { ...fields, tag: await tagOf(browser, `${at}/${operator.id}`) };
    const { status } = await postOwn(browser, at + path.replace('ID', operator.id), sent);
    const expected = act === 'operators.end-key' ? [400] : [200, 303];
    assert.ok(expected.includes(status), `${act} ${status}`);
  }
  const done = (await actions(service)).slice(0, 9).reverse();
  assert.deepEqual(done, [
    'operator_confirmed',
    'operator_added',
    'operator_updated',
    'operator_sessions_ended',
    'operator_reset',
    'operator_key_added',
    'operator_disabled',
    'operator_enabled',
    'operator_deleted',
  ]);
});

test('operators §2: a session of a one-time address adds a passkey, and does nothing that needs presence', async (t) => {
  const service = await startConsole(t);
  const { operator } = await addOperator(service);
  const browser = new Browser({ 'Sec-Fetch-Site': 'same-origin' });
  await postOwn(browser, await addSignInAddress(service, operator));
  const at = service.operatorUrl;
  const refused = await postOwn(browser, `${at}/operators`, { name: 'New', role: 'admin' });
  assert.equal(refused.status, 403);
  assert.match(refused.body, /data-ceremony="create"/, 'there is no passkey to confirm with');
  for (const path of ['/operators', '/apps/new', '/people'])
    assert.match(
      (await browser.get(at + path)).body,
      /You have no passkey yet.*You create one right after you press the button/,
      path,
    );
  assert.match((await browser.get(`${at}/confirm`)).body, /You need a passkey/);
  const passkey = new SoftPasskey(at);
  const page = await browser.get(`${at}/passkeys/new`);
  const added = await postOwn(browser, `${at}/passkeys/new`, { answer: passkey.create(page), name: 'Stick' });
  assert.equal(added.headers.get('location'), '/passkeys?done=added');
  const own = await browser.get(`${at}/passkeys?done=added`);
  assert.match(own.body, /The passkey was added\./);
  assert.match(own.body, /begun with a one-time link\. Ends by 15 Jan 2026, 13:00 UTC\./);
  const asked = await postOwn(browser, refused.url, keptFields(refused));
  assert.match(
    (await confirmInPlace(browser, passkey, asked)).body,
    /The link for the new operator/,
    'what was kept is done',
  );
});

test('operators §2: the new operator enrolls at the address that is shown once; a reset ends passkeys and sessions', async (t) => {
  const service = await startConsole(t);
  const at = `${service.operatorUrl}/operators`;
  const { browser } = await enrolledOperator(service, 'admin', 'Ann');
  const shown = await postOwn(browser, at, { name: '<b>New</b>', role: 'support' });
  const [, url = ''] = /<code>(http[^<]*)<\/code>/.exec(shown.body) ?? [];
  assert.ok(!shown.body.includes('<b>New'));
  const [bob, passkey] = [new Browser(), new SoftPasskey(service.operatorUrl)];
  const enrolled = await postOwn(bob, url, { answer: passkey.create(await bob.get(url)) });
  assert.equal(enrolled.status, 303);
  assert.equal((await new Browser().get(url)).status, 400, 'used');
  const [id = ''] = /opr_\w+/.exec((await browser.get(at)).body.split('&lt;b&gt;New')[0]?.slice(-80) ?? '') ?? [];
  const again = await browser.submit(await browser.get(`${at}/${id}`), `/operators/${id}/reset`);
  assert.match(again.body, /enroll\?token=/);
  assert.equal((await bob.get(`${service.operatorUrl}/`)).status, 303);
  assert.equal((await usePasskey(bob, passkey, `${service.operatorUrl}/sign-in`)).status, 400);
});

test('operators §2: only a command removes, disables or demotes the last admin', async (t) => {
  const service = await startConsole(t);
  const { operator, browser } = await enrolledOperator(service, 'admin', 'Ann');
  for (const [path, fields] of [
    ['disable', {}],
    ['delete', {}],
    ['role', { role: 'support' }],
  ] as const) {
    const page = `/operators/${operator.id}`;
    const shown = await browser.get(service.operatorUrl + page);
    const { status, body } = await browser.submit(shown, `${page}/${path}`, fields);
    assert.deepEqual([status, /is the last admin/.test(body)], [400, true], path);
  }
  assert.equal((await browser.get(`${service.operatorUrl}/`)).status, 200);
});

test('operators §3: a key is shown once, and neither it nor a one-time address is in the audit trail, the log or another page', async (t) => {
  const service = await startConsole(t);
  const { operator, browser } = await enrolledOperator(service);
  const at = `${service.operatorUrl}/operators`;
  const made = await postOwn(browser, `${at}/${operator.id}/keys`, {
    ...{ name: 'portal', rights: 'clients.read' },
    ...(await shownAt(browser, `${at}/${operator.id}`)),
  });
  const [key = ''] = /vk_ok_[\w-]+/.exec(made.body) ?? [];
  assert.ok(key.length > 40, made.body);
  const added = await postOwn(browser, at, { name: 'Bob', role: 'admin' });
  const [, token = ''] = /token=([\w-]{43})/.exec(added.body) ?? [];
  const events = await service.installation.audit.listAuditEvents({ limit: 100 });
  const pages = await Promise.all(['', `/${operator.id}`].map((path) => browser.get(at + path)));
  const told = [JSON.stringify(events), ...service.log, ...pages.map(({ body }) => body)];
  const session = String(browser.cookies.get('operator_session'));
  const secrets = [key, token, session, String(browser.cookies.get('operator_browser'))];
  for (const secret of secrets) {
    assert.ok(secret.length > 40);
    assert.ok(!told.some((text) => text.includes(secret)));
  }
  assert.match(pages[1]?.body ?? '', /portal.*clients\.read/s);
});

test('operators §7: a refused form of an operator or a key comes back with what was typed', async (t) => {
  const service = await startConsole(t);
  const { browser, operator, passkey } = await enrolledOperator(service);
  const at = `${service.operatorUrl}/operators`;
  const key = { name: '<i>ci</i>', rights: ['clients.read', 'identify'] };
  const isKept = (body: string, ...parts: string[]) => {
    for (const part of parts) assert.ok(body.includes(part), part);
    assert.ok(!body.includes('<i>'));
  };
  service.clock.advance(301);
  const added = await postOwn(browser, at, { name: '<i>Bob</i>', role: 'support' });
  isKept(added.body, 'name="name" value="&lt;i&gt;Bob&lt;/i&gt;"', 'name="role" value="support"');
  const keyed = await postOwn(browser, `${at}/${operator.id}/keys`, key);
  isKept(keyed.body, 'value="&lt;i&gt;ci&lt;/i&gt;"', 'value="clients.read"', 'value="identify"');
  const shown = await confirmInPlace(browser, passkey, keyed);
  assert.equal(shown.status, 400, 'the key’s form had no tag');
  isKept(shown.body, 'value="&lt;i&gt;ci&lt;/i&gt;"', 'value="clients.read" checked', 'value="identify" checked');
  assert.ok(!shown.body.includes('value="clients.write" checked'));
  const taken = await postOwn(browser, at, { name: operator.name, role: 'admin' });
  assert.equal(taken.status, 400);
  isKept(taken.body, `value="${operator.name}"`, 'value="admin" selected', 'There is an operator');
  const none = await postOwn(browser, `${at}/${operator.id}/keys`, { name: 'ci' });
  assert.equal(none.status, 400);
  isKept(none.body, 'value="ci"', 'Nothing happened');
});

/** The fields with which the page of an operator says how it showed them. */
const shownAt = async (browser: Browser, page: string) => ({ tag: await tagOf(browser, page) });

/** The name of the form that adds something, on a page. */
const onceIn = ({ body }: { readonly body: string }) => /name="once" value="([^"]*)"/.exec(body)?.[1] ?? '';

test('operators §4: a form that is sent twice adds one operator or one key, and both answers say so', async (t) => {
  const service = await startConsole(t);
  const { browser, operator } = await enrolledOperator(service);
  const at = `${service.operatorUrl}/operators`;
  const page = `${at}/${operator.id}`;
  const forms = [
    [at, { name: 'Bob', role: 'read', once: onceIn(await browser.get(at)) }, /token=/, /one operator was added/],
    [
      `${page}/keys`,
      { name: 'ci', rights: 'clients.read', once: onceIn(await browser.get(page)), ...(await shownAt(browser, page)) },
      /vk_ok_/,
      /one key was added/,
    ],
  ] as const;
  for (const [url, fields, secret, twice] of forms) {
    const send = () => postOwn(browser, url, fields);
    const answers = [...(await Promise.all([send(), send()])), await send()];
    for (const { status } of answers) assert.equal(status, 200);
    assert.equal(answers.filter(({ body }) => secret.test(body)).length, 1);
    assert.match(answers[2]?.body ?? '', twice);
    const other = await postOwn(browser, url, { ...fields, name: 'Another' });
    assert.deepEqual([other.status, /sent before, with other values/.test(other.body)], [400, true]);
    assert.match(other.body, /value="Another"/);
    assert.notEqual(onceIn(other), fields.once);
  }
  assert.equal((await service.installation.operators.registry.list()).length, 2);
  assert.equal((await service.installation.operators.registry.listKeys(operator.id)).length, 1);
});

test('operators §7: a page that is out of date gives no key, and changes, enables, resets and deletes no operator', async (t) => {
  const service = await startConsole(t);
  const { registry } = service.installation.operators;
  const { browser } = await enrolledOperator(service);
  const { operator } = await addOperator(service, 'read', 'Target');
  const at = `${service.operatorUrl}/operators/${operator.id}`;
  const tag = () => tagOf(browser, at);
  const stale = await tag();
  await registry.update(operator.id, { role: 'support' }, service.installation.operator);
  for (const [act, fields] of Object.entries({ role: { role: 'read' }, keys: KEY, reset: {}, delete: {} })) {
    const refused = await postOwn(browser, `${at}/${act}`, { ...fields, tag: stale });
    assert.deepEqual([refused.status, /was changed meanwhile/.test(refused.body)], [400, true], act);
    assert.match(refused.body, /value="support" selected/, 'the form has the present role');
  }
  const shown = await tag();
  await registry.disable(operator.id, service.installation.operator);
  const disabled = await tag();
  assert.match((await browser.get(at)).body, /Disabled: every sign-in is refused.*Enable the operator.*<h2>Passkeys/s);
  await registry.update(operator.id, { role: 'admin' }, service.installation.operator);
  assert.equal((await postOwn(browser, `${at}/enable`, { tag: disabled })).status, 400);
  assert.equal((await postOwn(browser, `${at}/delete`, { tag: shown })).status, 400);
  assert.deepEqual((await registry.find(operator.id)).status, 'disabled');
  assert.equal((await postOwn(browser, `${at}/enable`, { tag: await tag() })).status, 303);
  assert.equal((await postOwn(browser, `${at}/delete`, { tag: await tag() })).status, 303);
});
