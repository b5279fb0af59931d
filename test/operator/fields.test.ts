/** The settings of registrations in JSON, as bodies of requests have them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorError } from '../../src/oauth/error.ts';
import {
  actsOfNewClient,
  actsOfScopes,
  CLIENT_SETTINGS,
  NEW_CLIENT_SETTINGS,
} from '../../src/operator/fields/client-fields.ts';
import { NEW_PROVIDER_SETTINGS, PROVIDER_SETTINGS } from '../../src/operator/fields/identity-provider-fields.ts';
import {
  NEW_RESOURCE_SERVER_SETTINGS,
  RESOURCE_SERVER_SETTINGS,
} from '../../src/operator/fields/resource-server-fields.ts';
import { SCOPE_MEANING } from '../../src/operator/fields/scope-fields.ts';
import { actsOf, readNew, readSettings } from '../../src/operator/fields/setting.ts';
import { readNewUser, USER_SETTINGS } from '../../src/operator/fields/user-fields.ts';
import { findClientJson } from '../../src/operator/json/client.ts';
import { sampleClient } from '../support/storage.ts';

const refused = (read: () => unknown, field: string, message: RegExp) =>
  assert.throws(read, (error: unknown) => {
    assert.ok(error instanceof OperatorError);
    assert.equal(error.field, field);
    assert.match(error.message, message);
    return true;
  });

const CLIENT = sampleClient({ publisher: 'Acme', consent: 'remember', defaultResource: 'https://mail.test' });

test('the settings of an app are read from the names that its own JSON has', async () => {
  const json = await findClientJson(CLIENT, { findSecretUse: async () => null });
  const READ_ONLY =
    'client_id type status last_used_at live_secrets keys document_sha256 jwks_uri jwks_fetched_at created_at'.split(
      ' ',
    );
  const members = Object.fromEntries(Object.entries(json).filter(([name]) => !READ_ONLY.includes(name)));
  const read = readSettings(CLIENT_SETTINGS, members);
  for (const [setting, value] of Object.entries(read)) assert.deepEqual(value, CLIENT[setting as keyof typeof CLIENT]);
  assert.equal(Object.keys(read).length, Object.keys(members).length);
});

test('RFC 7396 §2: a null brings a setting back to its default, and what has none cannot be removed', () => {
  assert.deepEqual(
    readSettings(CLIENT_SETTINGS, { publisher: null, scopes: null, consent: null, is_checked: null, keys: null }),
    {
      publisher: null,
      scopes: [],
      consent: 'ask',
      isChecked: false,
      keys: [],
    },
  );
  assert.deepEqual(readSettings(RESOURCE_SERVER_SETTINGS, { scopes: null, accepts_unbound: null }), {
    scopes: null,
    acceptsUnbound: false,
  });
  assert.deepEqual(readSettings(PROVIDER_SETTINGS, { session: null, rights: null }), {
    sessionLifetime: null,
    rights: ['sign-in'],
  });
  assert.deepEqual(readSettings(USER_SETTINGS, { username: null }), { username: null });
  refused(() => readSettings(CLIENT_SETTINGS, { name: null }), 'name', /must be a string/);
  refused(() => readSettings(USER_SETTINGS, { email: null }), 'email', /must be a string/);
});

test('a member that is unknown or cannot be set is refused by its name, with those that can be', () => {
  for (const name of ['status', 'client_id', 'epoch', 'redirectUris', '__proto__', 'constructor', 'toString'])
    refused(() => readSettings(CLIENT_SETTINGS, JSON.parse(`{${JSON.stringify(name)}: 1}`)), name, /redirect_uris/);
  refused(() => readSettings(USER_SETTINGS, { status: 'active' }), 'status', /username/);
  refused(() => readNew(SCOPE_MEANING, { sentences: { en: 'Read' }, name: 'x' }), 'name', /sentences, effect/);
});

test('a value of another type is refused by its field, with the type that it must have', () => {
  const wrong: readonly [Record<string, unknown>, RegExp][] = [
    [{ redirect_uris: 'https://a.test' }, /a list of strings/],
    [{ redirect_uris: [1] }, /a list of strings/],
    [{ require_pkce: 'yes' }, /true or false/],
    [{ refresh_overlap: 1.5 }, /whole number of seconds/],
    [{ consent: 'never' }, /one of ask, remember, skip/],
    [{ person_fields: ['phone'] }, /some of name, username/],
    [{ keys: ['a'] }, /JSON Web Key/],
    [{ scopes: [{ name: 'read', sentence: 'Read', extra: 1 }] }, /a list of names, or of objects/],
    [{ scopes: { name: 'read' } }, /a list of names/],
  ];
  for (const [members, message] of wrong)
    refused(() => readSettings(CLIENT_SETTINGS, members), Object.keys(members)[0] as string, message);
});

test('a scope is a name, or an object', () => {
  assert.deepEqual(readSettings(CLIENT_SETTINGS, { scopes: ['read', { name: 'send', optional: true }] }), {
    scopes: [
      { name: 'read', sentence: null, optional: false },
      { name: 'send', sentence: null, optional: true },
    ],
  });
});

test('what something new needs is asked for by its field', () => {
  refused(() => readNew(NEW_CLIENT_SETTINGS, { redirect_uris: [] }), 'name', /is missing/);
  refused(() => readNew(NEW_RESOURCE_SERVER_SETTINGS, {}), 'name', /is missing/);
  refused(() => readNew(NEW_PROVIDER_SETTINGS, { provider_id: 'a', name: 'A' }), 'sign_in_url', /is missing/);
  refused(() => readNewUser({ email: 'a@b.test' }), 'name', /is missing/);
  refused(() => readNew(SCOPE_MEANING, { effect: 'reads' }), 'sentences', /is missing/);
});

test('settings that make trust, and secrets, are acts of their own', () => {
  const acts = (members: Record<string, unknown>) => actsOfNewClient({ name: 'A', ...members });
  assert.deepEqual(acts({}), ['clients.make-secret']);
  assert.deepEqual(acts({ type: 'public' }), []);
  assert.deepEqual(acts({ hand_over: true }), ['clients.hand-over']);
  assert.deepEqual(acts({ keys: [{ kty: 'OKP' }] }), ['clients.set-keys']);
  assert.deepEqual(acts({ type: 'public', is_checked: true, consent: 'skip' }), [
    'clients.vouch',
    'clients.set-consent',
  ]);
  assert.deepEqual(
    actsOf(
      CLIENT_SETTINGS,
      readSettings(CLIENT_SETTINGS, { name: 'B', is_checked: false, consent: 'ask' }),
      'changing',
    ),
    [],
  );
  assert.deepEqual(acts({ type: 'public', scopes: ['read', { name: 'send' }] }), []);
  assert.deepEqual(acts({ type: 'public', scopes: ['read', { name: 'send', sentence: 'Send' }] }), [
    'scopes.set-sentences',
  ]);
  const { scopes: told } = readSettings(CLIENT_SETTINGS, { scopes: [{ name: 'send', sentence: 'Send' }] });
  const had = (sentence: string) => [{ name: 'send', sentence, optional: true }];
  assert.deepEqual(actsOfScopes(told, had('Post')), ['scopes.set-sentences']);
  assert.deepEqual(actsOfScopes(told, had('Send')), []);
  assert.deepEqual(actsOfScopes([], had('Send')), ['scopes.set-sentences']);
  assert.deepEqual(actsOf(CLIENT_SETTINGS, readSettings(CLIENT_SETTINGS, { keys: [] }), 'changing'), [
    'clients.set-keys',
  ]);
  const actsOfHome = (home_page: string | null) =>
    actsOf(PROVIDER_SETTINGS, readSettings(PROVIDER_SETTINGS, { home_page }), 'changing');
  assert.deepEqual(actsOfHome('https://photos.example'), ['identity-providers.trust']);
  assert.deepEqual(actsOfHome(null), []);
});
