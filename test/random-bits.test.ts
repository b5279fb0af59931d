/**
 * Whatever must not be guessed has its random bits. What is drawn is made known here, and each bit of it, or each lot, is
 * turned over: it counts where the text, or the bytes, are then others. A text that is long enough proves nothing.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { makeInvitation } from '../src/accounts/passwords/invitation.ts';
import { newAccountId } from '../src/accounts/people/account.ts';
import { newSessionToken } from '../src/accounts/people/session.ts';
import { ExternalSignIns } from '../src/accounts/providers/external-sign-ins.ts';
import { newTicket } from '../src/accounts/providers/return-ticket.ts';
import type { CommandContext } from '../src/cli/command/context.ts';
import { newPassword } from '../src/cli/input/password-input.ts';
import { newId } from '../src/oauth/clients/registered-id.ts';
import { newDeviceRequest } from '../src/oauth/device/device-authorization.ts';
import { newGrantId } from '../src/oauth/grants/grant.ts';
import { createKeyring } from '../src/oauth/keys/keyring.ts';
import { seal } from '../src/oauth/keys/sealed.ts';
import { makeSecret } from '../src/oauth/keys/secret.ts';
import { newGrant } from '../src/oauth/protocol/allow.ts';
import { makeHandOver } from '../src/operator/hand-over/hand-over.ts';
import { makeRootKey } from '../src/settings/root-keys.ts';
import { allow, lifetimes } from './oauth/samples.ts';
import { Browser } from './support/browser.ts';
import { drawInstead } from './support/chance.ts';
import { startTestService } from './support/service.ts';
import { sampleProvider } from './support/storage.ts';

const keyring = createKeyring([Buffer.alloc(32, 1)]);
/** Standard input that is no terminal. */
const pipe = { stdin: {} } as CommandContext;
const epochs = { installation: 0, client: 0, resourceOwner: 0 };

/** What is made by chance, and how many random bits it must have. */
const MADE: readonly [what: string, bits: number, make: () => string | Promise<string>][] = [
  ['ASVS 7.2.3: a session token', 256, newSessionToken],
  ["RFC 6749 §10.10: a client's secret", 256, () => makeSecret('vk', 'cs', 0).text],
  ["RFC 6749 §10.10: an API's secret", 256, () => makeSecret('vk', 'rs', 0).text],
  ['RFC 9700 §4.15, RFC 6749 §2.2: the id of a client', 80, () => newId('app')],
  ['the id of an account', 80, newAccountId],
  ['a root key', 256, makeRootKey],
  ['the id of a grant (beside its time)', 74, () => newGrantId(0).toString('hex')],
  ["RFC 6749 §10.10: a grant's seed", 128, () => seedOfNewGrant().toString('hex')],
  ['NIST SP 800-38D §8.3: the nonce of a sealed value', 96, () => seal(keyring, 'request', 'text', 0)],
  ['RFC 8628 §5.2: the verifier in a device code', 256, () => newDevice().codeChallenge],
  ['RFC 8628 §6.1, RFC 6749 §10.10: a user code', 34, () => newDevice().userCode],
  ['ASVS 6.4.1: the token of an invitation', 256, () => makeInvitation('usr', 0).token],
  ['ASVS 6.4.1: the token of a hand-over', 256, () => makeHandOver({ kind: 'client', id: 'app' }, 'root', 0).token],
  ['ASVS 6.4.1: a password that was made', 99, async () => (await newPassword(pipe, false)).password],
  ['the ticket of a sign-in elsewhere', 256, () => newTicket(Buffer.alloc(16)).text],
  ['the secret of a browser that signs in elsewhere', 256, () => browserOfNewSignIn()],
];

for (const [what, bits, make] of MADE)
  test(`${what} has ${bits} random bits`, async (t) => {
    assert.equal(await bitsThatCount(t, make), bits);
  });

test('RFC 6749 §10.12: the value of a visitor, of whom a sign-in form is, has 256 random bits: it is all that was drawn', async (t) => {
  const service = await startTestService(t);
  const { randomBytes } = crypto;
  const drawn: string[] = [];
  drawInstead(t, (count) => {
    const bytes = randomBytes(count);
    if (count === 32) drawn.push(bytes.toString('base64url'));
    return bytes;
  });
  const browser = new Browser();
  await browser.get(`${service.appUrl}/sign-in`);
  assert.ok(drawn.includes(browser.cookies.get('valetkey_visitor') ?? ''));
});

test('NIST SP 800-38D §8.3: no key seals for longer than a day, so that with random nonces none seals too much', (t) => {
  const day = 24 * 3600 * 1000;
  drawInstead(t, (bytes) => Buffer.alloc(bytes));
  // With the same nonce and text they are alike where the key is.
  const sealedUntil = (expiresAt: number) =>
    Buffer.from(seal(keyring, 'request', 'text', expiresAt), 'base64url').subarray(11 + 12, -16);
  assert.deepEqual(sealedUntil(day), sealedUntil(2 * day - 1));
  assert.notDeepEqual(sealedUntil(day), sealedUntil(2 * day));
});

function seedOfNewGrant(): Buffer {
  const made = { id: Buffer.alloc(16), epochs, keyId: keyring.currentKeyId, expiresAt: 0 };
  return newGrant(allow, made, lifetimes, 0).seed;
}

/** The verifier itself is sealed; its challenge is as random. */
function newDevice() {
  return newDeviceRequest(keyring, 'vk', { clientId: 'app', scope: [], resource: null, resourceIsDefault: false }, 0)
    .request;
}

function browserOfNewSignIn(): string {
  const parts = { keyring, now: () => 0 } as unknown as ConstructorParameters<typeof ExternalSignIns>[0];
  const asked = { continueTo: '/device', demandsLogin: false, maxAge: null };
  return new ExternalSignIns(parts).begin(sampleProvider(), asked)?.browser ?? '';
}

/** How many of the random bits that are drawn change what is made of them, whole ones: of a lot, those of its different outcomes. */
async function bitsThatCount(t: TestContext, make: () => string | Promise<string>): Promise<number> {
  let turned = { at: -1, to: 0 };
  /** Of how many values each was drawn. */
  let drawn: number[] = [];
  const lot = (lots: number) => (drawn.push(lots) - 1 === turned.at ? turned.to : 0);
  const bit = () => lot(2);
  const byte = () => Array.from({ length: 8 }, bit).reduce((bits, next) => 2 * bits + next, 0);
  drawInstead(t, (bytes) => Buffer.from(Array.from({ length: bytes }, byte)), lot);
  const made = (at: number, to: number) => {
    turned = { at, to };
    drawn = [];
    return make();
  };
  await made(-1, 0);
  let bits = 0;
  for (const [at, lots] of drawn.entries()) {
    const outcomes = new Set<string>();
    for (let to = 0; to < lots; to += 1) outcomes.add(await made(at, to));
    bits += Math.log2(outcomes.size);
  }
  return Math.floor(bits);
}
