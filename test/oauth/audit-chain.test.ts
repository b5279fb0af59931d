import assert from 'node:assert/strict';
import { createSecretKey, hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { mac } from '../../src/oauth/keys/keyring.ts';
import { hmacBlocks } from '../../src/oauth/trail/audit-chain.ts';

test('RFC 2104 §2: two hashes that begin with the blocks of a key are the MAC of a text', () => {
  const anyKey = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(anyKey, fc.string({ unit: 'binary', maxLength: 300 }), (bytes, text) => {
      const key = createSecretKey(bytes);
      const { inner, outer } = hmacBlocks(key);
      const digest = hash('sha256', Buffer.from(inner + Buffer.from(text).toString('hex'), 'hex'));
      assert.equal(hash('sha256', Buffer.from(outer + digest, 'hex')), mac(key, text).toString('hex'));
    }),
  );
});
