import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createKeyring, currentKey, mac } from '../../src/oauth/keys/keyring.ts';
import { NEVER, type SealPurpose, seal, unseal } from '../../src/oauth/keys/sealed.ts';
import { keyring, NOW, otherKeyring, rotatedKeyring } from './samples.ts';
import { someText } from './some-text.ts';

const TEXT = 'what only this service may read';
const sealed = seal(keyring, 'request', TEXT, NOW);
const bytes = Buffer.from(sealed, 'base64url');
const purposes: SealPurpose[] = ['request', 'device'];

function changed(at: number, change: (byte: number) => number): string {
  const copy = Buffer.from(bytes);
  copy[at] = change(copy[at] as number);
  return copy.toString('base64url');
}

test('design: what was sealed comes back whole, with its expiry, whether that is past or not', () => {
  fc.assert(
    fc.property(
      fc.oneof(someText, fc.constant('')),
      fc.constantFrom(...purposes),
      fc.integer({ min: 0, max: 2 ** 48 - 1 }),
      (text, purpose, expiresAt) => {
        const value = seal(keyring, purpose, text, expiresAt);
        assert.match(value, /^[A-Za-z0-9_-]+$/);
        assert.deepEqual(unseal(keyring, purpose, value), { content: Buffer.from(text), expiresAt });
      },
    ),
  );
});

test('RFC 9126 §7.1, design: nobody can read what is sealed, and no two seals are alike', () => {
  assert.ok(!bytes.includes(TEXT));
  const values = Array.from({ length: 1000 }, () => seal(keyring, 'request', TEXT, NOW));
  assert.equal(new Set(values).size, 1000);
  const nonces = values.map((value) => Buffer.from(value, 'base64url').subarray(11, 23).toString('hex'));
  assert.equal(new Set(nonces).size, 1000, 'NIST SP 800-38D §8.2: a nonce is never used twice');
});

test('RFC 9126 §7.1, design: a change of any bit of version, key, expiry, nonce, text or tag is refused', () => {
  for (let at = 0; at < bytes.length; at += 1)
    for (let bit = 0; bit < 8; bit += 1)
      assert.equal(
        unseal(
          keyring,
          'request',
          changed(at, (byte) => byte ^ (1 << bit)),
        ),
        null,
        `byte ${at}, bit ${bit}`,
      );
});

test('design: a value of another version is refused, even one that only this service can have made', () => {
  const day = Math.floor(NOW / (24 * 3600 * 1000));
  const key = mac(currentKey(keyring, 'request'), `day ${day}`, keyring.history);
  const ofVersion = (version: number) => {
    const [header, nonce] = [Buffer.from(bytes.subarray(0, 11)), bytes.subarray(11, 23)];
    header[0] = version;
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    cipher.setAAD(header);
    const parts = [header, nonce, cipher.update(TEXT), cipher.final(), cipher.getAuthTag()];
    return unseal(keyring, 'request', Buffer.concat(parts).toString('base64url'));
  };
  assert.ok(ofVersion(1), 'that of now is made so');
  for (const version of [0, 2, 255]) assert.equal(ofVersion(version), null);
});

test('design: a later expiry is as much of a change as any', () => {
  const later = Buffer.from(bytes);
  later.writeUIntBE(NOW + 1, 5, 6);
  assert.equal(unseal(keyring, 'request', later.toString('base64url')), null);
});

test('design: what is cut short, too long or nothing is refused, and never throws', () => {
  for (let length = 0; length < bytes.length; length += 1) {
    assert.equal(unseal(keyring, 'request', bytes.subarray(0, length).toString('base64url')), null);
    assert.equal(unseal(keyring, 'request', bytes.subarray(length + 1).toString('base64url')), null);
  }
  for (const more of [Buffer.alloc(1), Buffer.alloc(16), bytes])
    assert.equal(unseal(keyring, 'request', Buffer.concat([bytes, more]).toString('base64url')), null);
  fc.assert(
    fc.property(fc.oneof(fc.string(), someText, fc.base64String()), (text) => {
      assert.equal(unseal(keyring, 'request', text), null);
    }),
  );
});

test('design: what was sealed for one purpose is nothing for another, and nothing under another key', () => {
  assert.equal(unseal(keyring, 'device', sealed), null);
  assert.equal(unseal(otherKeyring, 'request', sealed), null);
  const renamed = Buffer.from(bytes);
  renamed.writeUInt32BE(otherKeyring.currentKeyId, 1);
  assert.equal(unseal(otherKeyring, 'request', renamed.toString('base64url')), null);
});

test('design: after a key rotation what was sealed before is opened, until its key is retired', () => {
  assert.deepEqual(unseal(rotatedKeyring, 'request', sealed), { content: Buffer.from(TEXT), expiresAt: NOW });
  assert.equal(unseal(createKeyring([Buffer.alloc(32, 'a new key')]), 'request', sealed), null);
  const fresh = seal(rotatedKeyring, 'request', TEXT, NOW);
  assert.equal(unseal(keyring, 'request', fresh), null, 'sealed with the newest key');
  assert.ok(unseal(rotatedKeyring, 'request', fresh));
});

test('design: one value has one text: no other alphabet, no padding, nothing around it', () => {
  let standard = '';
  // One that has both of the characters in which the alphabets differ.
  for (let value = sealed; standard === ''; value = seal(keyring, 'request', TEXT, NOW))
    if (value.includes('-') && value.includes('_')) standard = value.replaceAll('-', '+').replaceAll('_', '/');
  assert.equal(unseal(keyring, 'request', standard), null);
  for (const text of [
    `${sealed}=`,
    `${sealed}\n`,
    ` ${sealed}`,
    `${sealed}.`,
    `${sealed.slice(0, 20)}\n${sealed.slice(20)}`,
  ])
    assert.equal(unseal(keyring, 'request', text), null, JSON.stringify(text));
});

test('design: the spare bits of the last character are no second text of a value', () => {
  // 2 of 3 bytes in the last group: their three characters have two bits to spare.
  const value = ['', 'x', 'xx']
    .map((text) => seal(keyring, 'request', text, NOW))
    .find((text) => text.length % 4 === 3);
  assert.ok(value);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const others = [...alphabet].filter((last) => unseal(keyring, 'request', value.slice(0, -1) + last) !== null);
  assert.deepEqual(others, [value.at(-1)]);
});

test('restore: what expires is opened in the history alone in which it was sealed, and what is stored in any', () => {
  const [before, after] = [createKeyring([Buffer.alloc(32, 9)]), createKeyring([Buffer.alloc(32, 9)])];
  before.sealIn(Buffer.alloc(16, 1));
  after.sealIn(Buffer.alloc(16, 2));
  for (const purpose of ['request', 'device', 'sign-in', 'disconnects'] as const) {
    const value = seal(before, purpose, TEXT, NOW);
    assert.ok(unseal(before, purpose, value));
    assert.equal(unseal(after, purpose, value), null);
  }
  assert.ok(unseal(after, 'password', seal(before, 'password', TEXT, NEVER)));
});
