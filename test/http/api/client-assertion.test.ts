import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertRefused, type JsonAnswer, pairOf, postBody, signedInBrowser } from '../../support/flow.ts';
import { startOnFile } from '../../support/on-file.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';
import {
  ASSERTION_TYPE,
  assertionClaims,
  assertionFields,
  authorizationRequest,
  basic,
  exchangeCode,
  type Fields,
  makeKey,
  post,
  standardCode,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const ada = await signedInBrowser(service);
const [key, otherKey] = [makeKey(), makeKey()];
const keyed = await addClient(service, { keys: [key.jwk], deviceFlow: true });
const other = await addClient(service, { keys: [otherKey.jwk] });
const secretive = await addClient(service);
const app = await addClient(service, {}, 'public');
const now = service.clock.now() / 1000;
const PROVEN = '400 invalid_grant'; // The client is itself, and what it presents is nothing.

/** What a refresh of a token that is none is answered, with this authentication. */
async function tried(fields: Fields, headers?: Record<string, string>): Promise<string> {
  const answer = await post(service, 'token', { grant_type: 'refresh_token', refresh_token: 'x', ...fields }, headers);
  const { status, body } = answer;
  if (status === 401) assertRefused(answer, 401, 'invalid_client');
  return `${status} ${body['error']}`;
}
const withClaims = (claims: Record<string, unknown>) => assertionFields(service, keyed, key, claims);

test('RFC 7523 §2.2, RFC 6749 §2.3.2, RFC 9700 §2.5: an assertion proves the client at every endpoint', async () => {
  const { client_id: _, ...request } = authorizationRequest(keyed);
  const { accessToken } = await standardPairOf();
  const requests: [endpoint: string, fields: Fields, status: number][] = [
    ['par', request, 201],
    ['device_authorization', {}, 200],
    ['revoke', { token: accessToken }, 200],
  ];
  for (const [endpoint, fields, status] of requests)
    assert.equal((await post(service, endpoint, { ...fields, ...(await withClaims({})) })).status, status, endpoint);
});

/** A pair that a client with a key got. */
async function standardPairOf() {
  const code = await standardCode(service, ada, keyed);
  return pairOf(await exchangeCode(service, keyed, code, await withClaims({})));
}

test('OAuth 2.1 §2.4: where the operator demands it of a client, an assertion is for the issuer alone', async () => {
  const { appUrl, installation } = service;
  const strict = await addClient(service, { keys: [key.jwk] });
  const forToken = () => assertionFields(service, strict, key, { aud: `${appUrl}/oauth2/token` });
  assert.equal(await tried(await forToken()), PROVEN);
  await installation.clients.update(strict.clientId, { assertionAudience: 'issuer' }, installation.operator);
  assert.equal(await tried(await forToken()), '401 invalid_client');
  assert.equal(await tried(await assertionFields(service, strict, key, { aud: appUrl })), PROVEN);
});

describe('RFC 7523 §3, RFC 9126 §2: an assertion is good', { concurrency: true }, () => {
  const { appUrl } = service;
  const good: Record<string, Record<string, unknown>> = {
    'for the issuer': { aud: appUrl },
    'for the token endpoint': { aud: `${appUrl}/oauth2/token` },
    'for the endpoint of pushed requests': { aud: `${appUrl}/oauth2/par` },
    'for this service by two of its names': { aud: [appUrl, `${appUrl}/oauth2/par`] },
    'with iat and nbf': { iat: now, nbf: now },
    'by a clock that is 30 s ahead': { nbf: now + 29 },
    'by a clock that is 30 s behind': { exp: now - 29 },
    'for ten minutes': { exp: now + 600 },
    'until a fraction of a second': { exp: now + 60.123456 },
    'with a long jti': { jti: 'x'.repeat(1000) },
    'with claims that nobody knows': { x: { y: 1 } },
  };
  for (const [name, claims] of Object.entries(good))
    test(`RFC 7523 §3: ${name}`, async () => assert.equal(await tried(await withClaims(claims)), PROVEN));

  test('RFC 7521 §4.2: with the same client_id beside it', async () => {
    assert.equal(await tried({ ...(await withClaims({})), client_id: keyed.clientId }), PROVEN);
  });

  test('RFC 7515 §4.1.4: with a kid that names its key, or without a kid', async () => {
    const [one, two] = [makeKey(), makeKey()];
    const many = await addClient(service, {
      keys: [
        { ...one.jwk, kid: 'one' },
        { ...two.jwk, kid: 'two' },
      ],
    });
    assert.equal(await tried(await assertionFields(service, many, two, {}, { kid: 'two' })), PROVEN);
    assert.equal(await tried(await assertionFields(service, many, two)), PROVEN);
    assert.equal(await tried(await assertionFields(service, many, two, {}, { kid: 'one' })), '401 invalid_client');
    assert.equal(
      await tried(await assertionFields(service, keyed, key, {}, { kid: 'whatever' })),
      '401 invalid_client',
    );
  });
});

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const guessed = await addClient(service, { keys: [key.jwk] });
const claims = assertionClaims(service, guessed);
const good = await key.sign(claims);
const [head = '', payload = '', signature = ''] = good.split('.');
const texts: Record<string, string> = {
  'unsigned (RFC 8725 §3.1)': `${encode({ alg: 'none' })}.${payload}.`,
  'unsigned, with a signature': `${encode({ alg: 'none' })}.${payload}.${signature}`,
  'without its signature': `${head}.${payload}.`,
  'with another payload': `${head}.${encode({ ...claims, x: 1 })}.${signature}`,
  'signed by the key of another client': await otherKey.sign(claims),
  'with a key of its own in the header (RFC 8725 §3.10)': await otherKey.sign(claims, { jwk: otherKey.jwk as never }),
  'with an address of keys in the header': await otherKey.sign(claims, { jku: 'https://evil.test/jwks' }),
  'with a critical extension': `${encode({ alg: 'ES256', crit: ['canary'], canary: 1 })}.${payload}.${signature}`,
  'with claims that are no object': `${head}.${Buffer.from('[1]').toString('base64url')}.${signature}`,
  'of five parts': `${good}.x.x`,
  'of 10 KB': await key.sign({ ...claims, x: 'x'.repeat(10_000) }),
  'that is no JWT': 'x',
  'that is a NUL': '\0',
};

describe('RFC 7523 §3, §3.2, RFC 7521 §4.2.1: an assertion is refused', { concurrency: true }, () => {
  const { appUrl, apiUrl } = service;
  const bad: Record<string, Record<string, unknown>> = {
    'without iss': { iss: undefined },
    'without sub': { sub: undefined },
    'without aud': { aud: undefined },
    'without exp': { exp: undefined },
    'without jti': { jti: undefined },
    'with an empty jti': { jti: '' },
    'with a number as jti': { jti: 1 },
    'from another issuer': { iss: other.clientId },
    'about another client': { sub: other.clientId },
    'about nobody': { sub: 'app_nobody', iss: 'app_nobody' },
    'for the API': { aud: apiUrl },
    'for the issuer with a slash': { aud: `${appUrl}/` },
    'for introspection': { aud: `${appUrl}/oauth2/introspect` },
    'for nobody': { aud: [] },
    'for another service as well': { aud: ['https://other.example', appUrl] },
    'that has expired': { exp: now - 31 },
    'that lives for an hour': { exp: now + 3600 },
    'that lives for ever': { exp: 1e300 },
    'before its time': { nbf: now + 31 },
    'from the future': { iat: now + 3600, exp: 'x' },
    ...Object.fromEntries(
      [['x'], { x: 1 }, true, 1, null].map((sub) => [`with ${JSON.stringify(sub)} as sub`, { sub }]),
    ),
  };
  for (const [name, claims] of Object.entries(bad))
    test(`RFC 7523 §3: ${name}`, async () => {
      // Each guesses at a client of its own: one would be slowed down.
      const each = await addClient(service, { keys: [key.jwk] });
      const fields = await assertionFields(service, each, key, claims);
      assert.equal(await tried(fields), '401 invalid_client');
    });

  for (const [name, text] of Object.entries(texts))
    test(`RFC 7523 §3: ${name}`, async () => {
      const fields = { client_assertion_type: ASSERTION_TYPE, client_assertion: text };
      assert.equal(await tried(fields), '401 invalid_client');
    });

  test('RFC 7523 §3: of a public client, of one with a secret, and of one that is paused', async () => {
    const paused = await addClient(service, { keys: [key.jwk] });
    await service.installation.clients.pause(paused.clientId, service.installation.operator);
    for (const each of [app, secretive, paused])
      assert.equal(await tried(await assertionFields(service, each, key)), '401 invalid_client');
  });
});

describe('RFC 6749 §2.3: one method of authentication in a request', { concurrency: true }, () => {
  const mixed: [name: string, fields: Fields, headers?: Record<string, string>][] = [
    ['an assertion and a secret', { client_secret: secretive.clientSecret }],
    ['an assertion and Basic', {}, basic(secretive.clientId, secretive.clientSecret)],
    ['an assertion and another client_id', { client_id: secretive.clientId }],
    [
      'an assertion of another type',
      { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' },
    ],
    ['an assertion without a type', { client_assertion_type: undefined }],
    ['a type without an assertion', { client_assertion: undefined }],
  ];
  for (const [name, fields, headers] of mixed)
    test(`RFC 6749 §2.3, RFC 7521 §4.2: ${name} is invalid_request, and the assertion still works`, async () => {
      const assertion = await withClaims({});
      assert.equal(await tried({ ...assertion, ...fields }, headers), '400 invalid_request');
      assert.equal(await tried(assertion), PROVEN);
    });

  test('RFC 6749 §3.2: an assertion twice is invalid_request', async () => {
    const fields = new URLSearchParams((await withClaims({})) as Record<string, string>);
    const body = `grant_type=refresh_token&refresh_token=x&${fields}&client_assertion=${fields.get('client_assertion')}`;
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    assertRefused(await postBody(`${service.appUrl}/oauth2/token`, body, type), 400, 'invalid_request');
    assert.equal(await tried(Object.fromEntries(fields)), PROVEN);
  });

  test('RFC 6749 §2.3.1: a client with a key has no secret, on either face', async () => {
    assert.equal(keyed.clientSecret, '');
    assert.equal(await tried({ client_id: keyed.clientId, client_secret: 'x' }), '401 invalid_client');
    assert.equal(await tried({ client_id: keyed.clientId }), '401 invalid_client');
  });
});

describe('RFC 7523 §3: an assertion is used once', { concurrency: true }, () => {
  test('RFC 7523 §3: the second time it is refused, at whatever endpoint', async () => {
    const each = await addClient(service, { keys: [key.jwk] });
    const fields = await assertionFields(service, each, key);
    assert.equal(await tried(fields), PROVEN);
    assert.equal(await tried(fields), '401 invalid_client');
    for (const endpoint of ['par', 'revoke', 'device_authorization'])
      assertRefused(await post(service, endpoint, { token: 'x', ...fields }), 401, 'invalid_client', endpoint);
  });

  test('RFC 7523 §3: another assertion with the same jti is refused too, but not that of another client', async () => {
    const jti = 'the same';
    assert.equal(await tried(await withClaims({ jti })), PROVEN);
    assert.equal(await tried(await withClaims({ jti, exp: now + 61 })), '401 invalid_client');
    assert.equal(await tried(await assertionFields(service, other, otherKey, { jti })), PROVEN);
  });

  test('RFC 7523 §3: of 20 at once exactly one succeeds', async () => {
    const each = await addClient(service, { keys: [key.jwk] });
    const code = await standardCode(service, ada, each);
    const fields = await assertionFields(service, each, key);
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchangeCode(service, each, code, fields)));
    const count = (status: number) => answers.filter((answer: JsonAnswer) => answer.status === status).length;
    assert.deepEqual([count(200), count(401)], [1, 19]);
  });

  test('RFC 7523 §3: one that was refused for another reason is not used up', async () => {
    const fields = await withClaims({});
    assertRefused(await post(service, 'token', { ...fields, grant_type: 'x' }), 400, 'unsupported_grant_type');
    assertRefused(await post(service, 'revoke', fields), 400, 'invalid_request');
    assert.equal(await tried(fields), PROVEN);
  });
});

test('Promise 6: guessing with assertions slows its source down for that client, and not for others', async (t) => {
  const own = await startTestService(t);
  const [one, two] = [await addClient(own, { keys: [key.jwk] }), await addClient(own, { keys: [key.jwk] })];
  const guess = async (client: typeof one, signer: typeof key) =>
    (await post(own, 'revoke', { token: 'x', ...(await assertionFields(own, client, signer)) })).status;
  for (let count = 0; count < 30; count++) assert.equal(await guess(one, otherKey), 401);
  assert.deepEqual([await guess(one, key), await guess(two, key)], [429, 200]);
});

test('RFC 7523 §3: while a client may leave no more marks it is 503 with Retry-After, and nothing is used up', async (t) => {
  const { service: own, path } = await startOnFile(t);
  await addUser(own);
  const client = await addClient(own, { keys: [key.jwk] });
  const code = await standardCode(own, await signedInBrowser(own), client);
  const fields = await assertionFields(own, client, key);
  assert.equal((await post(own, 'revoke', { token: 'x', ...(await assertionFields(own, client, key)) })).status, 200);
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  const change = (what: string) => database.exec(`UPDATE client_assertion_total SET ${what}`);
  const cases: [change: string, seconds: string, inLog: RegExp][] = [
    ['marks = 100000', '10', /100000 used assertions that have not expired/],
    [`marks = 99999, cleared_until = ${own.clock.now() + 600_000}`, '60', /the clock stepped back/],
  ];
  for (const [what, seconds, inLog] of cases) {
    change(what);
    for (let time = 0; time < 40; time++) {
      const answer = await exchangeCode(own, client, code, fields);
      assertRefused(answer, 503, 'temporarily_unavailable');
      assert.equal(answer.headers.get('retry-after'), seconds);
    }
    assert.match(String(own.log.findLast((line) => line.includes('/oauth2/token'))), inLog);
  }
  change('cleared_until = 0');
  assert.equal((await exchangeCode(own, client, code, fields)).status, 200);
  assertRefused(
    await post(own, 'revoke', { token: 'x', ...(await assertionFields(own, client, key)) }),
    503,
    'temporarily_unavailable',
    'the most is 100,000',
  );
});

test('RFC 7523 §3: a mark is kept no longer than its assertion is good', async (t) => {
  const { service: own, path } = await startOnFile(t);
  const client = await addClient(own, { keys: [key.jwk] });
  const use = async () => post(own, 'revoke', { token: 'x', ...(await assertionFields(own, client, key)) });
  await use();
  const database = new DatabaseSync(path, { readOnly: true });
  t.after(() => database.close());
  const marks = () => Number(database.prepare('SELECT count(*) AS marks FROM client_assertion').get()?.['marks']);
  assert.equal(marks(), 1);
  own.clock.advance(60 + 30 + 1);
  const since = performance.now();
  while (marks() > 0) {
    assert.ok(performance.now() - since < 60_000);
    await sleep(50);
  }
});
