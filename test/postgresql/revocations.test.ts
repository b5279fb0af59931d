/** The stream of revocations while an event of the trail is hidden behind a transaction that has not settled. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import pg from 'pg';
import { createVerifier } from '../../packages/verify/src/verifier.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { signedInBrowser } from '../support/flow.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { RevocationStream } from '../support/revocation-stream.ts';
import { addClient, addUser, startTestService, type TestService } from '../support/service.ts';
import { addResourceServer, basic, standardPair, type TestResourceServer } from '../support/standard.ts';
import { NO_CHAIN } from '../support/storage.ts';
import { until } from '../support/until.ts';

const server = await startPostgres();
after(() => server.remove());

async function setUp(t: TestContext) {
  const url = await server.createDatabase();
  const service = await startTestService(
    t,
    { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: makeRootKey() },
    undefined,
    PATIENT,
  );
  return { service, url, api: await addResourceServer(service) };
}

/** A transaction that has drawn a place in the trail, and has not settled. */
async function openPlace(
  t: TestContext,
  url: string,
): Promise<{ pid: number; end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  client.on('error', () => {}); // The server may be made to crash.
  await client.query('BEGIN');
  await client.query(
    `INSERT INTO audit_event (at, action, actor_kind, actor_id, client_id, ${NO_CHAIN.columns})
     VALUES (0, 'client_paused', 'operator', 'slow', 'app_slow', ${NO_CHAIN.postgresql})`,
  );
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return { pid: rows[0]?.pid ?? assert.fail(), end: async (how) => void (await client.query(how)) };
}

/** A verifier as an API has it, which tells how often it asked. */
function verifierOf(t: TestContext, { appUrl, clock }: TestService, { id, secret }: TestResourceServer) {
  const asked = { times: 0 };
  const verifier = createVerifier({
    issuer: appUrl,
    id,
    secret,
    now: clock.now,
    onProblem: () => {},
    fetch: (...request) => {
      asked.times += 1;
      return fetch(...request);
    },
  });
  t.after(() => verifier.close());
  return { asked, check: async (token: string) => (await verifier.check(`Bearer ${token}`)).ok };
}

const statusOf = async ({ appUrl }: TestService, { id, secret }: TestResourceServer) => {
  const leaving = new AbortController();
  const { status } = await fetch(`${appUrl}/oauth2/revocations`, {
    headers: basic(id, secret),
    signal: leaving.signal,
  });
  leaving.abort();
  return status;
};

test('RFC 7662 §4, Promise 2: an API trusts no kept answer for longer than a second while a revocation is hidden behind an open transaction', async (t) => {
  const { service, url, api } = await setUp(t);
  const { id: person } = await addUser(service);
  const { accessToken } = await standardPair(service, await signedInBrowser(service), await addClient(service));
  const { asked, check } = verifierOf(t, service, api);
  const isKept = async () => {
    const before = asked.times;
    return (await check(accessToken)) && asked.times === before;
  };
  await until(isKept, 5000);

  const { end } = await openPlace(t, url);
  const { accounts, operator } = service.installation;
  await accounts.revokeGrants(person, operator);
  const revoked = performance.now();
  // As of when a check began: how long it takes is the machine's.
  for (let begun = revoked; await check(accessToken); begun = performance.now())
    assert.ok(begun - revoked < 1000, `a revoked token was trusted ${begun - revoked} ms later`);
  await end('COMMIT');
  assert.equal(await check(accessToken), false);
});

test('interface: while an event is hidden no stream says that it is up to date, and none begins; then all is told', async (t) => {
  const { service, url, api } = await setUp(t);
  const told = await RevocationStream.open(t, service, api);
  const { pid, end } = await openPlace(t, url);
  const { clientId } = await addClient(service);
  const heard = told.heard.length;
  await service.installation.clients.pause(clientId, service.installation.operator);
  const paused = performance.now();
  let hasEnded = false;
  void told.ended.then(() => {
    hasEnded = true;
  });
  await until(async () => (await statusOf(service, api)) === 503, 2000);
  assert.equal(hasEnded, false, 'a stream that is there is silent for a while');
  await told.ended;
  // What was read before the pause may have been under way.
  assert.deepEqual(
    told.heard.slice(heard).filter((at) => at > paused + 100),
    [],
  );
  assert.equal(told.events.length, 1);
  const line =
    service.log.find((each) => each.includes('all streams of revocations end: the audit trail cannot be read')) ??
    assert.fail('no line');
  assert.match(line, new RegExp(`held up .*\\b${pid}\\b`));
  assert.equal(await statusOf(service, api), 503);
  await end('COMMIT');
  const again = await RevocationStream.open(t, service, api);
  await service.installation.clients.resume(clientId, service.installation.operator);
  await service.installation.clients.pause(clientId, service.installation.operator);
  await again.next('revoked', { client_id: clientId });
});

test('interface: what was hidden for a moment is told in its place, to streams that stay', async (t) => {
  const { service, url, api } = await setUp(t);
  const told = await RevocationStream.open(t, service, api);
  const { clientId } = await addClient(service);
  const { end } = await openPlace(t, url);
  await service.installation.clients.pause(clientId, service.installation.operator);
  const silentSince = told.heard.length;
  await end('COMMIT');
  await told.next('revoked', { client_id: clientId });
  assert.deepEqual(
    told.events.map(({ data }) => data),
    [{}, { client_id: 'app_slow' }, { client_id: clientId }],
  );
  await until(() => told.heard.length > silentSince + 3, 2000);
});

test('interface: a place that stays empty because its transaction was undone does not silence a stream', async (t) => {
  const { service, url, api } = await setUp(t);
  const told = await RevocationStream.open(t, service, api);
  const { end } = await openPlace(t, url);
  await end('ROLLBACK');
  const { clientId } = await addClient(service);
  await service.installation.clients.pause(clientId, service.installation.operator);
  await told.next('revoked', { client_id: clientId });
  assert.equal(told.events.length, 2);
});

test('interface: a place whose transaction died with the server does not silence a stream', async (t) => {
  const { service, url, api } = await setUp(t);
  const { clientId } = await addClient(service);
  await openPlace(t, url);
  await server.crash();
  await until(async () => (await statusOf(service, api)) === 200, 5000);
  const told = await RevocationStream.open(t, service, api);
  await service.installation.clients.pause(clientId, service.installation.operator);
  await told.next('revoked', { client_id: clientId });
  assert.equal(told.events.length, 2);
});
