/** The clock steps back an hour, as where it was set wrong: on both stores, while the service runs and before it starts again. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import {
  assertRefused,
  auditActions,
  exchange,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  refresh,
  signedInBrowser,
} from '../support/flow.ts';
import { PATIENT } from '../support/postgres.ts';
import { addClient, addUser, Clock, freePort, startTestService, type TestService } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { addResourceServer, DEVICE_GRANT, introspect, postAs } from '../support/standard.ts';

const HOUR = 3600;

const server = await sharedPostgres();
after(() => server.remove());

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
    // Last of all: no database may vanish before it is closed.
    t.after(() => t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })));
    return `sqlite:${join(folder, 'valetkey.db')}`;
  },
  PostgreSQL: () => server.createDatabase(),
};

/** What happens to the service at the step. */
const steps: Readonly<
  Record<string, (service: TestService, again: () => Promise<TestService>) => Promise<TestService>>
> = {
  'while it runs': async (service) => {
    service.clock.advance(-HOUR);
    return service;
  },
  'before it starts again': async (service, again) => {
    await service.stop();
    service.clock.advance(-HOUR);
    return again();
  },
};

for (const [store, database] of Object.entries(stores))
  for (const [when, step] of Object.entries(steps))
    describe(`promise 3: an hour back on ${store}, ${when}`, () => {
      /** A service with Ada and an app; `stepBack` answers the service as it is after the step. */
      const begin = async (t: TestContext) => {
        const variables = {
          VALETKEY_APP_URL: `http://127.0.0.1:${await freePort()}`,
          VALETKEY_API_URL: `http://127.0.0.1:${await freePort()}`,
          VALETKEY_KEYS: makeRootKey(),
          VALETKEY_DATABASE_URL: await database(t),
        };
        const clock = new Clock();
        const start = () => startTestService(t, variables, clock, PATIENT);
        const service = await start();
        await addUser(service);
        const client = await addClient(service);
        const browser = await signedInBrowser(service);
        return { service, client, browser, stepBack: () => step(service, start) };
      };

      test('an old refresh token works no more, nothing is revoked, the current one rotates and heals', async (t) => {
        const { service, client, browser, stepBack } = await begin(t);
        const first = await obtainPair(service, browser, client);
        service.clock.advance(60);
        const second = pairOf(await refresh(service, client, first.refreshToken));
        service.clock.advance(HOUR / 2);
        const later = await stepBack();
        assertRefused(await refresh(later, client, first.refreshToken), 400, 'invalid_grant');
        const third = pairOf(await refresh(later, client, second.refreshToken));
        assert.equal((await me(later, third.accessToken)).status, 200);
        assert.deepEqual(pairOf(await refresh(later, client, second.refreshToken)), third, 'in the overlap as always');
        const actions = await auditActions(later);
        assert.ok(!actions.includes('refresh_reuse') && !actions.includes('code_replay'), actions.join(' '));
      });

      test('access tokens and codes do not outlive their time, for /v2/me and for introspection', async (t) => {
        const { service, client, browser, stepBack } = await begin(t);
        const api = await addResourceServer(service);
        const pair = await obtainPair(service, browser, client);
        const code = await obtainCode(service, browser, client);
        assert.equal((await me(service, pair.accessToken)).status, 200);
        assert.equal((await introspect(service, api, pair.accessToken)).body['active'], true);
        const later = await stepBack();
        assert.equal((await me(later, pair.accessToken)).status, 401);
        assert.deepEqual((await introspect(later, api, pair.accessToken)).body, { active: false });
        assertRefused(await exchange(later, client, code), 400, 'invalid_grant');
        later.clock.advance(HOUR - 59);
        assert.equal((await me(later, pair.accessToken)).status, 200, 'its own time has come');
        assert.equal((await me(later, pair.accessToken)).status, 200);
        pairOf(await exchange(later, client, code));
      });

      test("a device's code does not outlive its time, and its pair is not shared again", async (t) => {
        const { service, browser, stepBack } = await begin(t);
        const tv = await addClient(service, { deviceFlow: true }, 'public');
        const codes = async () => (await postAs(service, tv, 'device_authorization')).body;
        const [fetched, allowed] = [await codes(), await codes()];
        for (const { verification_uri_complete } of [fetched, allowed]) {
          const shown = await browser.get(String(verification_uri_complete));
          await browser.submit(shown, '/device', { decision: 'allow' });
        }
        const poll = (at: TestService, { device_code }: Record<string, unknown>) =>
          postAs(at, tv, 'token', { grant_type: DEVICE_GRANT, device_code: String(device_code) });
        assert.equal((await poll(service, fetched)).status, 200);
        const later = await stepBack();
        assertRefused(await poll(later, fetched), 400, 'invalid_grant');
        assertRefused(await poll(later, allowed), 400, 'expired_token');
        assert.ok(!(await auditActions(later)).includes('code_replay'));
      });
    });
