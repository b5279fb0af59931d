/** A client gives back one of its tokens (RFC 7009), and with it the whole grant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../src/oauth/error.ts';
import { grantIdText } from '../../src/oauth/grants/grant.ts';
import { deriveCredential, readCredential, withChecksum } from '../../src/oauth/keys/credential.ts';
import type { IssuedTokens } from '../../src/oauth/tokens/token-pair.ts';
import { WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
import { event } from '../support/storage.ts';
import { ada } from './memory.ts';
import {
  actions,
  asOne,
  asPhone,
  assertGood,
  asTwo,
  exchange,
  obtainCode,
  obtainPair,
  obtainPhonePair,
  one,
  origin,
  type Protocol,
  phone,
  setUp,
  wrongSecret,
} from './protocol.ts';
import { assertRefusal, otherKeyring, PREFIX, withWrongMac } from './samples.ts';

async function assertEnded({ server, store }: Protocol, pair: IssuedTokens): Promise<void> {
  assertRefusal(await server.checkAccessToken(pair.accessToken), 'invalid_token', /revoked \(client\)/);
  const refreshed = await server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin);
  assertRefusal(refreshed, 'invalid_grant', /revoked \(client\)|another client/);
  const [recorded] = await store.listAuditEvents({ limit: 1 });
  assert.equal(recorded?.action, 'grant_revoked');
}

async function assertAlive({ server, ...protocol }: Protocol, pair: IssuedTokens): Promise<void> {
  assertGood(await server.checkAccessToken(pair.accessToken));
  assert.ok(!(await actions(protocol)).includes('grant_revoked'));
}

for (const kind of ['accessToken', 'refreshToken'] as const) {
  test(`RFC 7009 §2.1: giving back the ${kind} ends the whole grant, and is in the trail with the client as who did it`, async (context) => {
    const protocol = await setUp(context);
    const pair = await obtainPair(protocol);
    const [listed] = await protocol.store.listGrants({ limit: 1 });
    assert.equal(await protocol.server.revoke(asOne, pair[kind], origin), null);
    await assertEnded(protocol, pair);
    const [recorded] = await protocol.store.listAuditEvents({ limit: 1 });
    const { actor, clientId, resourceOwnerId, grantId } = recorded ?? assert.fail();
    assert.deepEqual(
      { actor, clientId, resourceOwnerId, grantId },
      {
        actor: { kind: 'client', id: one.id, ...origin, by: null },
        clientId: one.id,
        resourceOwnerId: ada.id,
        grantId: grantIdText(listed?.grant.id ?? assert.fail()),
      },
    );
  });

  test(`RFC 7009 §2.1: a public client gives back its ${kind}`, async (context) => {
    const protocol = await setUp(context);
    const pair = await obtainPhonePair(protocol);
    assert.equal(await protocol.server.revoke(asPhone, pair[kind], origin), null);
    await assertEnded(protocol, pair);
  });

  test(`RFC 7009 §2.1: another client’s ${kind} is left alone, and its holder is not told whose it is`, async (context) => {
    const protocol = await setUp(context);
    const pair = await obtainPair(protocol);
    for (const credentials of [asTwo, asPhone])
      assert.equal(await protocol.server.revoke(credentials, pair[kind], origin), null);
    await assertAlive(protocol, pair);
  });

  test(`design: an expired ${kind}, and one of an earlier generation, still ends what it came from`, async (context) => {
    const protocol = await setUp(context);
    const { server, clock } = protocol;
    const old = await obtainPair(protocol);
    clock.now += 1_900_000;
    const next = assertGood(await server.refresh(asOne, old.refreshToken, WHOLE_GRANT, origin));
    assert.equal(await server.revoke(asOne, old[kind], origin), null);
    await assertEnded(protocol, next);
  });

  test(`RFC 7009 §2.2: giving back the ${kind} once more changes nothing, and is recorded once`, async (context) => {
    const protocol = await setUp(context);
    const pair = await obtainPair(protocol);
    for (let n = 0; n < 3; n += 1) assert.equal(await protocol.server.revoke(asOne, pair[kind], origin), null);
    assert.deepEqual(await actions(protocol), ['grant_revoked', 'consent_allowed']);
  });

  test(`RFC 7009 §5: a forged ${kind} ends nothing, whatever grant it names`, async (context) => {
    const protocol = await setUp(context);
    const pair = await obtainPair(protocol);
    const credentialKind = kind === 'accessToken' ? 'at' : 'rt';
    const credential = readCredential(PREFIX, credentialKind, pair[kind]) ?? assert.fail();
    const [listed] = await protocol.store.listGrants({ limit: 1 });
    const { grant } = listed ?? assert.fail();
    const bytes = withWrongMac(credential).unproven ?? assert.fail();
    const stranger = { ...credential, keyId: otherKeyring.currentKeyId };
    const forged = [
      withChecksum(`${PREFIX}_${credentialKind}_${bytes.toString('base64url')}`),
      deriveCredential(otherKeyring, PREFIX, credentialKind, stranger, grant.seed),
      withChecksum(pair[kind].slice(0, -6).replace(`_${credentialKind}_`, credentialKind === 'at' ? '_rt_' : '_at_')),
    ];
    for (const token of forged) assert.equal(await protocol.server.revoke(asOne, token, origin), null);
    await assertAlive(protocol, pair);
  });
}

test('RFC 7009 §2.2: what is no token of this service, and a code, is no error and ends nothing', async (context) => {
  const protocol = await setUp(context);
  const code = await obtainCode(protocol);
  const pair = await obtainPair(protocol);
  for (const token of ['', 'x', code, asOne.clientSecret, `${pair.refreshToken}\n`, '\0', 'x'.repeat(1e6)])
    assert.equal(await protocol.server.revoke(asOne, token, origin), null);
  assertGood(await protocol.server.exchangeAuthorizationCode(asOne, code, exchange, origin));
  await assertAlive(protocol, pair);
});

test('RFC 7009 §2.1: who does not prove to be the client ends nothing', async (context) => {
  const protocol = await setUp(context);
  const pair = await obtainPair(protocol);
  const credentials = [
    wrongSecret,
    { method: 'none', clientId: one.id },
    { method: 'none', clientId: undefined },
  ] as const;
  for (const each of credentials)
    assertRefusal(
      await protocol.server.revoke(each, pair.accessToken, origin),
      'invalid_client',
      /wrong|confid|missing/,
    );
  await protocol.store.setClientStatus(one.id, 'paused', event('client_paused'));
  assertRefusal(await protocol.server.revoke(asOne, pair.accessToken, origin), 'invalid_client', /paused/);
  await protocol.store.setClientStatus(one.id, 'active', event('client_resumed'));
  await assertAlive(protocol, pair);
});

test('RFC 7009 §2.1: a token of a grant that an epoch, or the end of its client’s grants, ended already', async (context) => {
  const protocol = await setUp(context);
  const pair = await obtainPair(protocol);
  await protocol.store.revokeClientGrants(one.id, event('client_grants_revoked'));
  assert.equal(await protocol.server.revoke(asOne, pair.accessToken, origin), null);
  assert.ok(!(await actions(protocol)).includes('grant_revoked'), 'what has no effect is not recorded');
});

test('promise 2: a revocation amid fifty refreshes is final', async (context) => {
  const protocol = await setUp(context);
  const { server } = protocol;
  const pair = await obtainPair(protocol);
  const all = Array.from({ length: 50 }, (_, n) =>
    n === 25
      ? server.revoke(asOne, pair.accessToken, origin)
      : server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin),
  );
  const outcomes = await Promise.all(all);
  for (const outcome of outcomes)
    if (outcome !== null && !(outcome instanceof Refusal)) await assertEnded(protocol, outcome);
});

test('promise 2: whatever a client does with its tokens and others’, a grant that it gave back stays ended, and no other ends', async (context) => {
  const someAct = fc.record({
    what: fc.constantFrom('revoke', 'refresh', 'use', 'wait'),
    pair: fc.nat(3),
    kind: fc.constantFrom('accessToken' as const, 'refreshToken' as const),
    isForeign: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(someAct, { minLength: 3, maxLength: 20 }), async (acts) => {
      const protocol = await setUp(context);
      const { server, clock } = protocol;
      // Two grants of client one, whose pairs are replaced as they are refreshed.
      const grants = [await obtainPair(protocol), await obtainPair(protocol)].map((pair) => ({ pair, isEnded: false }));
      for (const { what, pair: at, kind, isForeign } of acts) {
        const grant = grants[at % 2] ?? assert.fail();
        const credentials = isForeign ? asTwo : asOne;
        if (what === 'wait') clock.now += 1000;
        if (what === 'revoke') {
          assert.equal(await server.revoke(credentials, grant.pair[kind], origin), null);
          grant.isEnded ||= !isForeign;
        }
        if (what === 'refresh') {
          const outcome = await server.refresh(credentials, grant.pair.refreshToken, WHOLE_GRANT, origin);
          assert.equal(outcome instanceof Refusal, grant.isEnded || isForeign);
          if (!(outcome instanceof Refusal)) grant.pair = outcome;
        }
        for (const each of grants)
          assert.equal((await server.checkAccessToken(each.pair.accessToken)) instanceof Refusal, each.isEnded);
      }
    }),
    { numRuns: 40 },
  );
});

test('interface: who gives back a grant keeps others of the same person and app', async (context) => {
  const protocol = await setUp(context);
  const [ended, kept] = [await obtainPair(protocol), await obtainPair(protocol)];
  await protocol.server.revoke(asOne, ended.accessToken, origin);
  assertGood(await protocol.server.checkAccessToken(kept.accessToken));
  assert.equal((await obtainPhonePair(protocol)).scope, phone.scopes.join(' '));
});
