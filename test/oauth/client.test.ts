import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticateClient, type Client, isClientId } from '../../src/oauth/clients/client.ts';
import { Refusal } from '../../src/oauth/error.ts';
import { makeSecret } from '../../src/oauth/keys/secret.ts';
import { assertRefusal, confidentialClient, NOW, PREFIX, publicClient } from './samples.ts';

const first = makeSecret(PREFIX, 'cs', NOW);
const second = makeSecret(PREFIX, 'cs', NOW + 1);
const stranger = makeSecret(PREFIX, 'cs', NOW);
const client: Client = { ...confidentialClient, secrets: [first.secret] };

function authenticate(by: Client | null, clientSecret: string | undefined, clientId: string | undefined = client.id) {
  return authenticateClient(by, { method: 'secret', clientId, clientSecret });
}

test('RFC 6749 §2.3.1: a client authenticates with its secret', () => {
  assert.equal(authenticate(client, first.text), client);
});

test('of two live secrets both work, and each dies alone', () => {
  const both = { ...client, secrets: [second.secret, first.secret] };
  assert.equal(authenticate(both, first.text), both);
  assert.equal(authenticate(both, second.text), both);
  assert.ok(authenticate({ ...client, secrets: [second.secret] }, first.text) instanceof Refusal);
});

const paused: Client = { ...client, status: 'paused' };
const secretText = first.text;
const refused: [string, Client | null, string | undefined, string | undefined, RegExp][] = [
  ['no client_id', client, secretText, undefined, /client_id is missing/],
  ['no client_secret', client, undefined, client.id, /client_secret is missing/],
  ['neither', null, undefined, undefined, /client_id is missing/],
  ['an unknown client', null, secretText, 'app_nobody', /no client has/],
  ['another client’s secret', client, stranger.text, client.id, /secret is wrong/],
  ['an empty secret', client, '', client.id, /secret is wrong/],
  ['a space after it', client, `${secretText} `, client.id, /secret is wrong/],
  ['a space before it', client, ` ${secretText}`, client.id, /secret is wrong/],
  ['a line feed after it', client, `${secretText}\n`, client.id, /secret is wrong/],
  ['a NUL after it', client, `${secretText}\0`, client.id, /secret is wrong/],
  ['upper case', client, secretText.toUpperCase(), client.id, /secret is wrong/],
  ['lower case', client, secretText.toLowerCase(), client.id, /secret is wrong/],
  ['cut short', client, secretText.slice(0, -1), client.id, /secret is wrong/],
  ['its digest', client, first.secret.digest.toString('base64url'), client.id, /secret is wrong/],
  ['very long', client, 'x'.repeat(65_536), client.id, /secret is wrong/],
  ['a client without any secret', { ...client, secrets: [] }, secretText, client.id, /secret is wrong/],
  ['a public client', publicClient, secretText, client.id, /public/],
  ['a public client that has a secret', { ...client, type: 'public' }, secretText, client.id, /public/],
  ['a paused client with a wrong secret', paused, stranger.text, client.id, /secret is wrong/],
];
for (const [name, by, clientSecret, clientId, detail] of refused) {
  test(`RFC 6749 §2.3.1, §3.2.1, §10.2: invalid_client: ${name}`, () => {
    assertRefusal(authenticateClient(by, { method: 'secret', clientId, clientSecret }), 'invalid_client', detail);
  });
}

test('RFC 6749 §5.2: all reasons share one public text, but that something did not come, or what can be seen of the secret', () => {
  const texts = refused.map(([, by, clientSecret, clientId]) => {
    const outcome = authenticateClient(by, { method: 'secret', clientId, clientSecret });
    return outcome instanceof Refusal ? outcome.description : assert.fail();
  });
  const missing = ['client_id', 'client_secret', 'client_id'].map(
    (name) => `client authentication failed: ${name} is missing`,
  );
  assert.deepEqual(texts.slice(0, 3), missing);
  const general = 'client authentication failed: check client_id and client_secret, or client_assertion';
  const blank = 'client authentication failed: the secret contains a space or a line break: send it without';
  const cut = 'client authentication failed: the secret is not whole: send all of it, and nothing else';
  const seen: Record<string, string> = {
    'a space after it': blank,
    'a space before it': blank,
    'a line feed after it': blank,
    'a NUL after it': cut,
    'lower case': cut,
    'cut short': cut,
  };
  for (const [n, [name]] of refused.entries()) if (n >= 3) assert.equal(texts[n], seen[name] ?? general, name);
});

const ids: [string, boolean][] = [
  ['app_0123456789abcdef', true],
  ['~!"\\', true],
  ['x'.repeat(100), true],
  ['x'.repeat(255), true],
  ['x'.repeat(256), false],
  ['', false],
  ['two words', false],
  ['app_one\n', false],
  ['app_one\0', false],
  ['é', false],
];
for (const [id, good] of ids) {
  test(`RFC 6749 appendix A.1: ${JSON.stringify(id.slice(0, 30))} (${id.length}) is ${good ? 'looked up' : 'nobody’s id'}`, () => {
    assert.equal(isClientId(id), good);
  });
}

const withoutSecret: [string, Client | null, string | undefined, RegExp | null][] = [
  ['a public client', publicClient, publicClient.id, null],
  ['a paused public client', { ...publicClient, status: 'paused' }, publicClient.id, null],
  ['a confidential client', client, client.id, /confidential/],
  ['a confidential client without any secret', { ...client, secrets: [] }, client.id, /confidential/],
  ['a client that is not there', null, 'app_nobody', /no client has/],
  ['no client_id', null, undefined, /client_id is missing/],
];
for (const [name, by, clientId, detail] of withoutSecret) {
  test(`RFC 6749 §3.2.1: ${name} that sends no credentials is ${detail ? 'refused' : 'taken by its word'}`, () => {
    const outcome = authenticateClient(by, { method: 'none', clientId });
    if (detail) assertRefusal(outcome, 'invalid_client', detail);
    else assert.equal(outcome, by);
  });
}

test('every change of a single character of a secret is refused', () => {
  for (let at = 0; at < secretText.length; at += 1) {
    const changed = secretText.slice(0, at) + (secretText[at] === 'A' ? 'B' : 'A') + secretText.slice(at + 1);
    assert.ok(authenticate(client, changed) instanceof Refusal, changed);
  }
});
