/** Events of the audit trail in the width of a terminal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventLines } from '../../src/cli/trail/audit-view.ts';
import { AUDIT_ACTIONS } from '../../src/oauth/trail/audit.ts';
import type { NamedAuditEvent } from '../../src/oauth/trail/audit-store.ts';

const AT = Date.parse('2026-11-24T08:18:12.345Z');

function sampleEvent(changes: Partial<NamedAuditEvent> = {}): NamedAuditEvent {
  return {
    sequence: 1042,
    at: AT,
    action: 'consent_allowed',
    actor: { kind: 'user', id: 'usr_6qm1v0t4y8d3k2xz', source: '::1', requestId: 'r', by: null },
    clientId: 'app_6qm1v0t4y8d3k2xz',
    clientName: 'Postcards',
    actorName: null,
    resourceOwnerId: 'usr_6qm1v0t4y8d3k2xz',
    resourceOwner: { id: 'usr_6qm1v0t4y8d3k2xz', email: 'ada@example.com', name: 'Ada' },
    grantId: '019aa3c5-7d02-7c11-9d5e-2f6b7c80a1e4',
    detail: '{"scopes":["photos.read"]}',
    endedAccess: null,
    ...changes,
  };
}

test('80 columns have one line an event, with seconds, names, and below them their ids', () => {
  const events = [sampleEvent(), sampleEvent({ sequence: 1041, clientId: null, clientName: null, action: 'sign_in' })];
  assert.deepEqual(eventLines(events, 80), [
    '#     Time (UTC)           Action           By        App or API  User',
    '1042  2026-11-24 08:18:12  consent_allowed  user ::1  Postcards   ada@example.c…',
    '1041  2026-11-24 08:18:12  sign_in          user ::1              ada@example.c…',
    '',
    'Postcards        app_6qm1v0t4y8d3k2xz',
    'ada@example.com  usr_6qm1v0t4y8d3k2xz',
    'All of one event: "audit show 1042"',
  ]);
});

test('no line is longer than 80 columns, whatever the event is', () => {
  const long = {
    sequence: 999_999,
    clientName: '日本'.repeat(40),
    resourceOwner: { id: 'usr_one', email: `${'a'.repeat(240)}@example.com`, name: null },
    actor: {
      kind: 'operator',
      id: 'uid 1234567890',
      source: '2001:db8:1234:5678::/64',
      requestId: null,
      by: null,
    } as const,
  };
  for (const action of AUDIT_ACTIONS) {
    const [heading = '', line = ''] = eventLines([sampleEvent({ ...long, action })], 80);
    // Of these texts only the name of the app is wide.
    for (const text of [heading, line]) assert.ok(text.length + (text.match(/[日本]/g)?.length ?? 0) <= 80, text);
  }
});

test('a pipe has everything, with nothing shortened', () => {
  const { clientId, resourceOwnerId, grantId } = sampleEvent();
  const [, line = '', ...more] = eventLines([sampleEvent()], Number.POSITIVE_INFINITY);
  for (const text of [clientId, resourceOwnerId, grantId, 'Postcards', 'ada@example.com'])
    assert.ok(line.includes(text as string), line);
  assert.deepEqual(more, []);
});
