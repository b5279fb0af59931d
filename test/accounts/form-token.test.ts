import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkFormToken, type FormBinding, makeFormToken } from '../../src/accounts/sign-in/form-token.ts';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { keyring, NOW, otherKeyring, rotatedKeyring } from '../oauth/samples.ts';

const binding: FormBinding = {
  session: 'session secret',
  purpose: 'consent',
  subject: '["app_one","https://one.test/cb"]',
};
const token = makeFormToken(keyring, binding, NOW);
const LIFETIME = 10 * 60 * 1000;

test('a token is good for what its form was shown for', () => {
  assert.equal(checkFormToken(keyring, binding, token, NOW), 'good');
});

const others: [string, Partial<FormBinding>][] = [
  ['another session', { session: 'other secret' }],
  ['no session', { session: '' }],
  ['another purpose', { purpose: 'sign-in' }],
  ['another subject', { subject: '["app_two","https://one.test/cb"]' }],
  ['no subject', { subject: '' }],
  ['parts that are shifted', { session: 'session secretconsent', purpose: '' }],
  ['parts that are swapped', { session: 'consent', purpose: 'session secret' }],
];
for (const [name, other] of others) {
  test(`a token is wrong for ${name}`, () => {
    assert.equal(checkFormToken(keyring, { ...binding, ...other }, token, NOW), 'wrong');
  });
}

test('a token is good for its own binding and for no other', () => {
  const someBinding = fc.record({ session: fc.string(), purpose: fc.string(), subject: fc.string() });
  fc.assert(
    fc.property(someBinding, someBinding, (one, two) => {
      const isSame = one.session === two.session && one.purpose === two.purpose && one.subject === two.subject;
      assert.equal(checkFormToken(keyring, two, makeFormToken(keyring, one, NOW), NOW), isSame ? 'good' : 'wrong');
    }),
  );
});

const ages: [ms: number, 'good' | 'expired'][] = [
  [0, 'good'],
  [1, 'good'],
  [LIFETIME - 1000, 'good'],
  [LIFETIME, 'good'],
  [LIFETIME + 1, 'expired'],
  [24 * LIFETIME, 'expired'],
  [-60_000, 'good'],
  [-60_001, 'expired'],
];
for (const [age, expected] of ages) {
  test(`a token is ${expected} ${age} ms after its form was shown`, () => {
    assert.equal(checkFormToken(keyring, binding, token, NOW + age), expected);
  });
}

test('a token that was made younger is wrong: its time is part of the proof', () => {
  const [, proof] = token.split('.');
  for (const time of [NOW + 1, NOW + LIFETIME, NOW - 1, 0])
    assert.equal(checkFormToken(keyring, binding, `${time.toString(36)}.${proof}`, NOW + LIFETIME), 'wrong');
});

for (const text of [
  undefined,
  '',
  '.',
  'x',
  `${token}x`,
  `${token}\n`,
  ` ${token}`,
  `${token} `,
  token.slice(0, -1),
  token.toUpperCase(),
  token.slice(token.indexOf('.')),
  `-${token}`,
  `zzzzzzzzzzzz${token.slice(token.indexOf('.'))}`,
]) {
  test(`${JSON.stringify(text)} is wrong, and no error`, () => {
    assert.equal(checkFormToken(keyring, binding, text, NOW), 'wrong');
  });
}

test('every change of a bit of a token is wrong', () => {
  const [time, proof] = token.split('.') as [string, string];
  const bytes = Buffer.from(proof, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const forged = Buffer.from(bytes);
    forged[bit >> 3] = (forged[bit >> 3] as number) ^ (1 << (bit & 7));
    assert.equal(checkFormToken(keyring, binding, `${time}.${forged.toString('base64url')}`, NOW), 'wrong');
  }
});

test('a token is good across a key rotation, and wrong under other keys', () => {
  assert.equal(checkFormToken(rotatedKeyring, binding, token, NOW), 'good');
  assert.equal(checkFormToken(otherKeyring, binding, token, NOW), 'wrong');
  assert.equal(checkFormToken(createKeyring([Buffer.alloc(32, 'a new key')]), binding, token, NOW), 'wrong');
});
