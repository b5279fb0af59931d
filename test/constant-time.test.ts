/**
 * Whatever proves somebody is compared in the same time for all: the verdict is that of Node.js, and of nothing beside it.
 * How long a comparison takes says nothing on a busy machine, so it is replaced here by one that says what the test wants.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import { GuessBudget } from '../src/accounts/guessing/guess-budget.ts';
import { Throttle } from '../src/accounts/guessing/throttle.ts';
import { readForeignHash } from '../src/accounts/passwords/foreign-hash.ts';
import { findInvitation, makeInvitation } from '../src/accounts/passwords/invitation.ts';
import { PasswordHasher } from '../src/accounts/passwords/password-hash.ts';
import { completeReturn } from '../src/accounts/providers/external-return.ts';
import { newTicket } from '../src/accounts/providers/return-ticket.ts';
import { browserDigest } from '../src/accounts/providers/sign-in-request.ts';
import { checkFormToken, makeFormToken } from '../src/accounts/sign-in/form-token.ts';
import { KNOWN_BROWSER_LIFETIME, KnownBrowsers } from '../src/accounts/sign-in/known-browser.ts';
import { makeThrottles } from '../src/accounts/sign-in/rate-limits.ts';
import { isGenuine } from '../src/oauth/keys/credential.ts';
import { doctorPass, isDoctorPass } from '../src/oauth/keys/doctor-pass.ts';
import { createKeyring } from '../src/oauth/keys/keyring.ts';
import { makeSecret, type SecretKind, secretOf } from '../src/oauth/keys/secret.ts';
import { verifiesChallenge } from '../src/oauth/tokens/pkce.ts';
import { foundInstallation, requireFittingKeys } from '../src/storage/opening/installation.ts';
import { migrate } from '../src/storage/schema/migrate.ts';
import type { PlainDatabase } from '../src/storage/schema/plain-database.ts';
import { plainDatabase } from '../src/storage/sqlite/plain-database.ts';
import { issuedGrant, keyring, NOW, otherKeyring, PREFIX, presented } from './oauth/samples.ts';
import {
  addAdaAndOne,
  beginning,
  event,
  openAsService,
  registerProduct,
  sampleExternalSignIn,
} from './support/storage.ts';

const VERIFIER = 'a'.repeat(43);
const form = { session: 'session', purpose: 'consent', subject: '' };
const formToken = makeFormToken(keyring, form, NOW);
const ada = { id: 'usr_ada', passwordSetAt: NOW - 1 };
const { invitation, token } = makeInvitation(ada.id, NOW);
const browsers = new KnownBrowsers(keyring, {
  knownBrowsers: new Throttle({ count: 1000, seconds: 600 }),
  knownBrowserFailures: new Throttle({ count: 1000, seconds: 10 * KNOWN_BROWSER_LIFETIME }),
});
const mark = browsers.renew(null, ada, NOW);
const database = await foundedDatabase();
const { store, proof } = await storeWithInvitation();
const origin = { source: '192.0.2.1', requestId: 'r' };

/** What is presented, and whether it is taken: what is right, and what is wrong in this alone. */
const COMPARISONS: readonly [what: string, check: (isRight: boolean) => boolean | Promise<boolean>][] = [
  ['RFC 6749 §10.10: a credential', (isRight) => isGenuine(keyring, presented('ac', issuedGrant), seed(isRight))],
  ['RFC 7636 §4.6: a verifier', (isRight) => verifiesChallenge(VERIFIER, challengeOf(isRight ? VERIFIER : 'another'))],
  ["RFC 6749 §2.3.1: a client's secret", (isRight) => knowsSecret('cs', isRight)],
  ["RFC 6749 §2.3.1: an API's secret", (isRight) => knowsSecret('rs', isRight)],
  [
    'RFC 6749 §10.12: a form token',
    (isRight) => checkFormToken(keyring, { ...form, subject: isRight ? '' : 'other' }, formToken, NOW) === 'good',
  ],
  [
    'design: the mark of a known browser',
    (isRight) => browsers.admit(mark, isRight ? ada : { ...ada, id: 'usr_bob' }, NOW) !== null,
  ],
  ['design: what another program made of a password', (isRight) => verifiesForeign(isRight)],
  ['ASVS 6.4.1: the token of an invitation', (isRight) => isInvited(isRight)],
  ['design: the ticket of a sign-in elsewhere', (isRight) => completes({ ticket: isRight })],
  ['design: the browser that began a sign-in elsewhere', (isRight) => completes({ browser: isRight })],
  ['design: the pass of the doctor', (isRight) => isDoctorPass(keyring, passOf(isRight), NOW)],
  ['ASVS 13.3.1: the canary of a root key', (isRight) => fits(isRight)],
];

for (const [what, check] of COMPARISONS)
  test(`${what} is compared in the same time for all`, async (t) => {
    assert.deepEqual([await check(true), await check(false)], [true, false]);
    let verdict = true;
    compareBy(t, () => verdict);
    assert.equal(await check(false), true, 'what is wrong is taken where the comparison says so');
    verdict = false;
    assert.equal(await check(true), false, 'and what is right is not');
  });

test('RFC 6749 §2.3.1: each secret of a client is compared, and one where there is none', (t) => {
  let compared = 0;
  const real = crypto.timingSafeEqual;
  compareBy(t, (one, other) => {
    compared += 1;
    return real(one, other);
  });
  const made = [0, 1, 2].map(() => makeSecret(PREFIX, 'cs', NOW));
  for (const [secrets, comparisons] of [
    [[], 1],
    [made.slice(0, 1), 1],
    [made, 3],
  ] as const) {
    compared = 0;
    const stored = secrets.map(({ secret }) => secret);
    assert.equal(secretOf(stored, made[0]?.text ?? '') !== null, secrets.length > 0);
    assert.equal(compared, comparisons);
  }
});

function compareBy(t: TestContext, compare: typeof crypto.timingSafeEqual): void {
  const real = crypto.timingSafeEqual;
  const set = (equal: typeof real) => {
    crypto.timingSafeEqual = equal;
    syncBuiltinESMExports();
  };
  set(compare);
  t.after(() => set(real));
}

function seed(isRight: boolean): Buffer {
  return isRight ? issuedGrant.seed : Buffer.alloc(issuedGrant.seed.length);
}

function challengeOf(verifier: string): string {
  return crypto.hash('sha256', verifier, 'base64url');
}

function knowsSecret(kind: SecretKind, isRight: boolean): boolean {
  const { text, secret } = makeSecret(PREFIX, kind, NOW);
  return secretOf([secret], isRight ? text : `${text}x`) !== null;
}

/** A database that the sample key founded. */
async function foundedDatabase(): Promise<PlainDatabase> {
  const made = plainDatabase(new DatabaseSync(':memory:'));
  await migrate(made, NOW);
  await foundInstallation(made, keyring, beginning.settings, NOW);
  return made;
}

/** Whether keys fit a database: those that founded it, or, with the same number by chance, others. */
async function fits(isRight: boolean): Promise<boolean> {
  const others = createKeyring([Buffer.alloc(32, 'others')]);
  const id = keyring.currentKeyId;
  const alike = {
    ...others,
    currentKeyId: id,
    keyIds: [id],
    key: (_: number, purpose: Purpose) => others.key(others.currentKeyId, purpose),
  };
  try {
    await requireFittingKeys(database, isRight ? keyring : (alike as typeof keyring));
    return true;
  } catch {
    return false;
  }
}
type Purpose = Parameters<typeof keyring.key>[1];

/** A database with a provider, and with Ada, who is invited. */
async function storeWithInvitation() {
  const opened = await openAsService(':memory:');
  after(() => opened.close());
  await addAdaAndOne(opened);
  await opened.store.invite(ada.id, 'ada@example.com', invitation, event('user_invited'));
  return { store: opened.store, proof: await registerProduct(opened.store) };
}

async function isInvited(isRight: boolean): Promise<boolean> {
  const budget = new GuessBudget(makeThrottles(null));
  const parts = { store, hasher: new PasswordHasher(keyring), budget, now: () => NOW, guessable: [] };
  const shown = isRight ? token : makeInvitation(ada.id, NOW).token;
  return (await findInvitation(parts, shown, origin.source)).kind === 'good';
}

/** Whether a browser is let go on that comes back from a provider where somebody refused. */
async function completes(isRight: { readonly ticket?: boolean; readonly browser?: boolean }): Promise<boolean> {
  const stated = sampleExternalSignIn({ identityId: null, browser: browserDigest('the one') });
  const [given, other] = [newTicket(stated.nonce), newTicket(stated.nonce)];
  await store.stateExternalSignIn({ ...stated, ticket: given.digest }, proof);
  const returned = {
    ticket: (isRight.ticket === false ? other : given).text,
    browsers: [isRight.browser === false ? 'another' : 'the one'],
    sessionToken: null,
  };
  const parts = { store, methods: ['product'], now: () => NOW };
  return (await completeReturn(parts, returned, origin)).kind === 'denied';
}

function passOf(isRight: boolean): string {
  return doctorPass(isRight ? keyring : otherKeyring, NOW).replace(/^\d+/, String(keyring.currentKeyId));
}

/** Of an argon2id that is good without being wrapped. */
function verifiesForeign(isRight: boolean): Promise<boolean> {
  const hash = readForeignHash(
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  );
  assert.ok('madeBy' in hash);
  const hasher = new PasswordHasher(keyring);
  return hasher.verify(hasher.seal(hash), isRight ? 'password' : 'another', { lane: 'known', share: 'usr_ada' });
}
