import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { createKeyring, currentKey, type KeyPurpose, mac } from '../../src/oauth/keys/keyring.ts';

const old = Buffer.alloc(32, 1);
const fresh = Buffer.alloc(32, 2);
const purposes: KeyPurpose[] = ['ac', 'at', 'rt', 'password', 'form', 'request', 'device', 'canary'];

function exported(ring: ReturnType<typeof createKeyring>, keyId: number, purpose: KeyPurpose): string {
  const key = ring.key(keyId, purpose);
  assert.ok(key, purpose);
  return key.export().toString('hex');
}

test('keyring: no key, or one that is too short, is refused', () => {
  assert.throws(() => createKeyring([]), /^RangeError: a keyring needs at least one root key$/);
  assert.throws(() => createKeyring([Buffer.alloc(31, 1)]), RangeError);
  assert.throws(() => createKeyring([fresh, Buffer.alloc(0)]), RangeError);
  assert.equal(createKeyring([Buffer.alloc(64, 1)]).keyIds.length, 1);
});

test('keyring: each purpose has its own key of 32 bytes, and none is the root key', () => {
  const ring = createKeyring([old]);
  const keys = purposes.map((purpose) => exported(ring, ring.currentKeyId, purpose));
  assert.equal(new Set([...keys, old.toString('hex')]).size, purposes.length + 1);
  for (const key of keys) assert.equal(key.length, 64);
});

test('keyring: the derivation is fixed, so that an upgrade ends no credential (RFC 5869)', () => {
  const ring = createKeyring([old]);
  assert.equal(ring.currentKeyId, 1_971_790_139);
  assert.equal(
    exported(ring, ring.currentKeyId, 'at'),
    'c90a14e0ed24071df20e1146eaf7892b920d2b443ab9c242e706065a6b5acdca',
  );
});

test('keyring: after a rotation the newest key is current, and the earlier one is still there with its id', () => {
  const before = createKeyring([old]);
  const after = createKeyring([fresh, old]);
  assert.notEqual(after.currentKeyId, before.currentKeyId);
  assert.deepEqual(after.keyIds, [after.currentKeyId, before.currentKeyId]);
  for (const purpose of purposes) {
    assert.equal(exported(after, before.currentKeyId, purpose), exported(before, before.currentKeyId, purpose));
    assert.notEqual(exported(after, after.currentKeyId, purpose), exported(before, before.currentKeyId, purpose));
    assert.equal(currentKey(after, purpose), after.key(after.currentKeyId, purpose));
  }
});

test('keyring: a key that is not in the ring is undefined; the same root key twice is one', () => {
  const ring = createKeyring([old, old]);
  assert.equal(ring.keyIds.length, 1);
  assert.equal(ring.key(createKeyring([fresh]).currentKeyId, 'at'), undefined);
  assert.equal(ring.key(-1, 'at'), undefined);
});

test('keyring: a MAC is HMAC-SHA-256 over the parts in order, by the derived key', () => {
  const key = currentKey(createKeyring([old]), 'at');
  const expected = createHmac('sha256', key).update('what do ya want for nothing?').digest();
  assert.deepEqual(mac(key, 'what do ya want ', Buffer.from('for nothing?')), expected);
});
