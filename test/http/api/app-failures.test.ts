// Each app's tallies and failures, as its operator finds them, of requests that go over the wire.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { MAX_FAILURES_PER_SECOND } from '../../../src/oauth/activity/app-failure.ts';
import type { AppTally } from '../../../src/oauth/activity/app-tally.ts';
import {
  exchange,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  refresh,
  signedInBrowser,
  type TestClient,
} from '../../support/flow.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  basic,
  DEVICE_GRANT,
  exchangeCode,
  introspect,
  post,
  postAs,
  standardCode,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const browser = await signedInBrowser(service);
const { activity, appActivity, clients, operator } = service.installation;

/** The activity of an app: what is not zero of its numbers, and its failures. */
async function activityOf({ clientId }: TestClient) {
  await activity.flush();
  const { tally, failures } = await appActivity.find(clientId, service.clock.now() - 60_000);
  const counted = Object.fromEntries(Object.entries(tally).filter(([, count]) => count > 0)) as Partial<AppTally>;
  return { counted, failures };
}

describe('RFC 6749 §5.2: a refusal is a failure of the app that proved who it is, with the reason it was told', () => {
  test('a code that was used already', async () => {
    const app = await addClient(service);
    const code = await obtainCode(service, browser, app);
    await exchange(service, app, code);
    const answer = await exchange(service, app, code);
    const { counted, failures } = await activityOf(app);
    assert.deepEqual(counted, { allowed: 1, exchanges: 1, invalidGrant: 1 });
    const [failure, ...others] = failures;
    assert.equal(others.length, 0);
    assert.ok(failure);
    assert.equal(failure.reason, answer.body['error_description']);
    assert.match(failure.reason, /used already/);
    assert.equal(failure.error, 'invalid_grant');
    assert.equal(failure.endpoint, 'token');
    assert.equal(failure.requestId, answer.headers.get('x-request-id'));
    assert.equal(failure.network, '127.0.0.0/24');
    const [grant] = await service.installation.grants.list({ clientId: app.clientId, limit: 1 });
    assert.equal(
      failure.grantId,
      (await service.installation.grants.show(failure.grantId ?? '')).id,
      grant?.clientName,
    );
  });

  test('a request without what it must have, on either face', async () => {
    const app = await addClient(service);
    await exchange(service, app, 'x', { code: undefined });
    await postAs(service, app, 'token', { grant_type: 'authorization_code' });
    await postAs(service, app, 'revoke', {});
    await refresh(service, app, 'x', { grant_type: undefined });
    await refresh(service, app, 'x', { refresh_token: 'y' });
    await post(service, 'par', { request_uri: 'x' }, basic(app.clientId, app.clientSecret));
    const { counted, failures } = await activityOf(app);
    assert.deepEqual(counted, { invalidRequest: 6 });
    assert.deepEqual(failures.map(({ endpoint, reason }) => [endpoint, reason]).sort(), [
      ['pushed_authorization_request', 'request_uri must not be pushed'],
      ['revocation', 'token is required'],
      ['token', 'code is required'],
      ['token', 'code is required'],
      ['token', 'grant_type is required'],
      ['token', 'refresh_token differs between the header and the body'],
    ]);
  });

  test('a pause', async () => {
    const app = await addClient(service);
    const { refreshToken } = await obtainPair(service, browser, app);
    await clients.pause(app.clientId, operator);
    await refresh(service, app, refreshToken);
    const { body } = await postAs(service, app, 'par', {});
    assert.doesNotMatch(String(body['error_description']), /paused/, 'who proves a secret only is not told');
    const { counted, failures } = await activityOf(app);
    assert.deepEqual(counted, { allowed: 1, exchanges: 1, invalidClient: 2 });
    assert.deepEqual(
      failures.map(({ reason }) => /paused/.test(reason)),
      [true, true],
    );
    assert.equal(failures.filter(({ grantId }) => grantId !== null).length, 1);
  });
});

describe('Promise 5: who proves nothing leaves no failure', () => {
  test('a wrong secret is counted for the app that it names, and a malformed request of its is not', async () => {
    const app = await addClient(service);
    const wrong = { ...app, clientSecret: 'wrong' };
    await exchange(service, wrong, 'x');
    await exchange(service, wrong, 'x', { code: undefined });
    await postAs(service, { ...app, clientSecret: '' }, 'token', { grant_type: 'refresh_token', refresh_token: 'x' });
    const { counted, failures } = await activityOf(app);
    assert.deepEqual(counted, { invalidClient: 3 });
    assert.deepEqual(failures, []);
  });

  test('the name of a public client proves nothing; a grant of its own does', async () => {
    const app = await addClient(service, { deviceFlow: true }, 'public');
    const named = { client_id: app.clientId };
    await post(service, 'token', { ...named, grant_type: 'authorization_code', code: 'x' });
    await post(service, 'token', { ...named, grant_type: 'refresh_token', refresh_token: 'x' });
    await post(service, 'token', { ...named, grant_type: DEVICE_GRANT, device_code: 'x' });
    await post(service, 'par', { ...named, request_uri: 'x' });
    await post(service, 'device_authorization', { ...named, scope: 'x' });
    const guessed = await activityOf(app);
    assert.deepEqual(guessed, { counted: { invalidRequest: 1, invalidGrant: 3, other: 1 }, failures: [] });

    const code = await standardCode(service, browser, app);
    await exchangeCode(service, app, code, { code_verifier: 'y'.repeat(43) });
    const [failure, ...others] = (await activityOf(app)).failures;
    assert.deepEqual([failure?.error, others.length], ['invalid_grant', 0]);
    assert.ok(failure?.grantId);
    await clients.pause(app.clientId, operator);
    await post(service, 'device_authorization', named);
    assert.equal((await activityOf(app)).failures.length, 1);
  });

  test('a request without an id or a secret is no guess', async () => {
    const app = await addClient(service);
    for (let n = 0; n < 40; n += 1) {
      const secretOnly = { ...app, clientId: undefined as unknown as string };
      assert.equal((await exchange(service, { ...app, clientSecret: '' }, 'x', { code: undefined })).status, 400);
      assert.equal((await exchange(service, secretOnly, 'x', { code: undefined })).status, 400);
    }
    assert.deepEqual(await activityOf(app), { counted: {}, failures: [] });
    assert.equal((await exchange(service, app, 'x')).body['error'], 'invalid_grant', 'nobody is turned away');
  });

  test('guesses that are turned away are counted as limited', async () => {
    const app = await addClient(service);
    const wrong = { ...app, clientSecret: 'wrong' };
    let status = 401;
    for (let n = 0; n < 100 && status === 401; n += 1) status = (await exchange(service, wrong, 'x')).status;
    const { counted, failures } = await activityOf(app);
    assert.equal(counted.limited, 1);
    assert.deepEqual(failures, []);
    service.clock.advance(60);
  });

  test('an app that nobody registered makes no row', async () => {
    const app = { clientId: 'app_nobody', clientSecret: 'x' };
    await exchange(service, app, 'x');
    await exchange(service, app, 'x', { code: undefined });
    assert.deepEqual(await activityOf(app), { counted: {}, failures: [] });
  });
});

test('the numbers of an app are those of what it and its users did', async () => {
  const app = await addClient(service);
  const pair = await obtainPair(service, browser, app);
  const next = pairOf(await refresh(service, app, pair.refreshToken));
  await refresh(service, app, pair.refreshToken);
  for (let n = 0; n < 3; n += 1) await me(service, next.accessToken);
  const server = await addResourceServer(service);
  await introspect(service, server, next.accessToken);
  const { counted, failures } = await activityOf(app);
  assert.deepEqual(counted, { allowed: 1, exchanges: 1, refreshes: 1, retries: 1, checks: 3, introspections: 1 });
  assert.deepEqual(failures, []);
});

test(`of an app at most ${MAX_FAILURES_PER_SECOND} failures in a second are recorded, and all are counted`, async () => {
  const app = await addClient(service);
  const fail = () => exchange(service, app, 'x', { code: undefined });
  await Promise.all(Array.from({ length: MAX_FAILURES_PER_SECOND + 5 }, fail));
  service.clock.advance(1);
  await fail();
  const { counted, failures } = await activityOf(app);
  assert.deepEqual(counted, { invalidRequest: MAX_FAILURES_PER_SECOND + 6 });
  assert.equal(failures.length, MAX_FAILURES_PER_SECOND + 1);
});

test('apps that fail are found among all', async () => {
  const app = await addClient(service);
  const good = await addClient(service);
  await obtainPair(service, browser, good);
  await exchange(service, app, 'x');
  await activity.flush();
  const failingSince = service.clock.now() - 3_600_000;
  const found: string[] = [];
  for await (const page of clients.list({ failingSince }, null)) found.push(...page.map(({ client }) => client.id));
  assert.deepEqual([found.includes(app.clientId), found.includes(good.clientId)], [true, false]);
});
