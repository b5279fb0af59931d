// The words of the audit trail's actions and details in the console: each that the code can write has some.
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { test } from 'node:test';
import type { Client, ClientSettings } from '../../../../src/oauth/clients/client.ts';
import { jsonName } from '../../../../src/oauth/json-name.ts';
import { AUDIT_ACTIONS, type AuditAction, auditEvent } from '../../../../src/oauth/trail/audit.ts';
import { type DetailOf, detailText } from '../../../../src/oauth/trail/event-members.ts';
import type { HandOverEnd } from '../../../../src/operator/hand-over/hand-over.ts';
import type { IdentityProviderSettings } from '../../../../src/operator/products-and-apis/identity-provider-registry.ts';
import type { ResourceServerSettings } from '../../../../src/operator/products-and-apis/resource-server-registry.ts';
import { changesOf } from '../../../../src/operator/registration/registration-changes.ts';
import { eventParts } from '../../../../src/operator/trail/event-words.ts';
import { en } from '../../../../src/pages/messages/en.ts';
import { actionWords } from '../../../../src/pages/operator/events/actions.ts';
import { changeSentences, detailFacts } from '../../../../src/pages/operator/events/details.ts';
import { enrolledOperator, startConsole } from '../../../support/console.ts';
import { textOf } from '../../../support/html.ts';
import { addClient } from '../../../support/service.ts';

const wordsOf = <Action extends AuditAction>(action: Action, detail: DetailOf<Action>) => {
  const parts = eventParts({ action, detail: detailText(action, detail) });
  const sentences = changeSentences(parts, en).map((words) => textOf(String(words)).trim());
  const facts = detailFacts(parts, null, en);
  return [...sentences, ...facts.map(([name, value]) => `${name}: ${textOf(String(value)).trim()}`)];
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
    ...{ assertionAudience: true, seesExternalId: true, signIn: true },
  },
  client_document_refreshed: {
    ...{ redirectUris: true, type: true, jwksUri: true, isChecked: true, consent: true, keys: true },
  },
  resource_server_updated: { name: true, resource: true, acceptsUnbound: true, scopes: true },
  identity_provider_updated: {
    ...{ name: true, signInUrl: true, homePage: true, keys: true, rights: true, sessionLifetime: true },
  },
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
      const changes = changesOf({ [setting]: 'old' }, { [setting]: 'new' });
      const [sentence = '', ...others] = wordsOf(action as keyof typeof SETTINGS, {
        name: 'Ann',
        changes,
        sha256: 'a',
      });
      assert.match(sentence, /^(Added [a-zA-Z ]+ new|[A-Z][A-Za-z -]+: new \(was old ?\))$/, setting);
      assert.doesNotMatch([sentence, ...others].join(' '), /[-+](old|new)/);
      if (/[A-Z]/.test(setting)) assert.ok(!sentence.includes(jsonName(setting)), sentence);
    }
});

test('operators §7: the settings of each caller of `changesOf` are among them', async () => {
  const callers: string[] = [];
  for await (const file of glob('src/operator/**/*.ts'))
    if (/\bchangesOf[<(]|extends (Pausing)?Registry</.test(await readFile(file, 'utf8')))
      callers.push(basename(file, '.ts'));
  assert.deepEqual(callers.sort(), [
    ...['client-registry', 'document-refresh', 'identity-provider-registry', 'operators'],
    ...['registration-changes', 'registry', 'resource-server-registry'],
  ]);
});

test('operators §7: every end of a pick-up link has words', () => {
  const ends: Record<HandOverEnd, true> = {
    ...{ replaced: true, 'secret changed': true, paused: true, deleted: true, restored: true },
  };
  for (const reason of Object.keys(ends))
    assert.match(wordsOf('hand_over_ended', { reason }).join(), /^(The|It|A) /, reason);
});

test('operators §7: the details of each act are told by name', () => {
  const sha256 = 'ab'.repeat(32);
  const document = 'https://app.example/client';
  const change = (name: string, removed: string[], added: string[]) => ({ name, removed, added });
  const cases: [words: string[], expected: string[]][] = [
    [wordsOf('consent_allowed', { scopes: ['read', 'write'] }), ['Scopes: read write']],
    [wordsOf('consent_allowed', { scopes: [] }), ['Scopes: None']],
    [wordsOf('consent_skipped', { scopes: ['read'], for_device: true }), ['For a device', 'Scopes: read']],
    [
      wordsOf('client_keys_refreshed', { changes: [change('keys', ['a b'], ['c'])] }),
      ['Added public key c', 'Removed public key a b'],
    ],
    [
      wordsOf('client_updated', { changes: [change('consent', ['ask'], ['skip'])] }),
      ['Consent: never ask (was ask the user each time)'],
    ],
    [
      wordsOf('client_updated', { changes: [change('refresh_retry_window', ['600'], [])] }),
      ['Refresh retry window: the default (was 10 minutes)'],
    ],
    [
      wordsOf('client_updated', { changes: [change('scopes', [], []), change('name', [], [])] }),
      ['Scopes: none was added or removed', 'Name: unchanged'],
    ],
    [
      wordsOf('client_registered', { name: 'Notes', document, sha256 }),
      ['Name at that time: Notes', `Metadata document: ${document}`, `SHA-256 of the document: ${sha256}`],
    ],
    [
      wordsOf('user_updated', { fields: ['email', 'avatar_url', 'other'] }),
      ['Changed the email address', 'Changed the picture', 'Changed the other'],
    ],
    [
      wordsOf('sign_in', { provider: 'photos', methods: ['pwd', 'otp'] }),
      ['Product: photos', 'Signed in with: pwd otp'],
    ],
    [
      wordsOf('operator_added', { name: 'Ann: Bob', role: 'support' }),
      ['Name at that time: Ann: Bob', 'Role: support'],
    ],
    [
      wordsOf('operator_key_added', {
        ...{ name: 'Ann', key: 'opk_1', key_name: 'nightly: backup', rights: ['audit.read', 'status.read'] },
      }),
      [
        'Name at that time: Ann',
        'Key: opk_1',
        'Name of the key: nightly: backup',
        'Rights of the key: audit.read status.read',
      ],
    ],
    [
      wordsOf('operator_refused', { act: 'clients.pause', reason: 'the role does not allow it' }),
      ['Refused action: clients.pause', 'Reason: the role does not allow it'],
    ],
    [
      wordsOf('refresh_reuse', { refreshed_at: '2026-11-26T19:32:44.472Z', presented_from: '203.0.113.13' }),
      ['Last refreshed: 26 Nov 2026, 19:32:44', 'From the address, that time: 203.0.113.13'],
    ],
    [
      wordsOf('wrong_sign_ins', { number: 14, hour: '2026-11-26T03:00:00.000Z' }),
      ['Wrong passwords: 14', 'In the hour from: 26 Nov 2026, 03:00:00'],
    ],
    [
      wordsOf('wrong_sign_ins', { number: 1, hour: '2026-99-99T99:99:99.999Z' }),
      ['Wrong passwords: 1', 'In the hour from: 2026-99-99T99:99:99.999Z'],
    ],
    [
      wordsOf('operator_passkey_added', { passkey: 'laptop', enrolled: true }),
      ['With an enrollment link', 'Passkey: laptop'],
    ],
    [wordsOf('operator_signed_in', { one_time_address: true }), ['With a sign-in link']],
    [wordsOf('scope_defined', { scope: 'read' }), ['Scope: read']],
    [wordsOf('hand_over_ended', { reason: 'replaced' }), ['A newer link replaced it']],
    [wordsOf('hand_over_fetched', { made_secret: false }), ['No secret was made: it proves itself by keys of its own']],
    [wordsOf('client_paused', { by_restore: true }), ['By a restore from a backup']],
    [wordsOf('database_backed_up', { backup: 'to /backups/x' }), ['Backup: to /backups/x']],
    [wordsOf('audit_checkpoint', 'valetkey-checkpoint.1'), ['Signed statement: valetkey-checkpoint.1']],
  ];
  for (const [words, expected] of cases) assert.deepEqual(words, expected);
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
      JSON.stringify({
        changes: [
          { name: 'new_setting', removed: [hostile], added: ['x'] },
          { name: 'require_pkce', removed: ['false'], added: ['true'] },
        ],
      }),
      /new_setting -&lt;script&gt;.* PKCE: required/,
    ],
    ['client_updated', `${hostile} in other words`, /&lt;script&gt;alert\(1\)&lt;\/script&gt; in other words/],
    ['client_updated', JSON.stringify({ changes: [hostile] }), /changes *:? &lt;script&gt;/],
    [
      'client_paused',
      JSON.stringify({ by_restore: hostile, [hostile]: [1] }),
      /by_restore *:? &lt;script&gt;.* &lt;script&gt;.* \[1\]/,
    ],
    ['client_paused', '{"by_restore":true', /\{&quot;by_restore&quot;:true/],
    ['client_blessed', 'with water', /\(by command\) client_blessed .*with water/],
    ['constructor', hostile, /\(by command\) constructor .*&lt;script&gt;/],
  ];
  for (const [action, detail, words] of details) {
    const event = auditEvent('client_paused', installation.operator, clock.now(), { clientId });
    await installation.audit.recordDenial({ ...event, action: action as AuditAction, detail: detail ?? null });
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
  const changes = changesOf({ redirectUris: [] as string[] }, { redirectUris: uris });
  const details = [
    hostile + 'ä'.repeat(10_000),
    JSON.stringify({ changes }),
    JSON.stringify({ name: hostile, [hostile]: uris }),
  ];
  const actor = { ...installation.operator, source: hostile, requestId: hostile };
  const about = { clientId, resourceOwnerId: hostile, grantId: hostile };
  for (const action of AUDIT_ACTIONS)
    for (const detail of details)
      await installation.audit.recordDenial({
        ...auditEvent('client_paused', actor, clock.now(), about),
        ...{ action, detail },
      });
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
