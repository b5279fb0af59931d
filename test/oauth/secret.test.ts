import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { OperatorError } from '../../src/oauth/error.ts';
import { withChecksum } from '../../src/oauth/keys/credential.ts';
import { makeSecret, type SecretKind, secretOf } from '../../src/oauth/keys/secret.ts';
import { withNewSecret, withoutSecret } from '../../src/operator/secrets/secret-rotation.ts';
import { NOW, PREFIX } from './samples.ts';

const kinds: SecretKind[] = ['cs', 'rs'];

for (const kind of kinds) {
  const { text, secret } = makeSecret(PREFIX, kind, NOW);

  test(`RFC 6749 §2.3.1: a secret (${kind}) has 256 random bits, a prefix and a checksum, and only its digest is stored`, () => {
    assert.match(text, new RegExp(`^vk_${kind}_[A-Za-z0-9_-]{49}$`));
    assert.equal(withChecksum(text.slice(0, -6)), text);
    assert.ok(!JSON.stringify(secret).includes(text.slice(6)));
    const texts = Array.from({ length: 1000 }, () => makeSecret(PREFIX, kind, NOW).text);
    assert.equal(new Set(texts).size, 1000);
  });

  test(`RFC 6749 §2.3.1: a secret (${kind}) is one of those that are stored, wherever it stands, and nothing else is`, () => {
    const others = [1, 2].map(() => makeSecret(PREFIX, kind, NOW).secret);
    for (const secrets of [[secret], [secret, ...others], [...others, secret], [secret, secret]])
      assert.equal(secretOf(secrets, text)?.digest, secret.digest);
    for (const secrets of [others, []]) assert.equal(secretOf(secrets, text), null);
    for (const wrong of ['', `${text} `, text.slice(1), secret.digest.toString('base64url')])
      assert.equal(secretOf([secret], wrong), null);
  });

  test(`design: what is stored of a secret (${kind}) is its SHA-256, which no root key is needed for, and is no secret itself`, () => {
    assert.deepEqual(secret, { digest: createHash('sha256').update(text).digest(), createdAt: NOW });
    for (const encoding of ['base64', 'base64url', 'hex', 'latin1'] as const)
      assert.equal(secretOf([secret], secret.digest.toString(encoding)), null);
  });
}

test('ASVS 13.3.4: two secrets may be live, the newest first, never three, and the last one stays', () => {
  const a = makeSecret(PREFIX, 'cs', NOW).secret;
  const b = makeSecret(PREFIX, 'cs', NOW).secret;
  const c = makeSecret(PREFIX, 'cs', NOW).secret;
  const both = withNewSecret([a], b, 'retire');
  assert.deepEqual(both, [b, a]);
  assert.deepEqual(withNewSecret([], a, 'retire'), [a]);
  assert.deepEqual(withoutSecret({ secrets: both }, 'older', 'rotate'), [b]);
  assert.deepEqual(withoutSecret({ secrets: both }, 'newer', 'rotate'), [a]);
  const refused = (words: RegExp) => (error: unknown) =>
    error instanceof OperatorError && words.test(error.atCommandLine);
  assert.throws(
    () => withNewSecret(both, c, 'client retire-secret x'),
    refused(/two secrets.*"client retire-secret x"/),
  );
  for (const few of [[a], []])
    for (const which of ['older', 'newer'] as const)
      assert.throws(
        () => withoutSecret({ secrets: few }, which, 'client rotate-secret x'),
        refused(/only one.*"client rotate-secret x"/),
      );
});
