import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, hash } from 'node:crypto';
import { test } from 'node:test';
import type { Client, PublicKey } from '../../src/oauth/clients/client.ts';
import {
  claimedClientId,
  type UsedAssertion,
  verifyClientAssertion,
} from '../../src/oauth/clients/client-assertion.ts';
import { type ASSERTION_ALGORITHMS, publicKeyProblem } from '../../src/oauth/clients/public-key.ts';
import { Refusal, Unavailable } from '../../src/oauth/error.ts';
import {
  assertion,
  claims,
  ecKeys,
  edKeys,
  forged,
  hmacSigned,
  type KeyPair,
  keyed,
  keys,
  rsaKeys,
  type Said,
  SECONDS,
} from './assertions.ts';
import { ISSUER } from './requests.ts';
import { assertRefusal, NOW } from './samples.ts';

const AUDIENCES = [ISSUER, `${ISSUER}/oauth2/token`];
const other = ecKeys();

function verify(
  text: string,
  by: Client = keyed,
  now = NOW,
  restoredAt: number | null = null,
): Promise<UsedAssertion | Refusal> {
  return verifyClientAssertion(by, text, AUDIENCES, now, restoredAt);
}

async function assertGood(text: string, by: Client = keyed, now = NOW): Promise<UsedAssertion> {
  const outcome = await verify(text, by, now);
  assert.ok(!(outcome instanceof Refusal), outcome instanceof Refusal ? outcome.detail : '');
  return outcome;
}

async function assertRefused(text: string, detail: RegExp, by: Client = keyed, now = NOW): Promise<void> {
  assertRefusal(await verify(text, by, now), 'invalid_client', detail);
}

test('RFC 7523 §3: a good assertion leaves a mark: a digest of client and jti, kept as long as it may be good', async () => {
  const used = await assertGood(await assertion({ claims: { jti: 'one' } }));
  assert.deepEqual(used, {
    key: keyed.keys[0],
    clientId: keyed.id,
    digest: hash('sha256', JSON.stringify([keyed.id, 'one']), 'buffer'),
    expiresAt: (SECONDS + 60 + 30) * 1000,
  });
  assert.deepEqual((await assertGood(await assertion({ claims: { jti: 'one' } }))).digest, used.digest);
  assert.notDeepEqual((await assertGood(await assertion({ claims: { jti: 'two' } }))).digest, used.digest);
  const twin = { ...keyed, id: 'app_twin' };
  const twins = await assertion({ claims: { jti: 'one', iss: twin.id, sub: twin.id } });
  assert.notDeepEqual((await assertGood(twins, twin)).digest, used.digest, 'a jti is unique to its client');
});

const ed = edKeys();
const rsa = rsaKeys();
const signers: Record<(typeof ASSERTION_ALGORITHMS)[number], KeyPair> = {
  ES256: keys,
  ES384: ecKeys('P-384'),
  ES512: ecKeys('P-521'),
  PS256: rsa,
  PS384: rsa,
  PS512: rsa,
  RS256: rsa,
  Ed25519: ed,
  EdDSA: ed,
};
for (const [alg, by] of Object.entries(signers)) {
  test(`RFC 7518 §3.1, RFC 9864 §2.2: ${alg} is verified, also where the key is registered for it`, async () => {
    const text = await assertion({ header: { alg }, by });
    for (const jwk of [by.jwk, { ...by.jwk, alg }, { ...by.jwk, kid: 'k', use: 'sig' }])
      await assertGood(text, { ...keyed, keys: [jwk] });
    const wrong = alg.startsWith('ES') ? 'RS256' : 'ES256';
    await assertRefused(text, /refused/, { ...keyed, keys: [{ ...by.jwk, alg: wrong }] });
    await assertRefused(text, /signature/, { ...keyed, keys: [{ ...asPublic(by, alg), alg }] });
  });
}

/** Another key of the same kind. */
function asPublic(by: KeyPair, alg: string): PublicKey {
  if (by.jwk.kty === 'EC') return ecKeys(by.jwk.crv).jwk;
  return alg.startsWith('Ed') ? edKeys().jwk : rsaKeys().jwk;
}

test('RFC 9864 §2.2: a key for EdDSA is one for Ed25519, and the other way round', async () => {
  for (const alg of ['EdDSA', 'Ed25519'])
    for (const registered of ['EdDSA', 'Ed25519', undefined]) {
      const jwk = registered === undefined ? ed.jwk : { ...ed.jwk, alg: registered };
      await assertGood(await assertion({ header: { alg }, by: ed }), { ...keyed, keys: [jwk] });
    }
});

test('RFC 7518 §3.1: a key that is registered for one algorithm does for no other', async () => {
  const text = await assertion({ header: { alg: 'RS256' }, by: rsa });
  await assertRefused(text, /alg/, { ...keyed, keys: [{ ...rsa.jwk, alg: 'PS256' }] });
});

for (const alg of ['RS384', 'RS512']) {
  test(`design: ${alg} is not among the algorithms`, async () => {
    await assertRefused(await assertion({ header: { alg }, by: rsa }), /alg/, { ...keyed, keys: [rsa.jwk] });
  });
}

const pem = createPublicKey({ key: rsa.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
const secrets: [string, string | Buffer][] = [
  ['as PEM', pem],
  ['as PEM without the last line feed', String(pem).trim()],
  ['as JWK', JSON.stringify(rsa.jwk)],
  ['as DER', createPublicKey({ key: rsa.jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' })],
  ['as its modulus', Buffer.from(rsa.jwk.n ?? '', 'base64url')],
  ['as nothing', ''],
];
for (const [name, secret] of secrets) {
  test(`RFC 8725 §3.1: a public key ${name} is no secret to sign with`, async () => {
    for (const jwk of [rsa.jwk, { ...rsa.jwk, alg: 'HS256' }])
      await assertRefused(hmacSigned(secret), /refused/, { ...keyed, keys: [jwk] });
  });
}

for (const alg of ['none', 'None', 'NONE', 'nOnE', '', undefined, null, ['ES256'], { ES256: true }]) {
  test(`RFC 8725 §3.2, RFC 8414 §2: alg ${JSON.stringify(alg)} is refused, with and without a signature`, async () => {
    const signature = (await assertion()).split('.')[2];
    for (const end of ['', signature]) await assertRefused(forged({ alg }, claims(), end), /refused/);
  });
}

const wrongClaims: [string, Said['claims'], RegExp][] = [
  ['RFC 7523 §3 (1): another issuer', { iss: 'app_other' }, /"iss"/],
  ['RFC 7523 §3 (1): no issuer', { iss: undefined }, /"iss"/],
  ['RFC 7523 §3 (1): this service as issuer', { iss: ISSUER }, /"iss"/],
  ['RFC 7523 §3 (1): an issuer in an array', { iss: [keyed.id] }, /"iss"/],
  ['RFC 7523 §3 (2): another subject', { sub: 'app_other' }, /"sub"/],
  ['RFC 7523 §3 (2): no subject', { sub: undefined }, /"sub"/],
  ['RFC 7523 §3 (2): a subject in an array', { sub: [keyed.id] }, /"sub"/],
  ['RFC 7523 §3 (3): another audience', { aud: 'https://evil.test' }, /"aud"/],
  ['RFC 7523 §3 (3): no audience', { aud: undefined }, /"aud"/],
  ['RFC 7523 §3 (3): an audience with a slash after it', { aud: `${ISSUER}/` }, /"aud"/],
  ['RFC 7523 §3 (3): an audience of another case', { aud: ISSUER.toUpperCase() }, /"aud"/],
  ['RFC 7523 §3 (3): the client as audience', { aud: keyed.id }, /"aud"/],
  ['RFC 7523 §3 (3): no audience of several', { aud: ['https://a.test', 'https://b.test'] }, /"aud"/],
  ['RFC 7523 §3 (3): an empty list of audiences', { aud: [] }, /"aud"/],
  ['RFC 7523 §3 (3): one more audience', { aud: [ISSUER, 'https://evil.test'] }, /for others as well/],
  ['RFC 7523 §3 (3): one more audience before', { aud: ['https://evil.test', ISSUER] }, /for others as well/],
  ['RFC 7523 §3 (4): no expiry', { exp: undefined }, /"exp"/],
  ['RFC 7523 §3 (4): an expiry that is text', { exp: String(SECONDS + 60) }, /"exp"/],
  ['RFC 7523 §3 (4): expired', { exp: SECONDS - 31 }, /"exp"/],
  ['RFC 7523 §3 (4): an expiry in milliseconds', { exp: NOW + 60_000 }, /lives longer/],
  ['RFC 7523 §3 (4): eleven minutes', { exp: SECONDS + 660 }, /lives longer/],
  ['RFC 7523 §3 (4): an expiry that no clock shows', { exp: 1e308 }, /lives longer/],
  ['RFC 7523 §3 (5): not good yet', { nbf: SECONDS + 32 }, /"nbf"/],
  ['RFC 7523 §3 (5): a not-before that is text', { nbf: 'now' }, /"nbf"/],
  ['RFC 7523 §3 (6): issued in half a minute and more', { iat: SECONDS + 32 }, /issued in the future/],
  ['RFC 7523 §3 (6): a time of issue in milliseconds', { iat: NOW }, /issued in the future/],
  ['RFC 7523 §3 (6): a time of issue that is text', { iat: String(SECONDS) }, /"iat"/],
  ['RFC 7523 §3 (7): no jti', { jti: undefined }, /"jti"|no jti/],
  ['RFC 7523 §3 (7): an empty jti', { jti: '' }, /no jti/],
  ['RFC 7523 §3 (7): a jti that is a number', { jti: 7 }, /no jti/],
];
for (const [name, some, detail] of wrongClaims) {
  test(`${name} is refused`, async () => {
    await assertRefused(await assertion({ claims: some ?? {} }), detail);
  });
}

const goodClaims: [string, Said['claims']][] = [
  ['the issuer as audience, in an array', { aud: [ISSUER] }],
  ['the token endpoint as audience', { aud: `${ISSUER}/oauth2/token` }],
  ['two names of this service as audience', { aud: AUDIENCES }],
  ['an expiry just past, by a clock that differs', { exp: SECONDS - 29 }],
  ['ten minutes', { exp: SECONDS + 600 }],
  ['a not-before just ahead, by a clock that differs', { nbf: SECONDS + 29 }],
  ['no time of issue', { iat: undefined }],
  ['a time of issue long ago', { iat: SECONDS - 1e6 }],
  ['a time of issue just ahead, by a clock that differs', { iat: SECONDS + 29 }],
  ['claims that nobody knows', { extra: { deep: [1] } }],
];
for (const [name, some] of goodClaims) {
  test(`RFC 7523 §3: taken: ${name}`, async () => {
    await assertGood(await assertion({ claims: some ?? {} }));
  });
}

const goodTypes = ['JWT', 'jwt', 'client-authentication+jwt', 'Client-Authentication+JWT'];
for (const typ of [...goodTypes, ...goodTypes.map((type) => `application/${type}`), 'Application/JWT', undefined]) {
  test(`RFC 7515 §4.1.9: taken: typ ${typ}`, async () => {
    await assertGood(await assertion({ header: { typ } }));
  });
}

for (const typ of [
  'at+jwt',
  'dpop+jwt',
  'logout+jwt',
  'text/jwt',
  'application/application/jwt',
  'JWT ',
  '',
  7,
  null,
]) {
  test(`RFC 8725 §3.11: a JWT of another kind, with typ ${JSON.stringify(typ)}, is refused`, async () => {
    await assertRefused(await assertion({ header: { typ } }), /another kind/);
  });
}

test('OAuth 2.1 §2.4: an assertion is for the issuer alone, where the operator demands that of its client', async () => {
  const strict: Client = { ...keyed, assertionAudience: 'issuer' };
  for (const aud of [ISSUER, [ISSUER]]) await assertGood(await assertion({ claims: { aud } }), strict);
  for (const aud of AUDIENCES.slice(1)) await assertRefused(await assertion({ claims: { aud } }), /"aud"/, strict);
  for (const aud of [AUDIENCES, AUDIENCES.toReversed()])
    await assertRefused(await assertion({ claims: { aud } }), /for others as well/, strict);
});

test('RFC 7523 §3 (4): at every moment an assertion is refused or its mark outlives it', async () => {
  const text = await assertion({ claims: { exp: SECONDS + 60 } });
  for (const seconds of [0, 59, 60, 61, 89, 90, 91, 1000]) {
    const now = NOW + seconds * 1000;
    const outcome = await verify(text, keyed, now);
    assert.equal(outcome instanceof Refusal, seconds >= 90, `${seconds} s later`);
    if (!(outcome instanceof Refusal)) assert.ok(outcome.expiresAt > now);
  }
});

test('RFC 7519 §2: an expiry may have a fraction of a second, and its mark is a whole number of ms', async () => {
  for (const exp of [SECONDS + 60.5, SECONDS + 60.123456, SECONDS + 0.1]) {
    const { expiresAt } = await assertGood(await assertion({ claims: { exp } }));
    assert.ok(Number.isInteger(expiresAt) && expiresAt >= (exp + 30) * 1000, `${exp}`);
  }
});

test('RFC 7515 §4.1.4, RFC 7523 §3: the key that kid names is tried and no other, and without a kid any of them', async () => {
  const [a, b] = [ecKeys('P-256', { kid: 'a' }), ecKeys('P-256', { kid: 'b' })];
  const both = { ...keyed, keys: [a.jwk, b.jwk] };
  for (const [by, kid] of [
    [a, 'a'],
    [b, 'b'],
  ] as const)
    await assertGood(await assertion({ by, header: { kid } }), both);
  for (const by of [a, b]) await assertGood(await assertion({ by }), both);
  await assertRefused(await assertion({ by: a, header: { kid: 'b' } }), /signature/, both);
  await assertRefused(await assertion({ by: a, header: { kid: 'c' } }), /no public key with its kid/, both);
  await assertRefused(await assertion({ header: { kid: 'whatever' } }), /no public key with its kid/);
  const anonymous = { ...keyed, keys: [a.jwk, keys.jwk] };
  await assertRefused(await assertion({ header: { kid: 'a2' } }), /no public key with its kid/, anonymous);
  await assertGood(await assertion(), anonymous);
});

test('RFC 7515 §4.1.4: a key of the right kid is not tried with an algorithm that it is not for', async () => {
  const pinned = { ...keyed, keys: [{ ...rsa.jwk, kid: 'a', alg: 'PS256' }] };
  const text = await assertion({ by: rsa, header: { kid: 'a', alg: 'RS256' } });
  await assertRefused(text, /no public key with its kid, and for its alg/, pinned);
});

test('RFC 7515 §5.2, RFC 7523 §3: a signature of another key is refused, and so is one over something else', async () => {
  await assertRefused(await assertion({ by: other }), /signature/);
  const [head, , signature] = (await assertion()).split('.');
  const changed = Buffer.from(JSON.stringify(claims())).toString('base64url');
  await assertRefused(`${head}.${changed}.${signature}`, /signature/);
  const jwk = { alg: 'ES256', jwk: other.jwk };
  await assertRefused(await assertion({ by: other, header: jwk }), /signature/);
});

const headers: [string, Said['header']][] = [
  ['an extension that must be understood', { crit: ['x'], x: 1 }],
  ['an unencoded payload', { b64: false, crit: ['b64'] }],
];
for (const [name, header] of headers) {
  test(`RFC 7515 §4.1.11: ${name} is refused`, async () => {
    const text = forged({ alg: 'ES256', ...header }, claims(), (await assertion()).split('.')[2]);
    await assertRefused(text, /refused/);
  });
}

const [whole] = [await assertion()];
const malformed: [string, string][] = [
  ['nothing', ''],
  ['one part', 'x'],
  ['two parts', whole.slice(0, whole.lastIndexOf('.'))],
  ['four parts', `${whole}.x`],
  ['five parts, as an encrypted one has', `${whole}.x.y`],
  ['spaces around it', ` ${whole} `],
  ['no JSON', forged('{', claims())],
  ['claims that are no JSON', forged({ alg: 'ES256' }, '{')],
  ['claims that are a list', forged({ alg: 'ES256' }, [claims()])],
  ['claims that are text', forged({ alg: 'ES256' }, '"x"')],
  ['not base64url', whole.replace('.', '+.')],
  ['NUL', '\0.\0.\0'],
];
for (const [name, text] of malformed) {
  test(`RFC 7519 §7.2: ${name} is refused, and names nobody`, async () => {
    await assertRefused(text, /refused/);
    if (!text.includes(whole)) assert.equal((await claimedClientId(text)) ?? keyed.id, keyed.id);
  });
}

test('RFC 7523 §3: who an assertion says it is from is read from its subject, and nothing is proven by it', async () => {
  assert.equal(await claimedClientId(await assertion()), keyed.id);
  assert.equal(
    await claimedClientId(await assertion({ by: other, claims: { sub: 'app_other', iss: 'x' } })),
    'app_other',
  );
  assert.equal(await claimedClientId(forged({ alg: 'none' }, { sub: 'app_other' })), 'app_other');
});

for (const sub of [undefined, null, 7, true, [keyed.id], { id: keyed.id }]) {
  test(`RFC 7519 §4.1.2: a subject that is ${JSON.stringify(sub)} names nobody`, async () => {
    assert.equal(await claimedClientId(forged({ alg: 'ES256' }, { sub })), undefined);
  });
}

test('design: an assertion of more than 8192 characters is not even read', async () => {
  const fill = (length: number) => assertion({ claims: { fill: 'x'.repeat(length) } });
  const within = await fill(5500);
  assert.ok(within.length > 7000 && within.length <= 8192, `${within.length}`);
  assert.equal(await claimedClientId(within), keyed.id);
  assert.equal(await claimedClientId(await fill(6500)), undefined);
  assert.equal(await claimedClientId('x'.repeat(1e7)), undefined);
});

test('RFC 7523 §2.2: a client without keys is refused, and of several reasons none is public', async () => {
  await assertRefused(whole, /no public key/, { ...keyed, keys: [] });
  const outcomes = await Promise.all([
    verify(whole, { ...keyed, keys: [] }),
    verify(await assertion({ by: other })),
    verify(await assertion({ claims: { exp: SECONDS - 100 } })),
    verify(''),
  ]);
  assert.equal(new Set(outcomes.map((outcome) => outcome instanceof Refusal && outcome.description)).size, 1);
});

test('design: the log’s reason holds nothing of the assertion', async () => {
  const secret = 'canary-of-the-assertion';
  const all = [
    { iss: secret },
    { aud: secret },
    { exp: secret },
    { nbf: secret },
    { sub: secret },
    { jti: '', x: secret },
  ];
  for (const some of all) {
    const outcome = await verify(await assertion({ claims: some }));
    assert.ok(outcome instanceof Refusal && !`${outcome.detail}${outcome.description}`.includes(secret));
  }
});

const x25519 = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' });
const ed448 = generateKeyPairSync('ed448').publicKey.export({ format: 'jwk' });
const problems: [string, PublicKey, RegExp | null][] = [
  ['an EC key', keys.jwk, null],
  ['P-384', ecKeys('P-384').jwk, null],
  ['P-521', ecKeys('P-521').jwk, null],
  ['Ed25519', ed.jwk, null],
  ['RSA of 2048 bits', rsa.jwk, null],
  ['a key with kid, use and alg', { ...keys.jwk, kid: 'k', use: 'sig', alg: 'ES256' }, null],
  ['a kid that no database takes', { ...keys.jwk, kid: 'a\0' }, /cannot be printed/],
  ['a kid that turns the line around', { ...keys.jwk, kid: 'a\u202e' }, /cannot be printed/],
  ['a private EC key', keys.privateKey.export({ format: 'jwk' }), /private key/],
  ['a private RSA key', rsa.privateKey.export({ format: 'jwk' }), /private key/],
  ['a private Ed25519 key', ed.privateKey.export({ format: 'jwk' }), /private key/],
  ['a private part that is empty', { ...keys.jwk, d: '' }, /private key/],
  ['RSA of 1024 bits', rsaKeys(1024).jwk, /2048 bits/],
  ['RSA of 2040 bits', rsaKeys(2040).jwk, /2048 bits/],
  ['a symmetric key', { kty: 'oct', k: 'AAAA' }, /kty must be/],
  ['an unknown kty', { ...keys.jwk, kty: 'ec' }, /kty must be/],
  ['no kty', { ...keys.jwk, kty: undefined as never }, /kty must be/],
  ['nothing', {}, /kty must be/],
  ['a key to encrypt with', { ...keys.jwk, use: 'enc' }, /use must be sig/],
  ['an empty use', { ...keys.jwk, use: '' }, /use must be sig/],
  ['an alg that is not taken', { ...keys.jwk, alg: 'HS256' }, /alg must be one of ES256/],
  ['alg none', { ...keys.jwk, alg: 'none' }, /alg must be/],
  ['an alg to encrypt with', { ...rsa.jwk, alg: 'RSA-OAEP' }, /alg must be/],
  ['secp256k1', ecKeys('secp256k1').jwk, /crv must be/],
  ['X25519', x25519, /crv must be/],
  ['Ed448', ed448, /crv must be/],
  ['a point that is not on its curve', { ...keys.jwk, x: other.jwk.x as string }, /cannot be read/],
  ['no y', { kty: 'EC', crv: 'P-256', x: keys.jwk.x as string }, /cannot be read/],
  ['an RSA key without its exponent', { kty: 'RSA', n: rsa.jwk.n as string }, /cannot be read/],
  ['an Ed25519 key that is too short', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }, /cannot be read/],
];
for (const [name, jwk, problem] of problems) {
  test(`RFC 7517 §4: ${name} ${problem ? 'cannot be registered' : 'can be registered'}`, () => {
    const found = publicKeyProblem(jwk);
    if (problem) assert.match(found ?? '', problem);
    else assert.equal(found, null);
  });
}

test('restore: an assertion from before the database was restored, or soon after by a clock that is ahead, is refused for now', async () => {
  const told = { iat: SECONDS - 10, exp: SECONDS + 50 };
  const text = await assertion({ claims: told });
  assert.ok(!((await verify(text)) instanceof Refusal), 'it is good without a restore');
  const restored = (seconds: number) => verify(text, keyed, NOW, (SECONDS + seconds) * 1000);
  for (const seconds of [0, -10, -40]) assert.ok((await restored(seconds)) instanceof Unavailable, `${seconds}`);
  assert.ok(!((await restored(-41)) instanceof Refusal), 'what was made later than the clocks may differ is new');
  const untold = await assertion({ claims: { iat: undefined, exp: SECONDS + 50 } });
  const long = (seconds: number) => verify(untold, keyed, NOW, (SECONDS + seconds) * 1000);
  assert.ok((await long(-500)) instanceof Unavailable, 'without iat it may be as old as one may be');
  assert.ok(!((await long(-600)) instanceof Refusal));
});
