/** The JSON of events' details: written in one order, without what would not survive, and read as an object or not at all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AUDIT_ACTIONS, auditEvent } from '../../src/oauth/trail/audit.ts';
import { changesIn, detailText, EVENT_MEMBERS, readMembers } from '../../src/oauth/trail/event-members.ts';
import { operator } from '../support/storage.ts';

test('design: a detail is stored in the order of its table, whatever order a writer gave, without absent members', () => {
  const turned = { rights: ['a'], key_name: 'n', key: 'opk_1', name: 'Ann' };
  const text = '{"name":"Ann","key":"opk_1","key_name":"n","rights":["a"]}';
  assert.equal(detailText('operator_key_added', turned), text);
  assert.equal(detailText('grant_revoked', { but_for_devices: undefined, all_of_app: true }), '{"all_of_app":true}');
  assert.equal(detailText('grant_revoked', {}), null);
  assert.equal(detailText('grant_revoked', null), null);
  assert.equal(detailText('audit_checkpoint', 'valetkey-checkpoint.1'), 'valetkey-checkpoint.1');
});

test('design: no text of a detail holds NUL or a lone surrogate, and every other text comes back as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string({ unit: 'binary' })), (name, added) => {
      const detail = { name, changes: [{ name, removed: [], added }] };
      const members = readMembers(detailText('operator_updated', detail));
      const kept = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');
      assert.equal(members?.['name'], kept(name));
      assert.deepEqual(changesIn(members), [{ name: kept(name), removed: [], added: added.map(kept) }]);
    }),
  );
  assert.equal(detailText('client_deleted', { name: 'a\0b\ud800' }), '{"name":"a\ufffdb\ufffd"}');
});

test('design: a text that is no JSON object has no members', () => {
  for (const text of [null, '', 'read write', '[{"name":"x"}]', '"{}"', 'null', '1', '{"name":', '{} x', ' {"a":1}'])
    assert.equal(readMembers(text), null, String(text));
  assert.deepEqual(readMembers('{"by_restore":true}'), { by_restore: true });
  const members = readMembers('{"__proto__":{"by_restore":true}}');
  assert.equal(members?.['by_restore'], undefined, 'no member comes from elsewhere');
});

test('design: changes in another form than this release writes are left out', () => {
  const change = { name: 'scopes', removed: ['a'], added: [] };
  for (const other of [null, 'x', {}, { ...change, removed: 'a' }, { ...change, added: [1] }, { ...change, name: 1 }])
    assert.deepEqual(changesIn({ changes: [other, change] }), [change], JSON.stringify(other));
  for (const changes of [undefined, null, 'x', {}]) assert.deepEqual(changesIn({ changes }), []);
  assert.deepEqual(changesIn(null), []);
});

test('design: every action has an entry in the table, and a writer gives what it needs', () => {
  assert.deepEqual(Object.keys(EVENT_MEMBERS), [...AUDIT_ACTIONS]);
  auditEvent('client_deleted', operator, 0, {}, { name: 'x' });
  // @ts-expect-error A deletion names what was deleted.
  auditEvent('client_deleted', operator, 0, {});
  // @ts-expect-error A deletion has no role.
  auditEvent('client_deleted', operator, 0, {}, { name: 'x', role: 'admin' });
  // @ts-expect-error A flag is true or absent.
  auditEvent('client_paused', operator, 0, {}, { by_restore: false });
  // @ts-expect-error A resumption has no members.
  auditEvent('client_resumed', operator, 0, {}, { by_restore: true });
  // @ts-expect-error A checkpoint is a text.
  auditEvent('audit_checkpoint', operator, 0, {}, { name: 'x' });
});
