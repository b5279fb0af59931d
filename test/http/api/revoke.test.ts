import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  assertRefused,
  type JsonAnswer,
  me,
  obtainPair,
  pairOf,
  postBody,
  signedInBrowser,
} from '../../support/flow.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  basic,
  introspect,
  post,
  postAs,
  refreshWith,
  standardCode,
  standardPair,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const ada = await signedInBrowser(service);
const client = await addClient(service);
const other = await addClient(service);
const app = await addClient(service, {}, 'public');
const resourceServer = await addResourceServer(service);
const revoke = (by: typeof client, token: string, fields = {}) => postAs(service, by, 'revoke', { token, ...fields });

/** Asserts the one answer of RFC 7009 §2.2. */
function assertDone({ status, headers, body }: JsonAnswer, message?: string): void {
  assert.deepEqual([status, body], [200, {}], message);
  assert.equal(headers.get('content-type'), 'application/json');
  assert.equal(headers.get('cache-control'), 'no-store');
}

async function assertWorks({ accessToken, refreshToken }: { accessToken: string; refreshToken: string }, by = client) {
  assert.equal((await me(service, accessToken)).status, 200);
  return pairOf(await refreshWith(service, by, refreshToken));
}

async function assertEnded({ accessToken, refreshToken }: { accessToken: string; refreshToken: string }, by = client) {
  assert.equal((await me(service, accessToken)).status, 401);
  assert.deepEqual((await introspect(service, resourceServer, accessToken)).body, { active: false });
  assertRefused(await refreshWith(service, by, refreshToken), 400, 'invalid_grant');
}

describe('RFC 7009 §2.1: a client ends its own grant at once', { concurrency: true }, () => {
  for (const which of ['accessToken', 'refreshToken'] as const)
    for (const token_type_hint of [undefined, 'access_token', 'refresh_token', 'saml', ''])
      test(`RFC 7009 §2, §2.1: by its ${which}, with ${token_type_hint ?? 'no'} hint`, async () => {
        const pair = await standardPair(service, ada, client);
        assertDone(await revoke(client, pair[which], { token_type_hint }));
        await assertEnded(pair);
      });

  test('RFC 7009 §2.1: by a token of an earlier pair, and all pairs end', async () => {
    const first = await standardPair(service, ada, client);
    const second = pairOf(await refreshWith(service, client, first.refreshToken));
    assertDone(await revoke(client, first.accessToken));
    await assertEnded(second);
  });

  test('RFC 7009 §2.1: by a token that has expired', async (t) => {
    const own = await startTestService(t);
    await addUser(own);
    const each = await addClient(own);
    const { accessToken, refreshToken } = await standardPair(own, await signedInBrowser(own), each);
    own.clock.advance(1800);
    assertDone(await postAs(own, each, 'revoke', { token: accessToken }));
    assertRefused(await refreshWith(own, each, refreshToken), 400, 'invalid_grant');
  });

  test('RFC 7009 §2.1: a public client by its word, and with Basic', async () => {
    const pair = await standardPair(service, ada, app);
    assertDone(await revoke(app, pair.accessToken));
    await assertEnded(pair, app);
    const ofClient = await standardPair(service, ada, client);
    assertDone(
      await post(service, 'revoke', { token: ofClient.accessToken }, basic(client.clientId, client.clientSecret)),
    );
    await assertEnded(ofClient);
  });

  test('RFC 7009 §2.1: a grant of the published face too, and no other grant of the same app and person', async () => {
    const [ended, kept] = [await obtainPair(service, ada, client), await obtainPair(service, ada, client)];
    assertDone(await revoke(client, ended.refreshToken));
    await assertEnded(ended);
    await assertWorks(kept);
  });

  test('ASVS 16.3.1: it is in the audit trail, once, with who did it', async () => {
    const each = await addClient(service);
    const { accessToken } = await standardPair(service, ada, each);
    for (let time = 0; time < 2; time++) assertDone(await revoke(each, accessToken));
    const filter = { clientId: each.clientId, action: 'grant_revoked', limit: 9 };
    const [event, ...more] = await service.installation.audit.listAuditEvents(filter);
    assert.deepEqual([event?.actor.kind, event?.actor.id, event?.actor.source], ['client', each.clientId, '127.0.0.1']);
    assert.ok(event?.grantId && more.length === 0);
    const [listed] = await service.installation.grants.list({ clientId: each.clientId, limit: 1 });
    assert.equal(listed?.grant.revocationReason, 'client');
  });
});

describe('RFC 7009 §2.2: what is no token of the client ends nothing, and is no error', { concurrency: true }, () => {
  test('RFC 7009 §2.1: a token of another client', async () => {
    const pair = await standardPair(service, ada, client);
    for (const by of [other, app]) for (const token of Object.values(pair)) assertDone(await revoke(by, token));
    await assertWorks(pair);
  });

  test('RFC 7009 §2.2: whatever else', async () => {
    const pair = await standardPair(service, ada, client);
    const code = await standardCode(service, ada, client);
    const { accessToken } = pair;
    const middle = Math.floor(accessToken.length / 2);
    const forged =
      accessToken.slice(0, middle) + (accessToken[middle] === 'A' ? 'B' : 'A') + accessToken.slice(middle + 1);
    const texts = [
      'x',
      '\0',
      forged,
      `${accessToken} `,
      accessToken.toLowerCase(),
      code,
      client.clientSecret,
      'x'.repeat(60_000),
    ];
    for (const text of texts) assertDone(await revoke(client, text), text.slice(0, 99));
    await assertWorks(pair);
  });
});

describe('RFC 7009 §2.2.1: a request that is refused ends nothing', { concurrency: true }, () => {
  test('RFC 7009 §2.2.1: without token, or with anything twice', async () => {
    for (const token of [undefined, ''])
      assertRefused(await postAs(service, client, 'revoke', { token }), 400, 'invalid_request');
    const pair = await standardPair(service, ada, app);
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const added of ['token=x', `client_id=${app.clientId}`, 'x=1&x=1']) {
      const twice = `client_id=${app.clientId}&token=${pair.accessToken}&${added}`;
      assertRefused(await postBody(`${service.appUrl}/oauth2/revoke`, twice, type), 400, 'invalid_request', added);
    }
    await assertWorks(pair, app);
  });

  test('RFC 7009 §2.1: by whoever does not prove to be a client', async () => {
    const pair = await standardPair(service, ada, client);
    const token = pair.refreshToken;
    const strangers = [{}, { client_id: client.clientId }, { client_id: client.clientId, client_secret: 'x' }];
    for (const fields of strangers)
      assertRefused(await post(service, 'revoke', { token, ...fields }), 401, 'invalid_client');
    const bearer = { Authorization: `Bearer ${pair.accessToken}` };
    assertRefused(await post(service, 'revoke', { token }, bearer), 401, 'invalid_client');
    assertRefused(await post(service, `revoke?client_id=${client.clientId}`, { token }), 401, 'invalid_client');
    const { id, secret } = resourceServer;
    assertRefused(await post(service, 'revoke', { token }, basic(id, secret)), 401, 'invalid_client');
    await assertWorks(pair);
  });
});
