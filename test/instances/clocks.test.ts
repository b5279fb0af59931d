/** Instances whose clocks are wrong by minutes: the database's time counts, and is one for all. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { asJson, type TestClient } from '../support/flow.ts';
import { addClient, type TestService } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import {
  allowOn,
  assertionFields,
  authorizationRequest,
  exchangeCode,
  introspect,
  makeKey,
  post,
} from '../support/standard.ts';
import { SEED, TIMEOUT } from './effort.ts';
import type { Pair } from './history.ts';
import { BEHIND_BALANCER, furnish, newShared, startInstance } from './instances.ts';
import { judge } from './judge.ts';
import { ProcessInstance } from './process-instance.ts';
import type { Instance } from './recorder.ts';
import { newCode, newPair, outcomes, useEverywhere } from './uses.ts';

const MINUTE_MS = 60_000;
const SHIFTS = { ahead: 7 * MINUTE_MS, behind: -7 * MINUTE_MS, right: 0 };
const ACCESS_TOKEN_TTL_MS = 10_000;
const CODE_TTL_MS = 2000;
/** What reading a clock and a slow machine may make of a time. */
const ABOUT_MS = 1500;

const server = await sharedPostgres();
const ends: (() => Promise<void> | void)[] = [() => server.remove()];
after(async () => {
  for (const end of ends.toReversed()) await end();
});
const file = { after: (end: () => Promise<void> | void) => void ends.push(end) };

const shared = await newShared(server);
const admin = await startInstance(file, 'admin', shared);
const instances: ProcessInstance[] = [];
for (const [name, shift] of Object.entries(SHIFTS))
  instances.push(
    await ProcessInstance.make(file, name, shared, {
      NODE_OPTIONS: `--import=${new URL('shifted-clock.child.ts', import.meta.url)}`,
      CLOCK_SHIFT_MS: String(shift),
      VALETKEY_ACCESS_TOKEN_TTL: String(ACCESS_TOKEN_TTL_MS / 1000),
      VALETKEY_CODE_TTL: String(CODE_TTL_MS / 1000),
    }),
  );
await Promise.all(instances.map((instance) => instance.serve()));
const [ahead, behind, right] = instances as [ProcessInstance, ProcessInstance, ProcessInstance];
const installation = await furnish(instances, admin, shared, 1);
const { recorder } = installation;
const [person] = installation.people;
const key = makeKey();
const keyed = await addClient(admin, { keys: [key.jwk] });
await admin.stop();

describe(`instances whose clocks are ${MINUTE_MS * 7} ms ahead, behind and right (seed ${SEED})`, {
  timeout: TIMEOUT,
}, () => {
  const issued: { readonly pair: Pair; readonly at: number }[] = [];

  test('a token that any of them issues is good on all, and expires by the database', async () => {
    for (const at of instances) {
      const pair = await newPair(installation, at);
      issued.push({ pair, at: await databaseTime() });
      const expiries = await Promise.all(instances.map((one) => expiryOf(one, pair)));
      for (const expiry of expiries) assert.equal(expiry, expiries[0]);
      assertAbout(expiries[0] as number, (await databaseTime()) + ACCESS_TOKEN_TTL_MS);
      const introspected = await introspect(behind as unknown as TestService, recorder.api, pair.accessToken);
      assert.equal(introspected.body['exp'], Math.floor((expiries[0] as number) / 1000));
    }
    assert.deepEqual(
      await useEverywhere(
        installation,
        issued.map(({ pair }) => pair),
      ),
      ['done'],
    );
  });

  test('a form of one is posted to another, and a code of one is exchanged at another', async () => {
    for (const [at, other] of [
      [ahead, behind],
      [behind, ahead],
      [right, ahead],
    ] as const) {
      const allowed = await recorder.allow(person, at, other);
      assert.ok(allowed.kind === 'allow' && allowed.code, allowed.detail);
      assert.equal((await recorder.exchange(at, allowed.code)).outcome, 'done');
    }
    await judge(installation, server);
  });

  test('RFC 7523 §3, RFC 9126: an assertion is good at all of them, and what is pushed to one is used at another', async () => {
    for (const [at, other] of [
      [ahead, behind],
      [behind, ahead],
    ] as const) {
      const { client_id: _, ...request } = authorizationRequest(keyed);
      const pushed = await post(service(at), 'par', { ...request, ...(await assertion()) });
      assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
      const query = { client_id: keyed.clientId, request_uri: String(pushed.body['request_uri']) };
      const path = `/oauth2/authorize?${new URLSearchParams(query)}`;
      const page = await person.browser.get(other.appUrl + path);
      const code = (await allowOn(person.browser, { ...page, url: at.appUrl + path })).searchParams.get('code');
      const bare: TestClient = { ...keyed, clientSecret: '' };
      const exchanged = await exchangeCode(service(other), bare, String(code), await assertion());
      assert.equal(exchanged.status, 200, JSON.stringify(exchanged.body));
    }
  });

  test('a code ends on all of them when it has expired by the database', async () => {
    const codes = [await newCode(installation, ahead), await newCode(installation, behind)];
    await sleep(CODE_TTL_MS + 50);
    const exchanges = await Promise.all(codes.flatMap((code) => instances.map((at) => recorder.exchange(at, code))));
    assert.deepEqual(outcomes(exchanges), ['refused']);
  });

  test('an access token ends on all of them when it has expired by the database', async () => {
    for (const { pair, at } of issued) {
      const check = () => Promise.all(instances.map((one) => recorder.check(one, pair.accessToken)));
      await sleepUntil(at + ACCESS_TOKEN_TTL_MS - ABOUT_MS);
      if ((await databaseTime()) < at + ACCESS_TOKEN_TTL_MS - 500) assert.deepEqual(outcomes(await check()), ['done']);
      await sleepUntil(at + ACCESS_TOKEN_TTL_MS + 50);
      assert.deepEqual(outcomes(await check()), ['refused']);
    }
  });

  test('the clocks were wrong all the time, as the logs say', async () => {
    for (const [index, instance] of instances.entries()) {
      const [, time = ''] = /"time":"([^"]+)".*\n$/.exec(await instance.stop()) ?? [];
      assertAbout(Date.parse(time), Date.now() + (Object.values(SHIFTS)[index] as number), 20_000);
    }
  });
});

/** The server's clock, in ms since the epoch. */
async function databaseTime(): Promise<number> {
  const ask = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms';
  const [row] = await server.query<{ ms: number }>(shared.VALETKEY_DATABASE_URL, ask);
  return row?.ms as number;
}

async function sleepUntil(time: number): Promise<void> {
  await sleep(Math.max(0, time - (await databaseTime())));
}

/** Until when an instance says that an access token works, in ms since the epoch. */
async function expiryOf({ apiUrl }: Instance, { accessToken }: Pair): Promise<number> {
  const headers = { Authorization: `Bearer ${accessToken}` };
  const { body } = await asJson(await fetch(`${apiUrl}/v2/me`, { headers }));
  return Date.parse((body['authorization'] as { expires_at: string }).expires_at);
}

/** The fields of an assertion that is made by the right time. */
function assertion() {
  const issuer = { appUrl: BEHIND_BALANCER.VALETKEY_APP_URL, clock: { now: Date.now } } as unknown as TestService;
  return assertionFields(issuer, keyed, key);
}

/** An instance as the requests of the standard face take it, which need its addresses alone. */
function service(instance: Instance): TestService {
  return instance as unknown as TestService;
}

function assertAbout(actual: number, expected: number, most = ABOUT_MS): void {
  assert.ok(Math.abs(actual - expected) <= most, `${actual} is not about ${expected}`);
}
