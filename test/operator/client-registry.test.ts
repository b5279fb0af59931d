import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientSettings } from '../../src/oauth/clients/client.ts';
import { authenticateClient } from '../../src/oauth/clients/client.ts';
import { NothingThere, OperatorError, Refusal } from '../../src/oauth/error.ts';
import { PERSON_FIELDS } from '../../src/oauth/grants/person-fields.ts';
import type { Scope } from '../../src/oauth/grants/scope.ts';
import { auditEvent } from '../../src/oauth/trail/audit.ts';
import { ClientRegistry } from '../../src/operator/apps/client-registry.ts';
import { keys } from '../oauth/assertions.ts';
import { type Memory, openMemory, operator } from '../oauth/memory.ts';
import { PREFIX } from '../oauth/samples.ts';
import { event, sampleResourceServer } from '../support/storage.ts';

const settings: ClientSettings = {
  name: 'One',
  redirectUris: ['https://one.test/cb'],
  scopes: [scope('read', 'Read your things')],
  publisher: null,
  homepage: null,
  privacyPage: null,
  contact: null,
  isChecked: false,
  personFields: PERSON_FIELDS,
  requirePkce: false,
  refreshOverlap: null,
  refreshRetryWindow: null,
  keys: [],
  consent: 'ask',
  deviceFlow: false,
  assertionAudience: 'any',
  seesExternalId: false,
  signIn: false,
  defaultResource: null,
};

function scope(name: string, sentence: string | null = null): Scope {
  return { name, sentence, optional: false };
}

function registryOf({ store, clock }: Memory): ClientRegistry {
  return new ClientRegistry({ store, prefix: PREFIX, accessTokenLifetime: 1800, now: () => clock.now });
}

function uris(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `https://one.test/cb${n}`);
}

const wrongSettings: [string, Partial<ClientSettings>, RegExp][] = [
  ['an empty name', { name: '' }, /1 to 100 characters/],
  ['a name of spaces', { name: '  ' }, /no space around/],
  ['a space around the name', { name: ' One' }, /no space around/],
  ['a name of 101 characters', { name: 'x'.repeat(101) }, /1 to 100 characters/],
  ['a name with a right-to-left override', { name: 'One\u202eenO' }, /invisible/],
  ['a name with a zero-width space', { name: 'O\u200bne' }, /invisible/],
  ['a name with a line break', { name: 'One\nTwo' }, /invisible/],
  ['a name with a line separator', { name: 'One\u2028Two' }, /invisible/],
  ['a name with an unpaired surrogate', { name: 'One\ud800' }, /invisible/],
  ['an empty publisher', { publisher: '' }, /a publisher has 1 to 100/],
  ['a homepage over plain http', { homepage: 'http://one.test/' }, /homepage "http:.*not an https address/],
  [
    'a homepage without its slashes',
    { homepage: 'https:one.test' },
    /homepage "https:one.test" is not an https address/,
  ],
  ['a privacy page with a user name', { privacyPage: 'https://a@one.test/' }, /privacy page .*not an https address/],
  ['a script for a homepage', { homepage: 'javascript:alert(1)' }, /not an https address/],
  ['a contact that is neither', { contact: 'one.test' }, /an https address or an email address/],
  ['a word for nobody', { isChecked: true, publisher: null }, /name the publisher too/],
  ['no redirect URI at all', { redirectUris: [] }, /at least one/],
  ['21 redirect URIs', { redirectUris: uris(21) }, /at most 20/],
  ['a redirect URI twice', { redirectUris: ['https://one.test/cb', 'https://one.test/cb'] }, /twice/],
  [
    'a redirect URI that may not be registered',
    { redirectUris: ['https://one.test/cb', 'http://one.test/cb'] },
    /http:\/\/one\.test\/cb.*use https/,
  ],
  ['a scope twice', { scopes: [settings.scopes[0], settings.scopes[0]] as ClientSettings['scopes'] }, /twice/],
  ['a scope with a space', { scopes: [scope('a b')] }, /printable ASCII/],
  ['101 scopes', { scopes: Array.from({ length: 101 }, (_, n) => scope(`s${n}`)) }, /at most 100/],
  ['an empty sentence', { scopes: [scope('a', ' ')] }, /1 to 200/],
  ['a long sentence', { scopes: [scope('a', 'x'.repeat(201))] }, /1 to 200/],
  ['a sentence with a direction character', { scopes: [scope('a', 'x\u202ey')] }, /invisible/],
  ['an overlap beyond the access token', { refreshOverlap: 1801 }, /overlap must/],
  ['a retry window beyond the access token', { refreshRetryWindow: 1801 }, /retry window must/],
  ['a negative overlap', { refreshOverlap: -1 }, /overlap must/],
  ['a broken retry window', { refreshRetryWindow: Number.NaN }, /retry window must/],
  ['an overlap of half a second', { refreshOverlap: 0.5 }, /overlap must/],
  ['six keys', { keys: Array.from({ length: 6 }, () => keys.jwk) }, /more than 5 keys/],
  ['a private key', { keys: [keys.jwk, keys.privateKey.export({ format: 'jwk' })] }, /key 2: it is a private key/],
  [
    'a private key of a kind that is not known',
    { keys: [keys.jwk, { kty: 'AKP', pub: 'AAAA', priv: 'AAAA' }] as ClientSettings['keys'] },
    /key 2: it is a private key/,
  ],
  ['a symmetric key', { keys: [{ kty: 'oct', k: 'AAAA' }] }, /key 1: it is a symmetric key/],
  [
    'no key that can be used',
    { keys: [{ kty: 'AKP' }, { ...keys.jwk, use: 'enc' }] as ClientSettings['keys'] },
    /key 1: its kty must be .*; key 2: its use must be sig/,
  ],
  ['an optional scope twice', { scopes: [scope('a'), { ...scope('a'), optional: true }] }, /twice/],
];
for (const [name, wrong, message] of wrongSettings) {
  test(`RFC 6749 §3.1.2.2: refused when registering and when updating, and nothing is changed: ${name}`, async (context) => {
    const memory = await openMemory(context);
    const registry = registryOf(memory);
    const refusedWith = (error: unknown) => error instanceof OperatorError && message.test(error.message);
    await assert.rejects(registry.register('confidential', { ...settings, ...wrong }, operator), refusedWith);
    assert.equal(await memory.store.hasClients(), false);
    const { row: client } = await registry.register('confidential', settings, operator);
    await assert.rejects(registry.update(client.id, wrong, operator), refusedWith);
    assert.deepEqual(await registry.show(client.id), client);
  });
}

test('RFC 6749 §2, §2.2, draft-ietf-oauth-client-id-metadata-document §7.1: a client is registered with a secret that is shown this once, and works', async (context) => {
  const memory = await openMemory(context);
  const registry = registryOf(memory);
  const { row: client, secret: clientSecret } = await registry.register('confidential', settings, operator);
  assert.match(client.id, /^app_[0-9a-hjkmnp-tv-z]{16}$/);
  assert.ok(clientSecret);
  const stored = await registry.show(client.id);
  assert.deepEqual(stored, client);
  assert.ok(!JSON.stringify(stored).includes(clientSecret));
  assert.equal(authenticateClient(stored, { method: 'secret', clientId: client.id, clientSecret }), stored);
  const [event] = await memory.store.listAuditEvents({ limit: 1 });
  assert.equal(event?.action, 'client_registered');
  assert.ok(!JSON.stringify(event).includes(clientSecret));
});

test('the operator’s word for an app ends with what users read of its maker and with another redirect host, and with nothing else', async (context) => {
  const memory = await openMemory(context);
  const registry = registryOf(memory);
  const vouched = { publisher: 'One Ltd', isChecked: true };
  const after = async (changes: Partial<ClientSettings>) => {
    const { row: client } = await registry.register('confidential', { ...settings, ...vouched }, operator);
    return (await registry.update(client.id, changes, operator)).isChecked;
  };
  const ends: Partial<ClientSettings>[] = [
    { publisher: 'Two Ltd' },
    { redirectUris: ['https://two.test/cb'] },
    { redirectUris: [...settings.redirectUris, 'https://two.test/cb'] },
    { redirectUris: ['https://one.test:8443/cb'] },
    { name: 'Uno' },
    { homepage: 'https://uno.test/' },
    { privacyPage: 'https://uno.test/privacy' },
    { contact: 'help@uno.test' },
    { isChecked: false },
  ];
  for (const changes of ends) assert.equal(await after(changes), false, JSON.stringify(changes));
  const stays: Partial<ClientSettings>[] = [
    { name: 'Uno', homepage: 'https://uno.test/', contact: null, isChecked: true },
    { name: settings.name, homepage: null, consent: 'remember', requirePkce: true, scopes: [] },
    { redirectUris: [...settings.redirectUris, 'https://one.test/another'] },
    { publisher: 'Two Ltd', redirectUris: ['https://two.test/cb'], isChecked: true },
  ];
  for (const changes of stays) assert.equal(await after(changes), true, JSON.stringify(changes));
  const [, , recorded] = (await memory.store.listAuditEvents({ action: 'client_updated', limit: 9 })).toReversed();
  assert.match(
    String(recorded?.detail),
    /"is_checked","removed":\["true"\],"added":\["false"\]/,
    'the trail tells that it ended',
  );
});

test('a change is permitted for the very row that it replaces, and a refused one writes nothing', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register('confidential', settings, operator);
  const refusing = () => assert.fail('not permitted');
  await assert.rejects(registry.update(client.id, { name: 'Two' }, operator, refusing), /not permitted/);
  assert.deepEqual(await registry.show(client.id), client);
  const told = [scope('read', 'Read other things')];
  const overtaken = async (before: unknown) => {
    assert.deepEqual(before, client);
    await registry.update(client.id, { scopes: told }, operator);
  };
  await assert.rejects(
    registry.update(client.id, { scopes: settings.scopes }, operator, overtaken),
    /changed or was deleted at the same time/,
  );
  assert.deepEqual((await registry.show(client.id)).scopes, told);
});

test('consent: users are asked again where codes reach another host or the app may get more, unless that is said with it', async (context) => {
  const memory = await openMemory(context);
  const registry = registryOf(memory);
  const scopes = [scope('read'), scope('send')];
  const skipping = { ...settings, scopes, consent: 'skip', personFields: ['name'] } as const;
  const after = async (changes: Partial<ClientSettings>) => {
    const { row: client } = await registry.register('public', skipping, operator);
    await registry.update(client.id, changes, operator);
    return (await registry.show(client.id)).consent;
  };
  const asks: Partial<ClientSettings>[] = [
    { redirectUris: ['https://two.test/cb'] },
    { redirectUris: [...settings.redirectUris, 'https://two.test/cb'] },
    { redirectUris: [...settings.redirectUris, 'http://127.0.0.1/cb'] },
    { scopes: [...skipping.scopes, scope('delete')] },
    { personFields: ['name', 'email'] },
    { seesExternalId: true },
  ];
  for (const changes of asks) {
    assert.equal(await after(changes), 'ask', JSON.stringify(changes));
    assert.equal(await after({ ...changes, consent: 'skip' }), 'skip', JSON.stringify(changes));
  }
  const stays: Partial<ClientSettings>[] = [
    { name: 'Uno' },
    { redirectUris: [...settings.redirectUris, 'https://one.test/another'] },
    { scopes: [scope('read', 'Read')] },
    { personFields: [] },
  ];
  for (const changes of stays) assert.equal(await after(changes), 'skip', JSON.stringify(changes));
  const told = await memory.store.listAuditEvents({ action: 'client_updated', limit: 50 });
  assert.equal(
    told.filter(({ detail }) => detail?.includes('{"name":"consent","removed":["skip"],"added":["ask"]}')).length,
    asks.length,
  );
});

test('RFC 8252 §7.1: the operator is warned of a scheme without a dot, and of no other', async (context) => {
  const registry = registryOf(await openMemory(context));
  const warningsOf = async (...redirectUris: string[]) =>
    registry.warnings(
      (await registry.register('public', { name: redirectUris.join(' '), redirectUris }, operator)).row,
    );
  const [warning, ...others] = await warningsOf('cursor://cb', 'cursor://other', 'https://one.test/cb');
  assert.match(String(warning), /can claim the scheme cursor, .* https or loopback/);
  assert.deepEqual(others, []);
  assert.deepEqual(await warningsOf('com.example.app:/cb', 'http://localhost/cb'), []);
});

test('the operator is warned of a name that another app has, and of a scope that nobody would understand', async (context) => {
  const memory = await openMemory(context);
  const registry = registryOf(memory);
  const register = async (name: string, scopes: Scope[] = []) =>
    (await registry.register('confidential', { ...settings, name, scopes }, operator)).row;
  const one = await register('Acme Mail');
  assert.deepEqual(await registry.warnings(one), []);
  for (const name of ['Acme Mail', 'ACME  mail', 'Ａcme Mail'])
    assert.match(String(await registry.warnings(await register(name))), /has this name, app_/, name);
  assert.deepEqual(await registry.warnings(await register('Acme Post')), []);
  const scoped = await register('Reader', [scope('read'), scope('write', 'Write'), scope('list')]);
  assert.deepEqual(
    (await registry.warnings(scoped)).map((warning) => /define (\S+)/.exec(warning)?.[1]),
    ['read', 'list'],
  );
  await memory.store.defineScope(
    { name: 'read', sentences: { ar: 'قراءة' }, effect: null, createdAt: 0 },
    null,
    auditEvent('scope_defined', operator, 0, {}, { scope: 'b' }),
  );
  assert.equal((await registry.warnings(scoped)).length, 1);
});

test('RFC 6749 §2.1, RFC 8252 §8.4, §8.5: a public client has no secret, and can get none', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client, secret: clientSecret } = await registry.register(
    'public',
    {
      ...settings,
      redirectUris: ['com.one.app:/cb'],
    },
    operator,
  );
  assert.equal(clientSecret, null);
  assert.deepEqual(client.secrets, []);
  await assert.rejects(registry.rotateSecret(client.id, operator), /public app has no secret/);
  await assert.rejects(registry.retireSecret(client.id, operator), /public app has no secret/);
  await assert.rejects(registry.retireSecret(client.id, operator), /only one secret|no secret/);
});

test('RFC 9700 §2.1.1: PKCE cannot be made optional for a public client', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register(
    'public',
    { name: 'One', redirectUris: ['com.one.app:/cb'] },
    operator,
  );
  await assert.rejects(registry.update(client.id, { requirePkce: false }, operator), /must use PKCE/);
  assert.deepEqual(await registry.show(client.id), client);
  assert.ok((await registry.update(client.id, { requirePkce: true }, operator)).requirePkce);
});

test('RFC 6749 §2.1: what an operator does not say is as usual: asked each time, no devices, no keys', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register(
    'confidential',
    { name: 'One', redirectUris: ['https://one.test/cb'] },
    operator,
  );
  const { name, redirectUris, scopes, requirePkce, refreshOverlap, refreshRetryWindow, consent, deviceFlow } = client;
  const { assertionAudience, seesExternalId, signIn, publisher, homepage, privacyPage, contact, isChecked } = client;
  assert.deepEqual(
    {
      name,
      publisher,
      homepage,
      privacyPage,
      contact,
      isChecked,
      personFields: client.personFields,
      redirectUris,
      scopes,
      defaultResource: client.defaultResource,
      requirePkce,
      refreshOverlap,
      refreshRetryWindow,
      consent,
      deviceFlow,
      assertionAudience,
      seesExternalId,
      signIn,
      keys: client.keys,
    },
    { ...settings, scopes: [] },
  );
});

test('RFC 8707 §2: a default resource is that of a registered API, as it is registered, or refused with the remedy', async (context) => {
  const memory = await openMemory(context);
  const registry = registryOf(memory);
  const letters = sampleResourceServer({ resource: 'https://Letters.test' });
  await memory.store.registerResourceServer(letters, event('resource_server_registered'));
  const said = { ...settings, defaultResource: 'https://letters.test:443/' };
  const { row: client } = await registry.register('confidential', said, operator);
  assert.equal(client.defaultResource, 'https://Letters.test');
  assert.deepEqual(await registry.show(client.id), client);
  for (const defaultResource of ['https://letters.test/v1', 'https://none.test', 'letters', '']) {
    const refusal = {
      name: 'OperatorError',
      message: /^no API is registered with the resource [^-]*: give the resource of one that is/,
      field: 'default_resource',
      atCommandLine: /^no API is registered with the resource .*"resource-server list".*register --resource"/,
    };
    await assert.rejects(registry.update(client.id, { defaultResource }, operator), refusal);
    await assert.rejects(registry.register('confidential', { ...settings, defaultResource }, operator), refusal);
  }
  assert.deepEqual(await registry.show(client.id), client, 'nothing changed');
  assert.equal((await registry.update(client.id, { defaultResource: null }, operator)).defaultResource, null);
  assert.equal((await registry.update(client.id, said, operator)).defaultResource, 'https://Letters.test');
  const details = (await memory.store.listAuditEvents({ action: 'client_updated', limit: 2 })).map(
    ({ detail }) => detail,
  );
  assert.match(String(details[0]), /"default_resource","removed":\[\],"added":\["https:\/\/Letters\.test"\]/);
  assert.equal(details[1], '{"changes":[{"name":"default_resource","removed":["https://Letters.test"],"added":[]}]}');
  await memory.store.deleteResourceServer(letters.id, event('resource_server_deleted'));
  assert.equal((await registry.update(client.id, { name: 'Two' }, operator)).defaultResource, 'https://Letters.test');
});

test('RFC 7523 §2.2: a client with keys gets no secret, and can be given one', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client, secret: clientSecret } = await registry.register(
    'confidential',
    { ...settings, keys: [keys.jwk] },
    operator,
  );
  assert.equal(clientSecret, null);
  assert.deepEqual(client.secrets, []);
  assert.deepEqual(await registry.show(client.id), client);
  const { secret: added } = await registry.rotateSecret(client.id, operator);
  const credentials = { method: 'secret', clientId: client.id, clientSecret: added } as const;
  const stored = await registry.show(client.id);
  assert.equal(authenticateClient(stored, credentials), stored);
});

test('RFC 7517 §5, RFC 7523 §3: keys that cannot be used are omitted when registering and when updating, and nothing else of a key is kept', async (context) => {
  const registry = registryOf(await openMemory(context));
  const given = [
    ...[
      { ...keys.jwk, x5c: ['certificate'] },
      { kty: 'AKP', pub: 'AAAA' },
      { ...keys.jwk, use: 'enc' },
    ],
    ...[{ ...keys.jwk, alg: 'ES512' }, { kid: 'no kty' }],
  ];
  const { row: client } = await registry.register('confidential', { ...settings, keys: given }, operator);
  assert.deepEqual((await registry.show(client.id)).keys, [keys.jwk]);
  const { row: other } = await registry.register('confidential', settings, operator);
  await registry.update(other.id, { keys: given }, operator);
  assert.deepEqual((await registry.show(other.id)).keys, [keys.jwk]);
});

test('RFC 7523 §2.2: a client that changes over to keys can be left without any secret, and no other client can', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client, secret: clientSecret } = await registry.register('confidential', settings, operator);
  await assert.rejects(registry.retireSecret(client.id, operator), /only one secret is live/);
  await registry.update(client.id, { keys: [keys.jwk] }, operator);
  await registry.retireSecret(client.id, operator);
  const stored = await registry.show(client.id);
  assert.deepEqual(stored.secrets, []);
  const credentials = { method: 'secret', clientId: client.id, clientSecret: clientSecret ?? '' } as const;
  assert.ok(authenticateClient(stored, credentials) instanceof Refusal);
  await assert.rejects(registry.retireSecret(client.id, operator), /only one secret|no secret/);
});

test('RFC 7523 §2.2: a public client has no keys, neither when it is registered nor later', async (context) => {
  const registry = registryOf(await openMemory(context));
  const own = { ...settings, redirectUris: ['com.one.app:/cb'] };
  await assert.rejects(registry.register('public', { ...own, keys: [keys.jwk] }, operator), /public app cannot keep/);
  const { row: client } = await registry.register('public', own, operator);
  await assert.rejects(registry.update(client.id, { keys: [keys.jwk] }, operator), /public app cannot keep/);
});

test('RFC 8628 §3.1: a client for devices alone needs no redirect URI, for as long as it is one', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register('public', { name: 'Television', deviceFlow: true }, operator);
  assert.deepEqual([client.redirectUris, client.deviceFlow], [[], true]);
  await assert.rejects(registry.update(client.id, { deviceFlow: false }, operator), /at least one redirect URI/);
  assert.equal((await registry.show(client.id)).deviceFlow, true);
});

test('design: consent, devices, keys and optional scopes are changed and come back as they are', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register('confidential', settings, operator);
  for (const changes of [
    { consent: 'remember' },
    { consent: 'skip' },
    { deviceFlow: true },
    { keys: [{ ...keys.jwk, kid: 'k', alg: 'ES256', use: 'sig' }] },
    { scopes: [{ ...scope('read'), optional: true }, scope('write', 'Write')] },
  ] as const) {
    const updated = await registry.update(client.id, changes, operator);
    assert.deepEqual(await registry.show(client.id), updated);
    assert.deepEqual({ ...updated, ...changes }, updated);
  }
});

test('ASVS 15.3.3: what an operator may not decide is not taken from the settings', async (context) => {
  const registry = registryOf(await openMemory(context));
  const more = { ...settings, id: 'app_chosen', type: 'public', status: 'paused', epoch: 9, secrets: [] };
  const { row: client } = await registry.register('confidential', more, operator);
  assert.notEqual(client.id, 'app_chosen');
  assert.equal(client.type, 'confidential');
  assert.equal(client.status, 'active');
  assert.equal(client.epoch, 0);
  assert.equal(client.secrets.length, 1);
});

test('a secret is rotated and the older one retired, never more than two, never the last', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client, secret: old } = await registry.register('confidential', settings, operator);
  await assert.rejects(registry.retireSecret(client.id, operator), /only one secret is live/);
  const { secret: fresh } = await registry.rotateSecret(client.id, operator);
  await assert.rejects(registry.rotateSecret(client.id, operator), /two secrets are live/);
  const works = async (clientSecret: string | null) => {
    const credentials = { method: 'secret', clientId: client.id, clientSecret: clientSecret ?? undefined } as const;
    return !(authenticateClient(await registry.show(client.id), credentials) instanceof Refusal);
  };
  assert.deepEqual([await works(old), await works(fresh)], [true, true]);
  await registry.retireSecret(client.id, operator);
  assert.deepEqual([await works(old), await works(fresh)], [false, true]);
  const { secret: lost } = await registry.rotateSecret(client.id, operator);
  await registry.retireSecret(client.id, operator, 'newer');
  assert.deepEqual([await works(lost), await works(fresh)], [false, true]);
});

test('ASVS 15.4.2: of two operators who rotate a secret at once one is told to look again', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register('confidential', settings, operator);
  const both = await Promise.allSettled([
    registry.rotateSecret(client.id, operator),
    registry.rotateSecret(client.id, operator),
  ]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  assert.equal((await registry.show(client.id)).secrets.length, 2);
});

test('ASVS 15.4.2: of two operators who change an app at once one is told to look again, so that neither undoes the other', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register('confidential', { ...settings, redirectUris: uris(2) }, operator);
  const removal = registry.update(client.id, { redirectUris: uris(1) }, operator);
  await assert.rejects(registry.update(client.id, { name: 'Two' }, operator), {
    atCommandLine: /changed .*at the same time: check .*and try again/,
  });
  await removal;
  assert.deepEqual((await registry.update(client.id, { name: 'Two' }, operator)).redirectUris, uris(1));
});

test('design: pausing is reversible, ends nothing, and is refused twice', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register('confidential', settings, operator);
  await registry.pause(client.id, operator);
  await assert.rejects(registry.pause(client.id, operator), /paused already/);
  assert.deepEqual(await registry.show(client.id), { ...client, status: 'paused' });
  await registry.resume(client.id, operator);
  await assert.rejects(registry.resume(client.id, operator), /active already/);
  assert.deepEqual(await registry.show(client.id), { ...client, remembersSince: client.createdAt });
});

test('design: an update changes what it names, and neither secrets, status nor epoch', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register('confidential', settings, operator);
  await registry.pause(client.id, operator);
  await registry.revokeGrants(client.id, operator);
  await registry.update(client.id, { name: 'Two', refreshOverlap: 0 }, operator);
  assert.deepEqual(await registry.show(client.id), {
    ...client,
    name: 'Two',
    refreshOverlap: 0,
    status: 'paused',
    epoch: 1,
  });
});

test('design: every act on a client that is not there says so', async (context) => {
  const registry = registryOf(await openMemory(context));
  const { row: client } = await registry.register('confidential', settings, operator);
  await registry.delete(client.id, operator);
  const { id } = client;
  const acts = [
    registry.show(id),
    registry.update(id, {}, operator),
    registry.rotateSecret(id, operator),
    registry.retireSecret(id, operator),
    registry.pause(id, operator),
    registry.resume(id, operator),
    registry.revokeGrants(id, operator),
    registry.delete(id, operator),
  ];
  for (const act of acts) await assert.rejects(act, /there is no app/);
});

test('a comma that is part of one redirect URI or of one scope is registered', async (context) => {
  const memory = await openMemory(context);
  const registry = registryOf(memory);
  const redirectUris = ['https://one.test/cb?a=1,2', 'https://one.test/a,b', 'https://one.test/c,'];
  const { row: client } = await registry.register(
    'confidential',
    { ...settings, redirectUris, scopes: [scope('a,b')] },
    operator,
  );
  assert.deepEqual(client.redirectUris, redirectUris);
  const defined = { name: 'a', sentences: {}, effect: null, createdAt: 0 };
  const event = auditEvent('scope_defined', operator, 0, {}, { scope: 'b' });
  await memory.store.defineScope(defined, null, event);
  await registry.update(client.id, { scopes: [scope('a,b')] }, operator);
  await memory.store.defineScope({ ...defined, name: 'b' }, null, event);
  await registry.update(client.id, { name: 'Another' }, operator);
  await assert.rejects(registry.update(client.id, { scopes: [scope('a,b')] }, operator), {
    message: 'scope "a,b" is a list with commas: give each scope as an entry of its own',
    atCommandLine: /--scope a b/,
  });
  await memory.store.defineScope({ ...defined, name: 'a,b' }, null, event);
  await registry.update(client.id, { scopes: [scope('a,b')] }, operator);
});

test('operating: registering an app and naming one read no list of all apps', async (context) => {
  const memory = await openMemory(context);
  const registry = registryOf({
    ...memory,
    store: { ...memory.store, listClients: () => assert.fail('all clients are read') },
  });
  const { row: client } = await registry.register('confidential', settings, operator);
  assert.equal((await registry.warnings(client)).filter((text) => text.includes('has this name')).length, 0);
  const twin = await registry.register('confidential', { ...settings, name: settings.name.toUpperCase() }, operator);
  assert.match((await registry.warnings(twin.row)).join(), new RegExp(client.id));
  assert.equal((await registry.show(settings.name)).id, client.id, 'the exact name');
  const { row: same } = await registry.register('confidential', settings, operator);
  await assert.rejects(
    registry.show(settings.name),
    new RegExp(`several apps.*${client.id}.*${same.id}|${same.id}.*${client.id}`),
  );
  assert.equal((await registry.show(twin.row.name)).id, twin.row.id);
});

test('an act on the id of a deleted client touches no client whose name is that id', async (context) => {
  const registry = registryOf(await openMemory(context));
  const {
    row: { id },
  } = await registry.register('confidential', settings, operator);
  await registry.delete(id, operator);
  const { row: named } = await registry.register('confidential', { ...settings, name: id }, operator);
  assert.equal((await registry.show(id)).id, named.id, 'commands name apps');
  for (const act of [
    () => registry.exact(id),
    () => registry.update(id, { name: 'Other' }, operator),
    () => registry.rotateSecret(id, operator),
    () => registry.retireSecret(id, operator),
    () => registry.pause(id, operator),
    () => registry.resume(id, operator),
    () => registry.revokeGrants(id, operator),
    () => registry.delete(id, operator),
  ])
    await assert.rejects(act, NothingThere, String(act));
  assert.deepEqual(await registry.exact(named.id), named);
});

/** A registry, and what registers an app by settings that differ. */
async function withSignIn(context: Parameters<typeof openMemory>[0]) {
  const { store, clock } = await openMemory(context);
  const registry = new ClientRegistry({ store, prefix: PREFIX, accessTokenLifetime: 1800, now: () => clock.now });
  const { redirectUris } = settings;
  const add = async (more: Partial<ClientSettings>) =>
    (await registry.register('confidential', { name: 'One', redirectUris, ...more }, operator)).row;
  return { registry, add };
}

test('sign-in sets consent to remember, unless consent is named', async (context) => {
  const { registry, add } = await withSignIn(context);
  assert.deepEqual([(await add({ signIn: true })).consent, (await add({})).consent], ['remember', 'ask']);
  for (const consent of ['ask', 'skip'] as const) assert.equal((await add({ signIn: true, consent })).consent, consent);
  for (const [before, named, after] of [
    ['ask', undefined, 'remember'],
    ['skip', undefined, 'remember'],
    ['ask', 'ask', 'ask'],
    ['ask', 'skip', 'skip'],
  ] as const) {
    const { id } = await add({ consent: before });
    const updated = await registry.update(id, { signIn: true, ...(named && { consent: named }) }, operator);
    assert.equal(updated.consent, after);
  }
  const { id } = await add({ signIn: true, consent: 'ask' });
  assert.equal((await registry.update(id, { signIn: true, name: 'Two' }, operator)).consent, 'ask', 'it was on before');
  assert.equal((await registry.update(id, { signIn: false }, operator)).consent, 'ask');
});

test('sign-in is refused beside a registered scope that OpenID Connect defines, whichever comes first', async (context) => {
  const { registry, add } = await withSignIn(context);
  for (const name of ['openid', 'profile', 'email']) {
    await assert.rejects(add({ signIn: true, scopes: [scope(name)] }), new RegExp(`registered scope ${name}, which`));
    const { id } = await add({ scopes: [scope(name)] });
    await assert.rejects(registry.update(id, { signIn: true }, operator), OperatorError);
    const other = await add({ signIn: true });
    await assert.rejects(registry.update(other.id, { scopes: [scope(name)] }, operator), OperatorError);
  }
  await add({ signIn: true, scopes: [scope('address'), scope('offline_access')] });
});

test('sign-in is refused for an app with a metadata document', async (context) => {
  const { registry } = await withSignIn(context);
  const document = { address: 'https://agent.test/app', sha256: 'a'.repeat(64), jwksUri: null, fetchedAt: 1 };
  const register = (more: Partial<ClientSettings>) =>
    registry.register('public', { ...settings, ...more }, operator, document);
  await assert.rejects(register({ signIn: true }), /metadata document/);
  const { row: client } = await register({});
  await assert.rejects(registry.update(client.id, { signIn: true }, operator), /metadata document/);
  assert.equal((await registry.exact(client.id)).signIn, false);
});

test('keys for ID tokens are made after the write that gave an app sign-in, and the write stands where they cannot be', async (context) => {
  const { store, clock } = await openMemory(context);
  const made: boolean[] = [];
  const makeSigningKeys = async () => {
    made.push(await store.hasSignInClient());
    throw new Error('no keys');
  };
  const parts = { store, prefix: PREFIX, accessTokenLifetime: 1800, now: () => clock.now, makeSigningKeys };
  const registry = new ClientRegistry(parts);
  const refused = { ...settings, signIn: true, scopes: [scope('openid')] };
  await assert.rejects(registry.register('confidential', refused, operator), OperatorError);
  const { row, secret } = await registry.register('confidential', settings, operator);
  assert.deepEqual([typeof secret, made], ['string', []]);
  await registry.update(row.id, { signIn: true }, operator);
  assert.deepEqual(made, [true]);
  assert.equal((await registry.register('confidential', { ...settings, signIn: true }, operator)).row.signIn, true);
  assert.deepEqual(made, [true, true]);
});

test('the operator is warned that scope=openid no longer means all registered scopes', async (context) => {
  const { registry, add } = await withSignIn(context);
  const warned = async (more: Partial<ClientSettings>) => (await registry.warnings(await add(more))).join();
  assert.match(await warned({ name: 'Three', signIn: true }), /scope=openid no longer means all registered scopes/);
  assert.doesNotMatch(await warned({ name: 'Four' }), /openid/);
});
