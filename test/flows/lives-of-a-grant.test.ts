import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  assertRefused,
  auditActions,
  authorizeUrl,
  exchange,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  refresh,
  signedInBrowser,
} from '../support/flow.ts';
import { addClient, addUser, type Lifetime, startTestService, type TestService } from '../support/service.ts';

/** A service with Ada, her browser, and an app that she has allowed. */
async function connected(t: Lifetime) {
  const service = await startTestService(t);
  const account = await addUser(service);
  const client = await addClient(service);
  const browser = await signedInBrowser(service);
  return { service, account, client, browser, pair: await obtainPair(service, browser, client) };
}

async function statuses(service: TestService, ...tokens: string[]): Promise<number[]> {
  return Promise.all(tokens.map(async (token) => (await me(service, token)).status));
}

describe('an app and its user', { concurrency: true }, () => {
  test('RFC 6749 §4.1: Ada allows an app, the app acts for her, refreshes, and she takes it back', async (t) => {
    const { service, client, browser, pair } = await connected(t);
    assert.equal(((await me(service, pair.accessToken)).body['data'] as { email: string }).email, 'ada@example.com');
    service.clock.advance(1800);
    assert.deepEqual(await statuses(service, pair.accessToken), [401]);
    const next = pairOf(await refresh(service, client, pair.refreshToken));
    assert.deepEqual(await statuses(service, next.accessToken), [200]);
    const page = await browser.get(`${service.appUrl}/account/apps`);
    await browser.submit(page, '/account/apps/revoke', { client_id: client.clientId });
    assert.deepEqual(await statuses(service, next.accessToken), [401]);
    assertRefused(await refresh(service, client, next.refreshToken), 400, 'invalid_grant');
    assert.doesNotMatch((await browser.get(`${service.appUrl}/account/apps`)).body, /Test App<\/bdi><\/h2>/);
  });

  test('Promise 3: the answer to a refresh is lost; the app tries again, minutes later, and nothing is lost', async (t) => {
    const { service, client, pair } = await connected(t);
    const lost = pairOf(await refresh(service, client, pair.refreshToken));
    service.clock.advance(300);
    const again = pairOf(await refresh(service, client, pair.refreshToken));
    assert.deepEqual(again, lost);
    assert.deepEqual(await statuses(service, again.accessToken), [200]);
    pairOf(await refresh(service, client, again.refreshToken));
  });

  test('Promise 3: two workers refresh at once, one already uses its pair, and both go on', async (t) => {
    const { service, client, pair } = await connected(t);
    const [one, two] = await Promise.all(
      [1, 2].map(async () => pairOf(await refresh(service, client, pair.refreshToken))),
    );
    assert.deepEqual(one, two);
    assert.deepEqual(await statuses(service, String(one?.accessToken)), [200]);
    service.clock.advance(5);
    assert.deepEqual(pairOf(await refresh(service, client, pair.refreshToken)), one, 'a third one is late');
  });

  test('Promise 3: a stolen refresh token ends the grant when its owner comes, for thief and owner', async (t) => {
    const { service, client, pair } = await connected(t);
    const thief = pairOf(await refresh(service, client, pair.refreshToken));
    assert.deepEqual(await statuses(service, thief.accessToken), [200]);
    service.clock.advance(1000);
    assertRefused(await refresh(service, client, pair.refreshToken), 400, 'invalid_grant');
    assert.deepEqual(await statuses(service, thief.accessToken, pair.accessToken), [401, 401]);
    assertRefused(await refresh(service, client, thief.refreshToken), 400, 'invalid_grant');
    assert.equal((await auditActions(service)).at(-1), 'refresh_reuse');
  });

  test('Promise 1: a replayed code ends what was issued from it, and no other grant', async (t) => {
    const { service, client, browser, pair } = await connected(t);
    const code = await obtainCode(service, browser, client);
    const second = pairOf(await exchange(service, client, code));
    assertRefused(await exchange(service, client, code), 400, 'invalid_grant');
    assert.deepEqual(await statuses(service, second.accessToken, pair.accessToken), [401, 200]);
  });

  test('RFC 6749 §4.1.2.1: Ada denies; the app learns it, and nothing was granted', async (t) => {
    const service = await startTestService(t);
    await addUser(service);
    const browser = await signedInBrowser(service);
    const page = await browser.get(authorizeUrl(service, await addClient(service)));
    const visit = await browser.submit(page, '/auth/oauth2/authorize', { decision: 'deny' });
    assert.match(
      String(visit.headers.get('location')),
      /^https:\/\/client\.example\/callback\?error=access_denied&.*state=xyz$/,
    );
    assert.doesNotMatch((await browser.get(`${service.appUrl}/account/apps`)).body, /Test App/);
  });

  test('Promise 2: Ada switches the account on the consent page; Grace allows for herself alone', async (t) => {
    const { service, client, browser } = await connected(t);
    await addUser(service, 'grace@example.com', 'Grace Example');
    const page = await browser.get(authorizeUrl(service, client));
    const out = await browser.submit(page, '/sign-out');
    const url = new URL(String(out.headers.get('location')), service.appUrl).href;
    assert.equal(url, authorizeUrl(service, client));
    const credentials = { email: 'grace@example.com', password: 'correct horse battery staple' };
    assert.equal((await browser.submit(await browser.get(url), '/sign-in', credentials)).status, 303);
    const { accessToken } = await obtainPair(service, browser, client);
    assert.equal(((await me(service, accessToken)).body['data'] as { email: string }).email, 'grace@example.com');
  });
});

describe('the operator', { concurrency: true }, () => {
  test('Promise 2: pausing an app refuses everything at once and ends nothing; resuming brings it back', async (t) => {
    const { service, client, browser, pair } = await connected(t);
    const code = await obtainCode(service, browser, client);
    await service.installation.clients.pause(client.clientId, service.installation.operator);
    assert.deepEqual(await statuses(service, pair.accessToken), [401]);
    assertRefused(await refresh(service, client, pair.refreshToken), 401, 'invalid_client');
    assertRefused(await exchange(service, client, code), 401, 'invalid_client');
    assert.equal((await browser.get(authorizeUrl(service, client))).status, 400);
    await service.installation.clients.resume(client.clientId, service.installation.operator);
    assert.deepEqual(await statuses(service, pair.accessToken), [200]);
    pairOf(await exchange(service, client, code));
    pairOf(await refresh(service, client, pair.refreshToken));
  });

  test('Promise 2: disabling a person refuses everything at once; enabling brings back all but the session', async (t) => {
    const { service, account, client, browser, pair } = await connected(t);
    const { accounts, operator } = service.installation;
    await accounts.disable(account.id, operator);
    assert.deepEqual(await statuses(service, pair.accessToken), [401]);
    assertRefused(await refresh(service, client, pair.refreshToken), 400, 'invalid_grant');
    assert.match((await browser.get(authorizeUrl(service, client))).body, /name="password"/);
    await accounts.enable(account.id, operator);
    assert.deepEqual(await statuses(service, pair.accessToken), [200]);
    assert.match((await browser.get(authorizeUrl(service, client))).body, /name="password"/);
  });

  type Connected = Awaited<ReturnType<typeof connected>>;
  const revocations: Record<string, [act: (all: Connected) => Promise<unknown>, others: [number, number]]> = {
    'one grant': [
      async ({ service: { installation }, client, account }) => {
        const filter = { clientId: client.clientId, resourceOwnerId: account.id, limit: 1 };
        const [listed = assert.fail()] = await installation.grants.list(filter);
        const id = listed.grant.id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
        return installation.grants.revoke(id, installation.operator);
      },
      [200, 200],
    ],
    'the grants of an app': [
      ({ service, client }) =>
        service.installation.clients.revokeGrants(client.clientId, service.installation.operator),
      [401, 200],
    ],
    'the grants of a person': [
      ({ service: { installation }, account }) => installation.accounts.revokeGrants(account.id, installation.operator),
      [200, 401],
    ],
    'every grant': [
      ({ service: { installation } }) => installation.grants.revokeAll(installation.operator),
      [401, 401],
    ],
  };
  for (const [name, [act, others]] of Object.entries(revocations))
    test(`Promise 2: revoking ${name} is final, touches no other, and a code of before is dead as well`, async (t) => {
      const all = await connected(t);
      const { service, client, browser, pair } = all;
      await addUser(service, 'grace@example.com');
      const grace = await signedInBrowser(service, 'grace@example.com');
      const ofGrace = await obtainPair(service, grace, client);
      const ofOther = await obtainPair(service, browser, await addClient(service));
      const code = name === 'one grant' ? '' : await obtainCode(service, browser, client);
      await act(all);
      assert.deepEqual(await statuses(service, pair.accessToken), [401]);
      assertRefused(await refresh(service, client, pair.refreshToken), 400, 'invalid_grant');
      assert.deepEqual(await statuses(service, ofGrace.accessToken, ofOther.accessToken), others);
      if (code) assertRefused(await exchange(service, client, code), 400, 'invalid_grant');
      await obtainPair(service, browser, client);
    });

  test('RFC 6749 §2.3.1: a secret is rotated without a gap, then the earlier one is retired', async (t) => {
    const { service, client, pair } = await connected(t);
    const { clients, operator } = service.installation;
    const { secret: clientSecret } = await clients.rotateSecret(client.clientId, operator);
    await assert.rejects(clients.rotateSecret(client.clientId, operator), /two secrets/);
    const renewed = { ...client, clientSecret };
    const next = pairOf(await refresh(service, client, pair.refreshToken));
    const last = pairOf(await refresh(service, renewed, next.refreshToken));
    await clients.retireSecret(client.clientId, operator);
    assertRefused(await refresh(service, client, last.refreshToken), 401, 'invalid_client');
    pairOf(await refresh(service, renewed, last.refreshToken));
  });
});

describe('races over HTTP', () => {
  const answersOf = <T>(count: number, act: () => Promise<T>) => Promise.all(Array.from({ length: count }, act));

  test('Promise 1: of 100 exchanges of one code at once exactly one succeeds, and the rest count as replay', async (t) => {
    const { service, client, browser } = await connected(t);
    for (let round = 0; round < 3; round++) {
      const code = await obtainCode(service, browser, client);
      const answers = await answersOf(100, () => exchange(service, client, code));
      const [winner, ...more] = answers.filter(({ status }) => status === 200);
      assert.ok(winner && more.length === 0);
      for (const answer of answers) if (answer !== winner) assertRefused(answer, 400, 'invalid_grant');
      assert.deepEqual(await statuses(service, pairOf(winner).accessToken), [401]);
    }
    assert.equal((await service.installation.grants.list({ limit: 10 })).length, 4);
  });

  test('Promise 3: 100 refreshes at once make one successor', async (t) => {
    const { service, client, pair } = await connected(t);
    let { refreshToken } = pair;
    for (let round = 0; round < 3; round++) {
      const answers = await answersOf(100, () => refresh(service, client, refreshToken));
      const pairs = answers.map((answer) => pairOf(answer));
      assert.equal(new Set(pairs.map((pair) => JSON.stringify(pair))).size, 1);
      refreshToken = String(pairs[0]?.refreshToken);
    }
    const [{ grant } = assert.fail()] = await service.installation.grants.list({ limit: 10 });
    assert.equal(grant.generation, 4);
  });

  test('Promise 3: with strict settings, of 100 refreshes at once one succeeds, and the grant ends', async (t) => {
    const { service, browser } = await connected(t);
    const strict = await addClient(service, { refreshOverlap: 0, refreshRetryWindow: 0 });
    const { refreshToken } = await obtainPair(service, browser, strict);
    const answers = await answersOf(100, () => refresh(service, strict, refreshToken));
    const winners = answers.filter(({ status }) => status === 200);
    assert.equal(winners.length, 1);
    assert.deepEqual(await statuses(service, ...winners.map((answer) => pairOf(answer).accessToken)), [401]);
  });

  test('Promise 2: whatever an Allow, exchange or refresh raced with, after an answered revocation nothing works', async (t) => {
    const { service, browser, client } = await connected(t);
    for (let round = 0; round < 5; round++) {
      const code = await obtainCode(service, browser, client);
      const { refreshToken } = await obtainPair(service, browser, client);
      const page = await browser.get(authorizeUrl(service, client));
      const revoking = service.installation.clients.revokeGrants(client.clientId, service.installation.operator);
      const [allowed, exchanged, refreshed] = await Promise.all([
        browser.submit(page, '/auth/oauth2/authorize', { decision: 'allow' }),
        exchange(service, client, code),
        refresh(service, client, refreshToken),
        revoking,
      ]);
      const tokens = [exchanged, refreshed].flatMap(({ body }) =>
        body['access_token'] ? [String(body['access_token'])] : [],
      );
      for (const status of await statuses(service, ...tokens)) assert.equal(status, 401);
      assert.equal(allowed.status, 303);
    }
  });
});
