import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnedAway } from '../../src/accounts/guessing/fair-line.ts';
import { type HashPlace, PasswordHasher } from '../../src/accounts/passwords/password-hash.ts';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { NEVER, seal, unseal } from '../../src/oauth/keys/sealed.ts';
import { keyring, newKeyring, otherKeyring, rotatedKeyring } from '../oauth/samples.ts';

const hasher = new PasswordHasher(keyring);
const stranger: HashPlace = { lane: 'unknown', share: '192.0.2.0/24' };

/** What is sealed in a stored password. */
const phcOf = ({ sealedPhc }: { sealedPhc: string }) =>
  unseal(keyring, 'password', sealedPhc)?.content.toString() ?? '';

const long = 'k3vu8zej-q'.repeat(10);
const emoji = '🦊🐼🦁🐯🦄🐝🐙🦀🐢🐬'.repeat(2);
const wrongOnes: [string, string, string][] = [
  ['the last of 100 characters', long, `${long.slice(0, -1)}x`],
  ['the case', long, long.toUpperCase()],
  ['a space after it', long, `${long} `],
  ['a space before it', long, ` ${long}`],
  ['one character less', long, long.slice(0, -1)],
  ['the last of 80 bytes of emoji', emoji, `${emoji.slice(0, -2)}🐬`.replace(/🐬$/, '🦊')],
  ['what comes after 72 bytes', emoji, emoji.slice(0, 36)],
  ['the composition of a letter', 'é-k3vu8zej', 'e\u0301-k3vu8zej'],
  ['what comes after a NUL', 'k3vu8\0zej', 'k3vu8\0other'],
  ['everything', long, ''],
];
test('ASVS 6.2.8: a password is verified exactly', async (context) => {
  const stored = new Map<string, Awaited<ReturnType<PasswordHasher['hash']>>>();
  for (const [name, password, wrong] of wrongOnes) {
    await context.test(`differing in ${name}`, async () => {
      if (!stored.has(password)) {
        stored.set(password, await hasher.hash(password));
        assert.equal(await hasher.verify(stored.get(password) ?? null, password, stranger), true);
      }
      assert.notEqual(wrong, password);
      assert.equal(await hasher.verify(stored.get(password) ?? null, wrong, stranger), false);
    });
  }
});

test('ASVS appendix C: argon2id with 19 MiB, two passes and one lane, and a salt of its own each time', async () => {
  const [one, two] = [await hasher.hash(long), await hasher.hash(long)];
  assert.match(phcOf(one), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22,}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(phcOf(one), phcOf(two));
  assert.equal(one.keyId, keyring.currentKeyId);
});

test('design: a stolen database alone does not even allow guessing: what is stored tells nothing without its root key', async () => {
  const stored = await hasher.hash(long);
  const [salt = '', digest = ''] = phcOf(stored).split('$').slice(-2);
  for (const part of ['argon2', salt, digest])
    assert.ok(!Buffer.from(stored.sealedPhc, 'base64url').includes(part) && !stored.sealedPhc.includes(part));
  const elsewhere = new PasswordHasher(otherKeyring);
  await assert.rejects(elsewhere.verify({ ...stored, keyId: otherKeyring.currentKeyId }, long, stranger), /not in the/);
  await assert.rejects(elsewhere.verify(stored, long, stranger), /not in the keyring/);
});

test('after a key rotation an earlier hash is opened with its own key, and sealed anew without the password', async () => {
  const stored = await hasher.hash(long);
  const rotated = new PasswordHasher(rotatedKeyring);
  assert.equal(await rotated.verify(stored, long, stranger), true);
  const resealed = rotated.reseal(stored);
  assert.ok(resealed && 'sealedPhc' in resealed && resealed.keyId === rotatedKeyring.currentKeyId);
  const onlyNew = new PasswordHasher(newKeyring);
  assert.equal(await onlyNew.verify(resealed, long, stranger), true);
  assert.equal(await onlyNew.verify(resealed, `${long}x`, stranger), false);
  assert.equal(rotated.isOutdated(resealed), false, 'the hash is as good as before');
  assert.equal(rotated.reseal(resealed), null);
  assert.equal(hasher.reseal(stored), null);
});

test('design: a hash with other parameters is outdated', async () => {
  const stored = await hasher.hash(long);
  const phc = phcOf(stored);
  const withPhc = (text: string) => ({ ...stored, sealedPhc: seal(keyring, 'password', text, NEVER) });
  assert.equal(hasher.isOutdated(withPhc(phc)), false);
  for (const other of ['m=12288,t=2,p=1', 'm=19456,t=1,p=1', 'm=19456,t=2,p=10', 'm=194560,t=2,p=1'])
    assert.equal(hasher.isOutdated(withPhc(phc.replace('m=19456,t=2,p=1', other))), true, other);
  assert.equal(hasher.isOutdated(withPhc(phc.replace('argon2id', 'argon2i'))), true);
});

test('ASVS 6.3.8: where there is no password every one is wrong', async () => {
  assert.equal(await hasher.verify(null, 'a password that nobody has', stranger), false);
});

test('so many at once, so many in line, and the rest is told to come later, at once', async () => {
  const small = new PasswordHasher(createKeyring([Buffer.alloc(32, 'a key')]), { ofOneShare: 2, inAll: 500 });
  const attempts = Array.from({ length: 10 }, (_, n) => small.verify(null, `guess number ${n}`, stranger));
  const outcomes = await Promise.allSettled(attempts);
  const busy = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.equal(busy.length, 7);
  for (const { reason } of busy) assert.ok(reason instanceof TurnedAway);
  assert.equal(await small.verify(null, 'again', stranger), false, 'and then there is room again');
});

test('work that fails gives its turn back', async () => {
  const small = new PasswordHasher(keyring, { ofOneShare: 1, inAll: 1 });
  const broken = { sealedPhc: seal(keyring, 'password', 'not a hash', NEVER), keyId: keyring.currentKeyId };
  const unknownKey = { sealedPhc: 'none', keyId: 1 };
  for (const stored of [broken, unknownKey, broken, unknownKey])
    assert.notEqual(await small.verify(stored, long, stranger).catch(() => 'failed'), true);
  assert.equal(await small.verify(await small.hash(long), long, stranger), true);
});
