import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type CredentialHeader,
  type CredentialKind,
  deriveCredential,
  isGenuine,
  readCredential,
  withChecksum,
} from '../../src/oauth/keys/credential.ts';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { keyring, NOW, otherKeyring, PREFIX, rotatedKeyring } from './samples.ts';

const kinds: CredentialKind[] = ['ac', 'at', 'rt'];
const seed = Buffer.alloc(16, 'seed');
const header: CredentialHeader = {
  keyId: keyring.currentKeyId,
  grantId: Buffer.alloc(16, 'grant'),
  generation: 7,
  expiresAt: NOW,
};
const token = deriveCredential(keyring, PREFIX, 'at', header, seed);
const BODY_START = `${PREFIX}_at_`.length;
const CHECKSUM_START = token.length - 6;

const someHeader = fc.record(
  {
    keyId: fc.constant(keyring.currentKeyId),
    grantId: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes)),
    generation: fc.integer({ min: 0, max: 0xffffffff }),
    expiresAt: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  },
  { noNullPrototype: true },
);
const someSeed = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes));
const someKind = fc.constantFrom(...kinds);

/** The text with its checksum made anew, as an attacker can. */
function rechecksummed(text: string): string {
  return withChecksum(text.slice(0, -6));
}

test('design: what was derived is read back whole, and is genuine', () => {
  fc.assert(
    fc.property(someKind, someHeader, someSeed, (kind, expected, itsSeed) => {
      const text = deriveCredential(keyring, PREFIX, kind, expected, itsSeed);
      const credential = readCredential(PREFIX, kind, text);
      assert.ok(credential);
      const { keyId, grantId, generation, expiresAt } = credential;
      assert.deepEqual({ keyId, grantId, generation, expiresAt }, expected);
      assert.equal(credential.kind, kind);
      assert.ok(isGenuine(keyring, credential, itsSeed));
    }),
  );
});

test('RFC 6749 appendix A: a credential is printable, URL-safe and always equally long', () => {
  fc.assert(
    fc.property(someKind, someHeader, someSeed, (kind, any, itsSeed) => {
      assert.match(deriveCredential(keyring, PREFIX, kind, any, itsSeed), /^vk_(ac|at|rt)_[A-Za-z0-9_-]{74}$/);
    }),
  );
});

test('design: the format is fixed, so that an upgrade ends no credential', () => {
  assert.equal(token, 'vk_at_AR8RThZncmFudGdyYW50Z3JhbnRnAAAABwGbfKmPLqcmf8i7oZIRQ43RS4WwDJwDAh1oeoZghA');
});

test('RFC 6749 §10.10: the MAC of a credential has 160 bits', () => {
  assert.equal(readCredential(PREFIX, 'at', token)?.unproven?.length, 31 + 20);
});

test('every change of a single character is refused', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n\0é';
  for (let at = 0; at < token.length; at += 1) {
    for (const character of alphabet) {
      if (character === token[at]) continue;
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      assert.equal(readCredential(PREFIX, 'at', changed), null, changed);
    }
  }
});

test('every truncation, swap, repetition and insertion of a character is refused', () => {
  for (let at = 0; at < token.length; at += 1) {
    const without = token.slice(0, at) + token.slice(at + 1);
    const inserted = token.slice(0, at) + token[at] + token.slice(at);
    for (const changed of [token.slice(0, at), token.slice(at + 1), without, inserted])
      assert.equal(readCredential(PREFIX, 'at', changed), null, changed);
    const swapped = token.slice(0, at) + (token[at + 1] ?? '') + token[at] + token.slice(at + 2);
    if (swapped !== token) assert.equal(readCredential(PREFIX, 'at', swapped), null, swapped);
  }
});

const variants: [string, string][] = [
  ['a space after it', `${token} `],
  ['a space before it', ` ${token}`],
  ['a line feed after it', `${token}\n`],
  ['a carriage return after it', `${token}\r`],
  ['a NUL after it', `${token}\0`],
  ['padding after it', `${token}=`],
  ['a character after it', `${token}A`],
  ['itself twice', token + token],
  ['nothing', ''],
  ['the prefix alone', 'vk_at_'],
  ['a checksum alone', withChecksum('vk_at_')],
  ['all lower case', token.toLowerCase()],
  ['all upper case', token.toUpperCase()],
  ['an upper-case prefix', `VK${token.slice(2)}`],
  ['an upper-case kind', `vk_AT_${token.slice(6)}`],
  ['full-width digits', token.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0))],
  ['an unpaired surrogate', `${token.slice(0, 20)}\ud800${token.slice(21)}`],
  ['percent-encoding', encodeURIComponent(`${token}\n`)],
  ['very long', 'vk_at_'.repeat(100_000)],
];

for (const [name, text] of variants) {
  test(`refused, with or without a checksum made anew: ${name}`, () => {
    for (const kind of kinds) {
      assert.equal(readCredential(PREFIX, kind, text), null);
      assert.equal(readCredential(PREFIX, kind, rechecksummed(text)), null);
    }
  });
}

test('one credential has one text: no other alphabet is read, even under a checksum made anew', () => {
  fc.assert(
    fc.property(
      someHeader,
      someSeed,
      fc.nat(67),
      fc.constantFrom('+', '/', '=', ' ', '\n', '.', 'é'),
      (any, s, at, c) => {
        const text = deriveCredential(keyring, PREFIX, 'at', any, s);
        const foreign = text.slice(0, BODY_START + at) + c + text.slice(BODY_START + at + 1);
        assert.equal(readCredential(PREFIX, 'at', rechecksummed(foreign)), null, foreign);
      },
    ),
  );
  const withBoth = deriveCredential(keyring, PREFIX, 'at', { ...header, grantId: Buffer.alloc(16, 0xfb) }, seed);
  const body = withBoth.slice(BODY_START);
  assert.match(body, /[-_]/);
  const standard = withBoth.slice(0, BODY_START) + body.replaceAll('-', '+').replaceAll('_', '/');
  assert.equal(readCredential(PREFIX, 'at', rechecksummed(standard)), null);
});

test('RFC 6750 §5.2, design: a forged header never passes: every bit of header and MAC counts, whatever the checksum says', () => {
  const bytes = Buffer.from(token.slice(BODY_START, CHECKSUM_START), 'base64url');
  let read = 0;
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const forged = Buffer.from(bytes);
    forged[bit >> 3] = (forged[bit >> 3] as number) ^ (1 << (bit & 7));
    const credential = readCredential(PREFIX, 'at', withChecksum(`vk_at_${forged.toString('base64url')}`));
    if (!credential) continue;
    read += 1;
    assert.equal(isGenuine(keyring, credential, seed), false, `bit ${bit}`);
  }
  assert.equal(read, bytes.length * 8 - 8, 'all are read but those of another version');
});

test('design: a MAC of zeros, of ones, or of another credential never passes', () => {
  const bytes = Buffer.from(token.slice(BODY_START, CHECKSUM_START), 'base64url');
  const other = readCredential(
    PREFIX,
    'at',
    deriveCredential(keyring, PREFIX, 'at', { ...header, generation: 8 }, seed),
  );
  for (const mac of [Buffer.alloc(20), Buffer.alloc(20, 0xff), other?.unproven?.subarray(31) ?? assert.fail()]) {
    const forged = Buffer.concat([bytes.subarray(0, 31), mac]);
    const credential = readCredential(PREFIX, 'at', withChecksum(`vk_at_${forged.toString('base64url')}`));
    assert.ok(credential);
    assert.equal(isGenuine(keyring, credential, seed), false);
  }
});

test('design: a credential of another version is refused', () => {
  const bytes = Buffer.from(token.slice(BODY_START, CHECKSUM_START), 'base64url');
  for (const version of [0, 2, 255]) {
    bytes[0] = version;
    assert.equal(readCredential(PREFIX, 'at', withChecksum(`vk_at_${bytes.toString('base64url')}`)), null);
  }
});

for (const kind of kinds) {
  for (const other of kinds.filter((name) => name !== kind)) {
    test(`an ${kind} never passes for an ${other}`, () => {
      const text = deriveCredential(keyring, PREFIX, kind, header, seed);
      assert.equal(readCredential(PREFIX, other, text), null);
      const renamed = rechecksummed(text.replace(`_${kind}_`, `_${other}_`));
      const credential = readCredential(PREFIX, other, renamed);
      assert.ok(credential, 'the text is well-formed, and only the MAC tells');
      assert.equal(isGenuine(keyring, credential, seed), false);
    });
  }
}

test('design: a credential of another installation is refused by its prefix', () => {
  for (const prefix of ['vx', 'v', 'vkk', '', 'VK', 'vk_at'])
    assert.equal(readCredential(prefix, 'at', token), null, prefix);
});

test('RFC 6749 §10.3, design: a stolen database alone opens nothing: another root key derives nothing that passes', () => {
  const other = { ...header, keyId: otherKeyring.currentKeyId };
  const credential = readCredential(PREFIX, 'at', deriveCredential(otherKeyring, PREFIX, 'at', other, seed));
  assert.ok(credential);
  assert.equal(isGenuine(keyring, credential, seed), false);
});

test('design: a stolen key alone opens nothing: another seed derives nothing that passes', () => {
  const credential = readCredential(PREFIX, 'at', token);
  assert.ok(credential);
  fc.assert(
    fc.property(someSeed, (guess) => {
      assert.equal(isGenuine(keyring, credential, guess), guess.equals(seed));
    }),
  );
});

test('after a key rotation old credentials are read with their own key, until it is retired', () => {
  const credential = readCredential(PREFIX, 'at', token);
  assert.ok(credential);
  assert.equal(isGenuine(rotatedKeyring, credential, seed), true);
  assert.equal(isGenuine(createKeyring([Buffer.alloc(32, 'a new key')]), credential, seed), false);
  assert.equal(deriveCredential(rotatedKeyring, PREFIX, 'at', header, seed), token, 'and a retry derives the same');
});

test('a credential is never made with a key that is not in the ring', () => {
  assert.throws(() => deriveCredential(otherKeyring, PREFIX, 'at', header, seed), /not in the keyring/);
});

test('credentials of different grants, generations, expiries and seeds share nothing but prefix and header', () => {
  const texts = new Set<string>();
  for (let n = 0; n < 2000; n += 1) {
    const id = Buffer.alloc(16);
    id.writeUInt32BE(n, 12);
    texts.add(deriveCredential(keyring, PREFIX, 'rt', { ...header, grantId: id }, seed));
    texts.add(deriveCredential(keyring, PREFIX, 'rt', { ...header, generation: n + 8 }, seed));
    texts.add(deriveCredential(keyring, PREFIX, 'rt', { ...header, expiresAt: NOW + n + 1 }, seed));
    texts.add(deriveCredential(keyring, PREFIX, 'rt', header, Buffer.from(id)));
  }
  assert.equal(texts.size, 8000);
});
