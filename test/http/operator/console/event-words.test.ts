// The words of the audit trail's actions and details in the console: each that the code can write has some.
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { test } from 'node:test';
import type { Client } from '../../../../src/oauth/clients/client.ts';
import { AUDIT_ACTIONS, type AuditAction, auditEvent } from '../../../../src/oauth/trail/audit.ts';
import type { ClientSettings } from '../../../../src/operator/client-settings.ts';
import { readDetail } from '../../../../src/operator/event-detail.ts';
import { jsonName } from '../../../../src/operator/fields/field.ts';
import type { HandOverEnd } from '../../../../src/operator/hand-over/hand-over.ts';
import type { IdentityProviderSettings } from '../../../../src/operator/identity-provider-registry.ts';
import { changesOf } from '../../../../src/operator/registration-changes.ts';
import type { ResourceServerSettings } from '../../../../src/operator/resource-server-registry.ts';
import { en } from '../../../../src/pages/messages/en.ts';
import { actionWords } from '../../../../src/pages/operator/events/actions.ts';
import { changeSentences, detailFacts } from '../../../../src/pages/operator/events/details.ts';
import { enrolledOperator, startConsole } from '../../../support/console.ts';
import { addClient } from '../../../support/service.ts';

const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
const wordsOf = (action: AuditAction, detail: string, clientId: string | null = null) => {
  const read = readDetail({ action, detail, clientId });
  assert.ok(read);
  const sentences = changeSentences(read, en).map((words) => textOf(String(words)).trim());
  return [...sentences, ...detailFacts(read, null).map(([name, value]) => `${name}: ${textOf(String(value)).trim()}`)];
};

/** The settings that a change of each thing tells. The compiler asks for a new one here, and the test for its words. */
type Refreshed = Pick<Client, 'redirectUris' | 'type' | 'jwksUri' | 'isChecked' | 'consent' | 'keys'>;
const SETTINGS: {
  client_updated: Record<keyof ClientSettings, true>;
  client_document_refreshed: Record<keyof Refreshed, true>;
  resource_server_updated: Record<keyof ResourceServerSettings, true>;
  identity_provider_updated: Record<keyof IdentityProviderSettings, true>;
  operator_updated: Record<'name' | 'role', true>;
} = {
  client_updated: {
    ...{ name: true, publisher: true, homepage: true, privacyPage: true, contact: true, isChecked: true },
    ...{ redirectUris: true, scopes: true, defaultResource: true, personFields: true, requirePkce: true },
    ...{ refreshOverlap: true, refreshRetryWindow: true, keys: true, consent: true, deviceFlow: true },
    ...{ assertionAudience: true, seesExternalId: true },
  },
  client_document_refreshed: {
    ...{ redirectUris: true, type: true, jwksUri: true, isChecked: true, consent: true, keys: true },
  },
  resource_server_updated: { name: true, resource: true, acceptsUnbound: true, scopes: true },
  identity_provider_updated: { name: true, signInUrl: true, keys: true, rights: true, sessionLifetime: true },
  operator_updated: { name: true, role: true },
};

test('operators §7: every action has words', () => {
  for (const action of AUDIT_ACTIONS) {
    assert.match(actionWords(action), /^[A-Z][a-z]+ /, action);
    assert.doesNotMatch(actionWords(action), /[{}_]/, action);
  }
});

test('operators §7: every setting that an event can tell of has words', () => {
  for (const [action, settings] of Object.entries(SETTINGS))
    for (const setting of Object.keys(settings)) {
      const before = action === 'operator_updated' ? 'Ann: ' : '';
      const after = action === 'client_document_refreshed' ? `; sha256 ${'a'.repeat(64)}` : '';
      const detail = before + changesOf({ [setting]: 'old' }, { [setting]: 'new' }) + after;
      const [sentence = '', ...others] = wordsOf(action as AuditAction, detail);
      assert.match(sentence, /^(Added [a-zA-Z ]+ new|[A-Z][A-Za-z -]+: new \(was old ?\))$/, detail);
      assert.doesNotMatch([sentence, ...others].join(' '), /[-+](old|new)/);
      if (/[A-Z]/.test(setting)) assert.ok(!sentence.includes(jsonName(setting)), sentence);
    }
});

test('operators §7: the settings of each caller of `changesOf` are among them', async () => {
  const callers: string[] = [];
  for await (const file of glob('src/operator/**/*.ts'))
    if (/\bchangesOf[<(]/.test(await readFile(file, 'utf8'))) callers.push(basename(file, '.ts'));
  assert.deepEqual(callers.sort(), [
    ...['client-registry', 'document-refresh', 'identity-provider-registry', 'operators'],
    ...['registration-changes', 'resource-server-registry'],
  ]);
});

test('operators §7: every end of a pick-up link has words', () => {
  const ends: Record<HandOverEnd, true> = {
    ...{ replaced: true, 'secret changed': true, paused: true, deleted: true, restored: true },
  };
  for (const end of Object.keys(ends)) assert.match(wordsOf('hand_over_ended', end).join(), /^(The|It|A) /, end);
});

test('operators §7: the details of each act are told by name', () => {
  const sha256 = 'ab'.repeat(32);
  const document = 'https://app.example/client';
  const cases: [AuditAction, string, string[]][] = [
    ['consent_allowed', 'read write', ['Scopes: read write']],
    ['consent_allowed', '', ['Scopes: None']],
    ['consent_skipped', 'for a device: read', ['For a device', 'Scopes: read']],
    ['client_keys_refreshed', 'keys -"a b" +"c"', ['Added public key c', 'Removed public key a b']],
    ['client_updated', 'consent -ask +skip', ['Consent: never ask (was ask the user each time)']],
    ['client_updated', 'refresh_retry_window -600', ['Refresh retry window: the default (was 10 minutes)']],
    ['client_updated', 'scopes; name', ['Scopes: none was added or removed', 'Name: unchanged']],
    [
      'client_registered',
      `Notes; from ${document}; sha256 ${sha256}`,
      ['Name at that time: Notes', `Metadata document: ${document}`, `SHA-256 of the document: ${sha256}`],
    ],
    ['user_updated', 'email, avatarUrl', ['Changed the email address', 'Changed the picture']],
    ['sign_in', 'by photos pwd otp', ['Signed in with: pwd otp']],
    ['operator_added', 'Ann: Bob: support', ['Name at that time: Ann: Bob', 'Role: support']],
    [
      'operator_updated',
      'x: role -read +admin: name -"x: role -read +admin" +Ann',
      ['Name: Ann (was x: role -read +admin )', 'Name at that time: x: role -read +admin'],
    ],
    [
      'operator_key_added',
      'Ann: opk_1 nightly: backup: audit.read, status.read',
      [
        'Name at that time: Ann',
        'Key: opk_1',
        'Name of the key: nightly: backup',
        'Rights of the key: audit.read, status.read',
      ],
    ],
    ['operator_key_ended', 'Ann: opk_1', ['Name at that time: Ann', 'Key: opk_1']],
    [
      'operator_refused',
      'clients.pause: the role does not allow it',
      ['Refused action: clients.pause', 'Reason: the role does not allow it'],
    ],
    [
      'refresh_reuse',
      'last refreshed before at 2026-11-26T19:32:44.472Z from 203.0.113.13',
      ['Last refreshed: 26 Nov 2026, 19:32:44 from 203.0.113.13'],
    ],
    ['wrong_sign_ins', '14 in the hour from 2026-11-26T03:00:00.000Z', ['14 in the hour from 26 Nov 2026, 03:00:00']],
    ['wrong_sign_ins', '1 from 2026-99-99T99:99:99.999Z', ['1 from 2026-99-99T99:99:99.999Z']],
    ['operator_passkey_added', 'laptop, at a one-time address', ['With an enrollment link', 'Passkey: laptop']],
    ['operator_signed_in', 'at a one-time address', ['With a sign-in link']],
    ['scope_defined', 'read', ['Scope: read']],
    ['hand_over_ended', 'replaced', ['A newer link replaced it']],
    ['client_paused', 'by a restore', ['By a restore from a backup']],
    ['database_backed_up', 'to /backups/x', ['Backup: to /backups/x']],
  ];
  for (const [action, detail, words] of cases)
    assert.deepEqual(
      wordsOf(action, detail, document).map((text) => text.replaceAll(' )', ')').replace('admin)', 'admin )')),
      words.map((text) => text.replaceAll(' )', ')').replace('admin)', 'admin )')),
      `${action} ${detail}`,
    );
});

test('operators §7: no name passes for a document or a change of its app', () => {
  const forged = `Notes; from https://bank.example; sha256 ${'a'.repeat(64)}`;
  assert.deepEqual(wordsOf('client_registered', forged, 'app_1'), [`Name at that time: ${forged}`]);
  const detail = changesOf({ name: 'Notes' }, { name: 'x; require_pkce -true +false' });
  assert.deepEqual(wordsOf('client_updated', detail), ['Name: x; require_pkce -true +false (was Notes )']);
});

test('operators §7: what another release wrote is shown as it is stored, and escaped', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { installation, operatorUrl, clock } = service;
  const { clientId } = await addClient(service, { name: 'Calendar' });
  const hostile = '<script>alert(1)</script>';
  const details: [string, string | undefined, RegExp][] = [
    [
      'client_updated',
      `new_setting -"${hostile}" +x; require_pkce -false +true`,
      /new_setting -&lt;script&gt;.* Require PKCE/,
    ],
    ['client_updated', `${hostile} in other words`, /&lt;script&gt;alert\(1\)&lt;\/script&gt; in other words/],
    ['client_blessed', 'with water', /\(by command\) client_blessed .*with water/],
    ['constructor', hostile, /\(by command\) constructor .*&lt;script&gt;/],
  ];
  for (const [action, detail, words] of details) {
    const event = auditEvent(action as AuditAction, installation.operator, clock.now(), {
      clientId,
      ...(detail && { detail }),
    });
    await installation.audit.recordDenial(event);
    const [{ sequence } = { sequence: 0 }] = await installation.audit.listNamedAuditEvents({ limit: 1 });
    for (const path of [`/events/${sequence}`, '/events']) {
      const { status, body } = await browser.get(operatorUrl + path);
      assert.equal(status, 200, path);
      assert.match(textOf(body), words, path);
      assert.ok(!body.includes(hostile));
    }
  }
});

test('operators §7: pages of events of every kind, with hostile texts, stay below 50 KB', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { installation, operatorUrl, clock } = service;
  const hostile = `<script>alert(1)</script>\u202e\n${'ä'.repeat(200)}`;
  const { clientId } = await addClient(service, { name: '<script>alert(1)</script>' });
  const uris = Array.from({ length: 60 }, (_, n) => `${n} ${hostile}`);
  const details = [hostile + 'ä'.repeat(10_000), changesOf({ redirectUris: [] as string[] }, { redirectUris: uris })];
  const actor = { ...installation.operator, source: hostile, requestId: hostile };
  const about = { clientId, resourceOwnerId: hostile, grantId: hostile };
  for (const action of AUDIT_ACTIONS)
    for (const detail of details)
      await installation.audit.recordDenial(auditEvent(action, actor, clock.now(), { ...about, detail }));
  const sequences: number[] = [];
  for (let path: string | undefined = '/events'; path !== undefined; ) {
    const { status, body } = await browser.get(operatorUrl + path);
    assert.equal(status, 200);
    assert.doesNotMatch(body, /<script>alert|\u202e/);
    assert.ok(Buffer.byteLength(body) < 50_000, `${path}: ${Buffer.byteLength(body)} bytes`);
    for (const [, found] of body.matchAll(/href="\/events\/(\d+)"/g)) sequences.push(Number(found));
    path = /rel="next" href="([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
  }
  assert.ok(sequences.length > 2 * AUDIT_ACTIONS.length);
  for (const sequence of sequences) {
    const { status, body } = await browser.get(`${operatorUrl}/events/${sequence}`);
    assert.equal(status, 200);
    assert.doesNotMatch(body, /<script>alert|\u202e/);
    assert.ok(Buffer.byteLength(body) < 50_000, `${sequence}: ${Buffer.byteLength(body)} bytes`);
  }
  const foreign = await browser.get(`${operatorUrl}/events?grant=abc&after=abc`);
  assert.deepEqual([foreign.status, foreign.headers.get('location')], [303, '/events?grant=abc']);
});
