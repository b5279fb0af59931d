/**
 * Metadata documents by the operator's word. The documents were made after the shapes that agents publish (26 November 2026:
 * written here, not copied); a test's look-up and certificate stand in for their hosts.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import type http from 'node:http';
import https from 'node:https';
import { type AddressInfo, BlockList } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { OperatorError } from '../../src/oauth/error.ts';
import { ClientDocuments } from '../../src/operator/apps/client-documents.ts';
import { ClientRegistry } from '../../src/operator/apps/client-registry.ts';
import { Outbound } from '../../src/process/outbound.ts';
import { keys } from '../oauth/assertions.ts';
import { openMemory, operator } from '../oauth/memory.ts';
import { PREFIX } from '../oauth/samples.ts';
import { makeCertificate } from '../support/certificate.ts';

const { cert, key } = makeCertificate(Date.now(), 3_600_000, { host: 'agent.example' });
let answer: http.RequestListener;
let asked = 0;
const server = https.createServer({ cert, key }, (request, response) => {
  asked += 1;
  answer(request, response);
});
await once(server.listen(0, '127.0.0.1'), 'listening');
after(() => {
  server.closeAllConnections();
  server.close();
});
const origin = `https://agent.example:${(server.address() as AddressInfo).port}`;
const address = `${origin}/oauth/client.json`;

type Members = Readonly<Record<string, unknown>>;

/** A public agent on the user's device, as Claude Code and VS Code publish it. */
const AGENT: Members = {
  client_id: address,
  client_name: 'Agent',
  client_uri: `${origin}/`,
  redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

/** An agent on the web whose keys are at an address of their own. */
const WITH_KEYS_ELSEWHERE: Members = {
  ...AGENT,
  redirect_uris: [`${origin}/callback`],
  token_endpoint_auth_method: 'private_key_jwt',
  jwks_uri: `${origin}/keys.json`,
};

const SHAPES: Readonly<Record<string, Members>> = {
  'a public agent on a device': AGENT,
  'an agent on the web with a policy and a contact': {
    ...AGENT,
    redirect_uris: [`${origin}/callback`],
    policy_uri: 'https://policy.example/privacy',
    contacts: ['help@agent.example', 'other@agent.example'],
    logo_uri: `${origin}/logo.svg`,
    scope: 'everything',
  },
  'a connector that offers none beside another method': {
    ...AGENT,
    token_endpoint_auth_method: 'client_secret_basic',
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
  },
  'an agent with its own key': {
    ...AGENT,
    redirect_uris: [`${origin}/callback`],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [keys.jwk] },
  },
  'an editor with a scheme of its own': { ...AGENT, redirect_uris: ['cursor://agent/callback'] },
};

function serves(value: unknown): void {
  answer = (_request, response) =>
    void response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}

/** Serves the document, and under the address of its keys what a test gives. */
function servesWithKeys(set: unknown, document: Members = WITH_KEYS_ELSEWHERE): void {
  answer = ({ url }, response) =>
    void response
      .writeHead(200, { 'Content-Type': url === '/keys.json' ? 'application/jwk-set+json' : 'application/json' })
      .end(JSON.stringify(url === '/keys.json' ? set : document));
}

async function opened(t: TestContext, resolve = async () => ['127.0.0.1']) {
  const memory = await openMemory(t);
  const { store, clock } = memory;
  const now = () => clock.now;
  const clients = new ClientRegistry({ store, prefix: PREFIX, accessTokenLifetime: 1800, now });
  const privateNetworks = new BlockList();
  privateNetworks.addAddress('127.0.0.1');
  const outbound = new Outbound({ isLocal: false, privateNetworks }, { resolve, certificateAuthority: cert, now });
  const fetchJson = (url: string, most: number) => outbound.fetchJson(url, most);
  return { ...memory, clients, documents: new ClientDocuments({ store, clients, isLocal: false, fetchJson, now }) };
}

async function refused(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail('it was not refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof OperatorError, String(error));
  assert.doesNotMatch(error.message, /\n/, 'one sentence');
  return error.message;
}

for (const [name, members] of Object.entries(SHAPES))
  test(`draft-ietf-oauth-client-id-metadata-document §5, §7.2: ${name} is registered by its address`, async (t) => {
    const { documents, store } = await opened(t);
    serves(members);
    const fetched = await documents.fetch(address);
    const scopes = [{ name: 'read', sentence: 'Read', optional: false }];
    const { row: client } = await documents.register(fetched, { name: undefined, scopes }, operator);
    const stored = await store.findClient(address);
    assert.deepEqual(stored, client);
    assert.deepEqual(
      [client.id, client.name, client.redirectUris, client.scopes, client.secrets],
      [address, 'Agent', members['redirect_uris'], scopes, []],
    );
    const hasKey = 'jwks' in members;
    assert.deepEqual([client.type, client.keys.length], hasKey ? ['confidential', 1] : ['public', 0]);
    assert.equal(client.homepage, `${origin}/`);
    assert.equal(client.privacyPage, members['policy_uri'] ?? null);
    assert.equal(client.contact, 'contacts' in members ? 'help@agent.example' : null);
    assert.equal(client.documentSha256, hash('sha256', JSON.stringify(members)));
    const [event] = await store.listAuditEvents({ limit: 1 });
    assert.equal(event?.action, 'client_registered');
    assert.equal(event.detail, JSON.stringify({ name: 'Agent', document: address, sha256: client.documentSha256 }));
  });

test('draft-ietf-oauth-client-id-metadata-document §8.6: what is not honored is told: members by their known names, redirect URIs and pages with the reason', async (t) => {
  const { documents } = await opened(t);
  serves({
    ...AGENT,
    redirect_uris: ['http://localhost/callback', 'http://agent.example/cb', 'javascript:alert(1)', 7],
    client_uri: 'https://elsewhere.example/',
    policy_uri: 'http://agent.example/privacy',
    contacts: ['no address'],
    scope: 'all',
    'canary "member': 1,
  });
  const { document, notes } = await documents.fetch(address);
  assert.deepEqual(document.redirectUris, ['http://localhost/callback']);
  assert.deepEqual([document.homepage, document.privacyPage, document.contact], [null, null, null]);
  assert.equal(notes.filter((note) => note.startsWith('omitted: redirect URI')).length, 3);
  assert.ok(notes.includes('ignored: scope, 1 other member'), String(notes));
  assert.ok(notes.some((note) => note.startsWith('omitted: the policy_uri')));
  assert.ok(notes.some((note) => note.startsWith('omitted: the first of contacts')));
  assert.doesNotMatch(String(notes), /canary/);
});

test('RFC 7591 §2, RFC 7523 §3, draft-ietf-oauth-client-id-metadata-document §4: keys at a jwks_uri are fetched at the registration, and kept with their address and when that was', async (t) => {
  const { documents, store, clock } = await opened(t);
  const kid = 'a';
  servesWithKeys({
    keys: [
      { ...keys.jwk, kid, x5c: ['certificate'], ext: true },
      { ...keys.jwk, use: 'enc' },
      { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AAAA' },
    ],
  });
  const fetched = await documents.fetch(address);
  assert.deepEqual(
    fetched.notes.filter((note) => note.startsWith('omitted: key')),
    ['omitted: key 2: its use must be sig', 'omitted: key 3: its kty must be EC, RSA or OKP'],
    'RFC 7517 §5: keys for other uses are not for us',
  );
  const { row: client } = await documents.register(fetched, { name: undefined }, operator);
  assert.deepEqual(await store.findClient(address), client);
  assert.deepEqual(client.keys, [{ ...keys.jwk, kid }], 'nothing but what a signature is checked with');
  assert.equal(client.type, 'confidential');
  assert.deepEqual(
    [client.jwksUri, client.jwksFetchedAt, client.jwksAskedAt],
    [`${origin}/keys.json`, clock.now, clock.now],
  );
});

test('a document without a method is read as none, with a note, and one that names others alone is refused', async (t) => {
  const { documents } = await opened(t);
  const { token_endpoint_auth_method: _method, ...nameless } = { token_endpoint_auth_method: '', ...AGENT };
  const note = 'read as none: it has no token_endpoint_auth_method';
  for (const more of [{}, { jwks: { keys: [keys.jwk] } }]) {
    serves({ ...nameless, ...more });
    const { document, notes } = await documents.fetch(address);
    assert.deepEqual([document.method, document.keys, notes.filter((each) => each === note).length], ['none', [], 1]);
  }
  serves({ ...nameless, token_endpoint_auth_methods_supported: ['none'] });
  assert.ok(!(await documents.fetch(address)).notes.includes(note));
  serves({ ...nameless, token_endpoint_auth_methods_supported: ['client_secret_basic'] });
  assert.match(await refused(documents.fetch(address)), /neither none nor/);
});

test('RFC 7591 §2: keys of a client without private_key_jwt are not fetched', async (t) => {
  const { documents } = await opened(t);
  servesWithKeys(null, { ...WITH_KEYS_ELSEWHERE, token_endpoint_auth_method: 'none' });
  const before = asked;
  assert.equal((await documents.fetch(address)).document.jwksUri, null);
  assert.equal(asked, before + 1);
});

const { d: _d, ...publicPart } = { ...keys.jwk, d: '' };
const HOSTILE: Readonly<Record<string, [unknown, RegExp]>> = {
  'no object': [['a'], /not a JSON object/],
  'another id': [{ ...AGENT, client_id: `${address}/` }, /client_id is not its own address/],
  'no id': [{ ...AGENT, client_id: undefined }, /client_id is not its own address/],
  'a secret': [{ ...AGENT, client_secret: 'canary' }, /holds client_secret, and a document is public/],
  'a private key': [
    { ...AGENT, token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ ...publicPart, d: 'canary' }] } },
    /key 1: it is a private key/,
  ],
  'a private key beside the method none': [
    { ...AGENT, jwks: { keys: [{ ...publicPart, d: 'canary' }] } },
    /key 1: it is a private key/,
  ],
  'six keys': [
    { ...AGENT, token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: Array(6).fill(keys.jwk) } },
    /more than 5 keys/,
  ],
  'a symmetric key': [
    { ...AGENT, jwks: { keys: [{ kty: 'oct', k: 'canary' }] }, token_endpoint_auth_method: 'private_key_jwt' },
    /key 1: it is a symmetric key/,
  ],
  'no key that can be used': [
    { ...AGENT, jwks: { keys: [{ ...keys.jwk, use: 'enc' }] }, token_endpoint_auth_method: 'private_key_jwt' },
    /holds no key that Valetkey can use/,
  ],
  'keys at another origin': [
    { ...AGENT, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://keys.example/keys' },
    /jwks_uri has another origin/,
  ],
  'keys at an address that is none': [
    { ...AGENT, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${origin}/a/../keys` },
    /jwks_uri is refused: it is not in its normal form/,
  ],
  'keys at no address': [
    { ...AGENT, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: [`${origin}/keys`] },
    /jwks_uri is no text/,
  ],
  'keys in two places': [{ ...WITH_KEYS_ELSEWHERE, jwks: { keys: [keys.jwk] } }, /both jwks and jwks_uri/],
  'a secret method alone': [{ ...AGENT, token_endpoint_auth_method: 'client_secret_post' }, /neither none nor/],
  'a key method without keys': [{ ...AGENT, token_endpoint_auth_method: 'private_key_jwt' }, /neither none nor/],
  'another grant type alone': [{ ...AGENT, grant_types: ['client_credentials'] }, /do not name authorization_code/],
  'no redirect URI that is good': [{ ...AGENT, redirect_uris: ['http://agent.example/'] }, /none of its redirect_uris/],
  '21 redirect URIs': [
    { ...AGENT, redirect_uris: Array.from({ length: 21 }, (_, n) => `${origin}/${n}`) },
    /more than 20 redirect_uris/,
  ],
};

for (const [name, [value, sentence]] of Object.entries(HOSTILE))
  test(`draft-ietf-oauth-client-id-metadata-document §4, §4.1, §8.3, hostile documents: ${name} is refused in one sentence, and nothing is registered`, async (t) => {
    const { documents, store } = await opened(t);
    serves(value);
    const message = await refused(documents.fetch(address));
    assert.match(message, sentence);
    assert.doesNotMatch(message, /canary/);
    assert.equal(await store.hasClients(), false);
  });

const HOSTILE_KEYS: Readonly<Record<string, [unknown, RegExp]>> = {
  'a private key': [{ keys: [keys.jwk, { ...publicPart, d: 'canary' }] }, /key 2: it is a private key/],
  'a private key of a kind that is not known': [
    { keys: [keys.jwk, { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AAAA', priv: 'canary' }] },
    /key 2: it is a private key/,
  ],
  'a symmetric key': [{ keys: [{ kty: 'oct', k: 'canary' }] }, /key 1: it is a symmetric key/],
  'six keys': [{ keys: Array(6).fill(keys.jwk) }, /more than 5 keys/],
  'no key': [{ keys: [] }, /holds no key that Valetkey can use/],
  'a kid that is no text': [{ keys: [{ ...keys.jwk, kid: ['canary'] }] }, /holds no key that Valetkey can use/],
  'no set': [[keys.jwk], /no JWK Set/],
  'more than 65,536 bytes': [{ keys: [{ ...keys.jwk, x5c: ['canary'.repeat(11_000)] }] }, /larger than 65536 bytes/],
};

for (const [name, [value, sentence]] of Object.entries(HOSTILE_KEYS))
  test(`RFC 7523 §3, draft-ietf-oauth-client-id-metadata-document §4, hostile keys: ${name} at the jwks_uri is refused in one sentence, and nothing is registered`, async (t) => {
    const { documents, store } = await opened(t);
    servesWithKeys(value);
    const message = await refused(documents.fetch(address));
    assert.match(message, sentence);
    assert.match(message, /keys\.json/);
    assert.doesNotMatch(message, /canary/);
    assert.equal(await store.hasClients(), false);
  });

test('hostile documents: one of two addresses private, or another answer than a document, is refused', async (t) => {
  const { documents } = await opened(t, async () => ['127.0.0.1', '10.0.0.1']);
  assert.match(await refused(documents.fetch(address)), /not public \(10\.0\.0\.1\)/);
  const reached = await opened(t);
  answer = (_request, response) => void response.writeHead(302, { Location: `${origin}/other` }).end();
  assert.match(await refused(reached.documents.fetch(address)), /could not be fetched: its status is 302/);
});

test('draft-ietf-oauth-client-id-metadata-document §3: an address that is none is refused before anything is asked', async (t) => {
  const { documents } = await opened(t);
  const before = asked;
  const wrong: Readonly<Record<string, RegExp>> = {
    'http://agent.example/client.json': /must begin with https/,
    'https://agent.example': /must have a path/,
    'https://agent.example/': /must have a path/,
    'https://agent.example/a#b': /without a fragment/,
    'https://agent.example/a b': /printable ASCII/,
    'https://agent.example\\a': /printable ASCII/,
    'https://agent.example/é': /printable ASCII/,
    'https://ada@agent.example/a': /user name or password/,
    'https://@agent.example/a': /normal form/,
    'https://agent.example/a/../b': /normal form/,
    'https://agent.example/a/%2e%2E/b': /normal form/,
    'https://agent.example/./b': /normal form/,
    'https://AGENT.example/a': /normal form/,
    'https://agent.example:443/a': /normal form/,
    'https://2130706433/a': /normal form/,
    [`https://agent.example/${'a'.repeat(234)}`]: /longer than 255/,
  };
  for (const [text, sentence] of Object.entries(wrong))
    assert.match(await refused(documents.fetch(text)), sentence, text);
  assert.equal(asked, before);
});

test('an id of 255 characters is a client like others', async (t) => {
  const { documents, store } = await opened(t);
  const long = `${origin}/`.padEnd(255, 'a');
  serves({ ...AGENT, client_id: long });
  await documents.register(await documents.fetch(long), { name: undefined }, operator);
  assert.equal((await store.findClient(long))?.id, long);
});

test('hostile documents: a name that another app has to people needs one from the operator', async (t) => {
  const { documents, clients } = await opened(t);
  await clients.register('public', { name: 'Straße Agent', redirectUris: ['https://one.test/cb'] }, operator);
  for (const client_name of ['Straße Agent', 'STRASSE AGENT', 'Ｓｔｒａße  Ａｇｅｎｔ']) {
    serves({ ...AGENT, client_name });
    const fetched = await documents.fetch(address);
    assert.match(
      await refused(documents.register(fetched, { name: undefined }, operator)),
      /already has the name/,
      client_name,
    );
  }
  for (const client_name of ['Agent\u200b', 'Agent\u202e', ' Agent', 'x'.repeat(101)]) {
    serves({ ...AGENT, client_name });
    await refused(documents.register(await documents.fetch(address), { name: undefined }, operator));
  }
  serves({ ...AGENT, client_name: undefined });
  const nameless = await documents.fetch(address);
  assert.match(
    await refused(documents.register(nameless, { name: undefined }, operator)),
    /no client_name: give a name/,
  );
  assert.equal((await documents.register(nameless, { name: 'Other Agent' }, operator)).row.name, 'Other Agent');
});

test('a document is registered once, also by two operators at once, and has no secret', async (t) => {
  const { documents, clients, store } = await opened(t);
  serves(AGENT);
  const fetched = await documents.fetch(address);
  const both = await Promise.allSettled([
    documents.register(fetched, { name: 'One' }, operator),
    documents.register(fetched, { name: 'Two' }, operator),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  assert.equal((await store.listAuditEvents({ limit: 9 })).length, 1, 'the loser leaves no event');
  const before = asked;
  assert.match(await refused(documents.fetch(address)), /already registered/);
  assert.equal(asked, before);
  assert.match(await refused(clients.rotateSecret(address, operator)), /has no secret/);
  assert.match(
    await refused(clients.update(address, { redirectUris: [`${origin}/x`] }, operator)),
    /come from its metadata document/,
  );
  assert.match(
    await refused(clients.update(address, { keys: [keys.jwk] }, operator)),
    /come from its metadata document/,
  );
  assert.equal((await clients.update(address, { name: 'Renamed' }, operator)).documentSha256, fetched.sha256);
});
