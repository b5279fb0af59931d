/** Passwords that were hashed by another program: sealed, wrapped, verified, and never good for sign-in before they may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readForeignHash } from '../../src/accounts/passwords/foreign-hash.ts';
import { type HashPlace, PasswordHasher } from '../../src/accounts/passwords/password-hash.ts';
import { isUnwrapped } from '../../src/accounts/people/account.ts';
import { unseal } from '../../src/oauth/keys/sealed.ts';
import { keyring, newKeyring, otherKeyring, rotatedKeyring } from '../oauth/samples.ts';

const hasher = new PasswordHasher(keyring);
const place: HashPlace = { lane: 'known', share: 'usr_ada' };

/** Of the password `U*U*`. */
const WEAK = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK';
/** Of the password `password`. */
const STRONG = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';

function sealed(text: string, by = hasher) {
  const hash = readForeignHash(text);
  assert.ok('madeBy' in hash);
  return { hash, password: by.seal(hash) };
}

test('design: nobody signs in with a hash that is not wrapped, whatever its row says', async () => {
  const { password } = sealed(WEAK);
  assert.equal(isUnwrapped(password), true);
  assert.equal(await hasher.verify(password, 'U*U*', place), false);
  const strong = sealed(STRONG).password;
  const claimed = { ...password, foreign: strong.foreign };
  await assert.rejects(async () => assert.equal(await hasher.verify(claimed, 'U*U*', place), true));
});

test('a hash that is as strong as ours is good at once, for its password alone', async () => {
  const { password } = sealed(STRONG);
  assert.equal(isUnwrapped(password), false);
  assert.equal(await hasher.verify(password, 'password', place), true);
  assert.equal(await hasher.verify(password, 'Password', place), false);
});

test('a wrapped hash is good for its password alone', async () => {
  const wrapped = await hasher.wrap(sealed(WEAK).password);
  assert.equal(await hasher.verify(wrapped, 'U*U*', place), true);
  assert.equal(await hasher.verify(wrapped, 'U*U', place), false);
  assert.match(
    unseal(keyring, 'password', wrapped.sealedPhc)?.content.toString() ?? '',
    /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
  );
});

test('design: the database alone does not allow guessing: neither form holds the digest, and both need the key', async () => {
  const { hash, password } = sealed(WEAK);
  const wrapped = await hasher.wrap(password);
  for (const stored of [password, wrapped]) {
    const bytes = Buffer.from(JSON.stringify(stored));
    for (const form of ['base64', 'base64url', 'hex'] as const)
      assert.ok(!bytes.includes(hash.digest.toString(form).slice(0, 20)), form);
    assert.ok(!bytes.includes('VGOzA784oUp'));
  }
  assert.notEqual(sealed(WEAK).password.sealed, password.sealed, 'the same hash twice is not seen');
  const elsewhere = new PasswordHasher(otherKeyring);
  await assert.rejects(elsewhere.wrap(password), /not in the keyring/);
  await assert.rejects(elsewhere.verify(wrapped, 'U*U*', place), /not in the keyring/);
});

test('after a key rotation what was sealed and wrapped is still good, and what is wrapped from then on uses the new key', async () => {
  const { password } = sealed(WEAK);
  const rotated = new PasswordHasher(rotatedKeyring);
  assert.equal(await rotated.verify(await hasher.wrap(password), 'U*U*', place), true);
  assert.equal(await rotated.verify(sealed(STRONG).password, 'password', place), true);
  const wrapped = await rotated.wrap(password);
  assert.equal(wrapped.keyId, rotatedKeyring.currentKeyId);
  assert.equal(await rotated.verify(wrapped, 'U*U*', place), true);
});

test('a key rotation seals anew what another program made, wrapped or not, and without its password', async () => {
  const [rotated, onlyNew] = [new PasswordHasher(rotatedKeyring), new PasswordHasher(newKeyring)];
  for (const [stored, right] of [
    [sealed(STRONG).password, 'password'],
    [await hasher.wrap(sealed(WEAK).password), 'U*U*'],
  ] as const) {
    const resealed = rotated.reseal(stored);
    assert.ok(resealed && resealed.keyId === rotatedKeyring.currentKeyId);
    assert.equal(await onlyNew.verify(resealed, right, place), true);
    assert.equal(await onlyNew.verify(resealed, 'another', place), false);
    assert.equal(rotated.reseal(resealed), null);
  }
});

test('a hash that another program made is replaced at the next sign-in, however strong it is', async () => {
  const { password } = sealed(STRONG);
  assert.equal(hasher.isOutdated(password), true);
  assert.equal(hasher.isOutdated(await hasher.wrap(sealed(WEAK).password)), true);
  assert.equal(hasher.isOutdated(await hasher.hash('U*U*')), false);
});
