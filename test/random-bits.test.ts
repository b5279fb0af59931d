/**
 * Whatever must not be guessed has its random bits. What is drawn is made known here, and each bit of it is turned over: a
 * bit counts where the text, or the bytes, are then others. A text that is long enough proves nothing.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import { newAccountId } from '../src/accounts/account.ts';
import { newSessionToken } from '../src/accounts/session.ts';
import { newGrant } from '../src/oauth/allow.ts';
import { newDeviceRequest } from '../src/oauth/device-authorization.ts';
import { newGrantId } from '../src/oauth/grant.ts';
import { createKeyring } from '../src/oauth/keyring.ts';
import { newId } from '../src/oauth/registered-id.ts';
import { seal } from '../src/oauth/sealed.ts';
import { makeSecret } from '../src/oauth/secret.ts';
import { makeRootKey } from '../src/settings/root-keys.ts';
import { allow, lifetimes } from './oauth/samples.ts';

const keyring = createKeyring([Buffer.alloc(32, 1)]);
const epochs = { installation: 0, client: 0, resourceOwner: 0 };

/** What is made of random bytes, and how many bits of them it must have. */
const MADE: readonly [what: string, bits: number, make: () => string][] = [
  ['ASVS 7.2.3: a session token', 256, newSessionToken],
  ["RFC 6749 §10.10: a client's secret", 256, () => makeSecret('vk', 'cs', 0).text],
  ["RFC 6749 §10.10: an API's secret", 256, () => makeSecret('vk', 'rs', 0).text],
  ['RFC 9700 §4.15: the id of a client', 80, () => newId('app')],
  ['the id of an account', 80, newAccountId],
  ['a root key', 256, makeRootKey],
  ['the id of a grant (beside its time)', 74, () => newGrantId(0).toString('hex')],
  ["RFC 6749 §10.10: a grant's seed", 128, () => seedOfNewGrant().toString('hex')],
  ['NIST SP 800-38D §8.3: the nonce of a sealed value', 96, () => seal(keyring, 'request', 'text', 0)],
  ['RFC 8628 §5.2: the verifier in a device code', 256, () => challengeOfNewDevice()],
];

for (const [what, bits, make] of MADE)
  test(`${what} has ${bits} random bits`, (t) => {
    assert.equal(bitsThatCount(t, make), bits);
  });

function seedOfNewGrant(): Buffer {
  const made = { id: Buffer.alloc(16), epochs, keyId: keyring.currentKeyId, expiresAt: 0 };
  return newGrant(allow, made, lifetimes, 0).seed;
}

/** The challenge of the verifier, which is beside the grant's id and the user code the only thing that is drawn. */
function challengeOfNewDevice(): string {
  return newDeviceRequest(keyring, 'vk', { clientId: 'app', scope: [], resource: null }, 0).request.codeChallenge;
}

/** How many of the random bits that are drawn change what is made of them. */
function bitsThatCount(t: TestContext, make: () => string): number {
  const real = crypto.randomBytes;
  let turned = -1;
  let drawn = 0;
  crypto.randomBytes = ((bytes: number) => {
    const known = Buffer.alloc(bytes);
    const at = turned - drawn;
    if (at >= 0 && at < bytes * 8) known[at >> 3] = 1 << (at & 7);
    drawn += bytes * 8;
    return known;
  }) as typeof real;
  syncBuiltinESMExports();
  t.after(() => {
    crypto.randomBytes = real;
    syncBuiltinESMExports();
  });
  const made = (bit: number) => {
    [turned, drawn] = [bit, 0];
    return make();
  };
  const before = made(-1);
  return Array.from({ length: drawn }, (_, bit) => made(bit) !== before).filter(Boolean).length;
}
