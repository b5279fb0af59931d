/** The members of events: each face shows them as they were recorded, and no name passes for another fact. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUDIT_ACTIONS, type AuditAction, auditEvent } from '../../../src/oauth/trail/audit.ts';
import { type DetailOf, EVENT_MEMBERS } from '../../../src/oauth/trail/event-members.ts';
import type { EventJson } from '../../../src/operator/json/event.ts';
import { enrolledOperator, startConsole } from '../../support/console.ts';
import { addKey, call, commandJson } from '../../support/operator-api.ts';

const textOf = (body: string) =>
  body
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Names that look like other facts, and what JSON, HTML, SQL and a terminal treat in a way of their own. */
const HOSTILE = [
  'a: opk_0000000000000000 nightly',
  'x, at a one-time address',
  'by a restore: nightly',
  '{"by_restore":true}',
  '"; Key: opk_0000000000000000; x: "',
  'x; require_pkce -true +false',
  '</script><script>alert(1)</script>',
  "'); DELETE FROM audit_event; --",
  '__proto__',
  '',
  '\\u0000 \\ " \t\n\u2028 ü 日本',
  'a\0b\ud800c',
];
const kept = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');

/** A value of a member of some kind, with a hostile text wherever a text may stand. */
function sampleOf(kind: string, text: string): unknown {
  const values: Readonly<Record<string, unknown>> = {
    ...{ text, texts: [text, 'b'], time: text, number: 7, boolean: false, flag: true },
    changes: [{ name: text, removed: [text], added: ['b', text] }],
  };
  return values[kind.replace('?', '')];
}

/** The detail of an act with all of its members, which are given in the opposite order. */
function detailOf(action: AuditAction, text: string): Record<string, unknown> {
  const entries = Object.entries(EVENT_MEMBERS[action]).map(([name, kind]) => [name, sampleOf(kind, text)]);
  return Object.fromEntries(entries.reverse());
}

/** The same as it is recorded. */
function recordedAs(detail: Record<string, unknown>): unknown {
  if (Object.keys(detail).length === 0) return null;
  return JSON.parse(JSON.stringify(detail), (_, value) => (typeof value === 'string' ? kept(value) : value));
}

test('operators §7: list, page, API, command and export show the members of every kind of event as they were recorded', async (t) => {
  const service = await startConsole(t);
  const { key } = await addKey(service);
  const { browser } = await enrolledOperator(service, 'read');
  const { installation, operatorUrl, clock } = service;
  const said: { action: AuditAction; detail: Record<string, unknown>; sequence: number }[] = [];
  const record = async (action: AuditAction, text: string) => {
    const detail = detailOf(action, text);
    const event = auditEvent('sign_out', { ...installation.operator, by: text }, clock.now(), {});
    await installation.audit.recordDenial({ ...event, action, detail: detail as DetailOf<AuditAction> });
    const [{ sequence } = { sequence: 0 }] = await installation.audit.listAuditEvents({ limit: 1 });
    said.push({ action, detail, sequence });
  };
  const withMembers = AUDIT_ACTIONS.filter((action) => typeof EVENT_MEMBERS[action] === 'object');
  for (const [at, action] of withMembers.entries())
    for (const text of [HOSTILE[at % HOSTILE.length] as string, HOSTILE[(at * 5 + 1) % HOSTILE.length] as string])
      await record(action, text);

  const listed = (await commandJson(service, 'audit', 'list', '--limit', '1000')) as EventJson[];
  const exported = (await commandJson(service, 'audit', 'export')) as { sequence: number; detail: string | null }[];
  for (const [at, { action, detail, sequence }] of said.entries()) {
    if (at % 50 === 49) clock.advance(10); // A key makes 100 calls in 10 seconds.
    const [what, expected] = [`${action} ${JSON.stringify(detail)}`, recordedAs(detail)];
    const event = listed.find((each) => each.sequence === sequence) ?? assert.fail(what);
    assert.deepEqual(event.members, expected, what);
    const { body } = await call(service, key, `/v1/audit-events/${sequence}`);
    assert.deepEqual(body, event, what);
    assert.deepEqual(await commandJson(service, 'audit', 'show', String(sequence)), event, what);
    const line = exported.find((each) => each.sequence === sequence);
    if (expected === null) assert.equal(line?.detail, null, what);
    else {
      assert.deepEqual(JSON.parse(line?.detail ?? ''), expected, what);
      assert.deepEqual(
        Object.keys(JSON.parse(line?.detail ?? '')),
        Object.keys(EVENT_MEMBERS[action]),
        'in the order of the table',
      );
    }
    const page = await browser.get(`${operatorUrl}/events/${sequence}`);
    assert.equal(page.status, 200, what);
    assert.doesNotMatch(page.body, /<script>alert/);
    if ('key' in detail) assert.ok(textOf(page.body).includes(`Key ${shown(detail['key'])} `), what);
  }
  for (let path: string | undefined = '/events'; path !== undefined; ) {
    const { status, body } = await browser.get(operatorUrl + path);
    assert.equal(status, 200);
    assert.doesNotMatch(body, /<script>alert/);
    path = /rel="next" href="([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
  }
  const { wrong, problems } = await installation.auditTrail.verify([]);
  assert.deepEqual([wrong, problems], [0, []]);
});

/** A value as a page shows it: blanks are one blank, and control characters and an empty text are left out. */
const shown = (value: unknown) =>
  String(value)
    .replace(/[\0\ud800]/g, '\ufffd')
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim() || '—';

test('operators §7: a key shows with its own ID, whatever its name is', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'admin');
  const { installation, operatorUrl } = service;
  const name = 'a: opk_0000000000000000 nightly';
  const { key } = await installation.operators.registry.addKey(
    'Ann admin',
    { name, rights: ['audit.read'] },
    installation.operator,
  );
  const [event] = (await commandJson(service, 'audit', 'list', '--limit', '1')) as [EventJson];
  assert.deepEqual(event.members, { name: 'Ann admin', key: key.id, key_name: name, rights: ['audit.read'] });
  assert.equal(
    event.detail,
    `Name at that time: "Ann admin"; Key: ${key.id}; Name of the key: "${name}"; Rights of the key: audit.read`,
  );
  const { body } = await browser.get(`${operatorUrl}/events/${event.sequence}`);
  assert.match(body, new RegExp(`<dt>Key</dt><dd><bdi>${key.id}</bdi></dd>`));
  assert.match(body, new RegExp(`<dt>Name of the key</dt><dd><bdi>${name}</bdi></dd>`));
});

test('operators §7: a passkey’s name does not make it enrolled', async (t) => {
  const service = await startConsole(t);
  const { browser, operator } = await enrolledOperator(service, 'admin');
  const { installation, operatorUrl, clock } = service;
  const passkey = 'x, at a one-time address';
  const about = { clientId: operator.id };
  for (const enrolled of [undefined, true as const])
    await installation.audit.recordDenial(
      auditEvent('operator_passkey_added', installation.operator, clock.now(), about, { passkey, enrolled }),
    );
  const [second, first] = (await commandJson(service, 'audit', 'list', '--limit', '2')) as [EventJson, EventJson];
  assert.deepEqual([first.members, second.members], [{ passkey }, { passkey, enrolled: true }]);
  assert.equal(first.detail, `"${passkey}"`);
  const pageOf = async ({ sequence }: EventJson) =>
    textOf((await browser.get(`${operatorUrl}/events/${sequence}`)).body);
  assert.doesNotMatch(await pageOf(first), /enrollment link/);
  assert.match(await pageOf(second), /With an enrollment link/);
});

test('operators §7: the acts of one key are listed apart from those of another key, and of a session', async (t) => {
  const service = await startConsole(t);
  const { browser, operator } = await enrolledOperator(service, 'admin');
  const { operatorUrl, installation } = service;
  const { registry } = installation.operators;
  const [one, two] = [await add('one'), await add('two')];
  async function add(name: string) {
    return registry.addKey(
      operator.id,
      { name, rights: ['scopes.write', 'scopes.trust', 'audit.read'] },
      installation.operator,
    );
  }
  const define = ({ text }: typeof one, name: string) =>
    call(service, text, `/v1/scopes/${name}`, { method: 'PUT', json: { sentences: { en: 'Read' } } });
  for (const [key, scope] of [
    [one, 'a'],
    [two, 'b'],
    [one, 'c'],
  ] as const)
    assert.ok((await define(key, scope)).status < 300, scope);
  const scopesOf = (events: readonly EventJson[]) => events.map(({ members }) => members?.['scope']);
  const { body } = await call(service, one.text, `/v1/audit-events?key=${one.key.id}`);
  assert.deepEqual(scopesOf(body['items'] as EventJson[]), ['c', 'a']);
  assert.deepEqual(scopesOf((await commandJson(service, 'audit', 'list', '--key', two.key.id)) as EventJson[]), ['b']);
  const page = await browser.get(`${operatorUrl}/operators/${operator.id}`);
  const href = new RegExp(`href="(/events\\?key=${one.key.id})"`).exec(page.body)?.[1] ?? assert.fail(page.body);
  const events = await browser.get(operatorUrl + href);
  assert.match(textOf(events.body), new RegExp(`Only acts with ${one.key.id} .* 2 events`));
  const [enrolled] = (await commandJson(service, 'audit', 'list', '--action', 'operator_passkey_added')) as [EventJson];
  assert.match(enrolled.actor_by ?? '', /^passkey 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});
