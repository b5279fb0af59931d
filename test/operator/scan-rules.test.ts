/** What scanners are told finds every credential that must not be published, and little else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CredentialKind, deriveCredential } from '../../src/oauth/credential.ts';
import { makeSecret } from '../../src/oauth/secret.ts';
import { scanRules } from '../../src/operator/scan-rules.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { issuedGrant, keyring } from '../oauth/samples.ts';

const rules = scanRules('acme');

function token(kind: CredentialKind): string {
  const header = { keyId: keyring.currentKeyId, grantId: issuedGrant.id, generation: 1, expiresAt: 1 };
  return deriveCredential(keyring, 'acme', kind, header, issuedGrant.seed);
}

function foundIn(text: string): string[] {
  return rules.filter(({ pattern }) => new RegExp(pattern).test(text)).map(({ id }) => id);
}

test('Promise 4: each kind of secret and token is found in a line of code, by its own rule', () => {
  const texts: [id: string, text: string][] = [
    ['acme-cs', makeSecret('acme', 'cs', 0).text],
    ['acme-rs', makeSecret('acme', 'rs', 0).text],
    ['acme-ps', makeSecret('acme', 'ps', 0).text],
    ['acme-at', token('at')],
    ['acme-rt', token('rt')],
    ['vk-rk', makeRootKey()],
  ];
  for (const [id, text] of texts) {
    for (const line of [text, `token = "${text}"`, `https://x.test/?t=${text}&y`, `Bearer ${text}\n`])
      assert.deepEqual(foundIn(line), [id], line);
    assert.deepEqual(foundIn(text.slice(0, -1)), [], 'one that was cut');
  }
  assert.deepEqual(rules.map(({ id }) => id).toSorted(), texts.map(([id]) => id).toSorted());
});

test('what only looks a little like one is not found', () => {
  for (const text of ['acme_cs_', 'acme_at_short', `other_at_${'a'.repeat(200)}`, 'a comment on acme_rt_ tokens'])
    assert.deepEqual(foundIn(text), [], text);
});
