/** Wrong sign-ins: whom the log line names, and what the audit trail keeps of them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_ACCOUNTS, WrongSignIns } from '../../../src/accounts/sign-in/wrong-sign-ins.ts';
import type { AuditEvent } from '../../../src/oauth/trail/audit.ts';
import { makeRootKey } from '../../../src/settings/root-keys.ts';
import { Browser } from '../../support/browser.ts';
import { signIn } from '../../support/flow.ts';
import { PATIENT } from '../../support/postgres.ts';
import { addUser, Clock, startTestService, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { storesOfRun } from '../../support/stores.ts';

const server = await sharedPostgres();
after(() => server.remove());

const told = ({ installation }: TestService) =>
  installation.audit.listAuditEvents({ action: 'wrong_sign_ins', limit: 99 });

async function wrong(service: TestService, email: string, password = 'a wrong password'): Promise<void> {
  assert.equal((await signIn(service, new Browser(), email, password)).status, 400);
}

test('Promise 4: a wrong sign-in names the account in its log line, or that there is none, and never what was typed', async (t) => {
  const service = await startTestService(t);
  const ada = await addUser(service);
  const off = await addUser(service, 'off@example.com', 'Off');
  await service.installation.accounts.disable(off.id, service.installation.operator);
  const cases: [email: string, password: string, id: string | null][] = [
    ['ada@example.com', 'a wrong password', ada.id],
    [' ADA@example.com', 'x'.repeat(1025), ada.id],
    ['off@example.com', 'a wrong password', off.id],
    ['my secret password', 'typed in the wrong field', null],
  ];
  for (const [email, password, id] of cases) {
    service.log.length = 0;
    await wrong(service, email, password);
    const line = service.log.find((each) => each.includes('"error":"wrong_credentials"')) ?? '{}';
    assert.equal((JSON.parse(line) as { account_id?: string | null }).account_id, id);
    assert.ok(!service.log.some((each) => each.includes(email.trim()) || each.includes(password)));
  }
});

const STORES: Record<string, (folder: string) => string | Promise<string>> = {
  SQLite: (folder) => `sqlite:${join(folder, 'valetkey.db')}`,
  PostgreSQL: () => server.createDatabase(),
};
for (const [name, database] of storesOfRun(STORES))
  describe(`Promise 4: wrong sign-ins in the trail, ${name}`, () => {
    test('an account has one event for an hour with their number, written once the hour is over or the service stops; an unknown one has none', async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
      const variables = { VALETKEY_DATABASE_URL: await database(folder), VALETKEY_KEYS: makeRootKey() };
      const service = await startTestService(t, variables, undefined, PATIENT);
      // Last of all: no database may vanish before it is closed.
      t.after(() => t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })));
      const [ada, bob] = [await addUser(service), await addUser(service, 'bob@example.com', 'Bob')];
      for (const email of [
        'ada@example.com',
        'nobody@example.com',
        'Ada@Example.com',
        'bob@example.com',
        'ada@example.com',
      ])
        await wrong(service, email);
      await signIn(service, new Browser());
      assert.deepEqual(await told(service), [], 'nothing is written for an answer');
      service.clock.advance(3600);
      while ((await told(service)).length < 2) await nextTurn();
      const first = await told(service);
      assert.deepEqual(
        first.map(({ resourceOwnerId, detail, actor }) => [resourceOwnerId, detail, actor.kind]).sort(),
        [
          [ada.id, '{"number":3,"hour":"2026-01-15T12:00:00.000Z"}', 'visitor'],
          [bob.id, '{"number":1,"hour":"2026-01-15T12:00:00.000Z"}', 'visitor'],
        ].sort(),
      );
      await wrong(service, 'ada@example.com');
      await service.stop();
      const again = await startTestService(t, variables, undefined, PATIENT);
      const all = await told(again);
      assert.deepEqual(all.slice(1), first, 'what was written stays as it was');
      assert.equal(all[0]?.detail, '{"number":1,"hour":"2026-01-15T13:00:00.000Z"}');
      assert.equal(all[0]?.resourceOwnerId, ada.id);
    });
  });

test('Promise 4: wrong sign-ins are counted in bounded memory, and told once though the database was away meanwhile', async () => {
  const clock = new Clock();
  const written: AuditEvent[] = [];
  let isAway = true;
  const store = {
    async recordSignInEvent(event: AuditEvent) {
      if (isAway) throw new Error('away');
      written.push(event);
    },
  };
  const counted = new WrongSignIns(store, clock.now);
  for (let n = 0; n < MAX_ACCOUNTS + 10; n += 1) counted.count(`usr_${n}`);
  counted.count('usr_0');
  counted.count(null);
  await counted.writeEnded();
  clock.advance(3600);
  await assert.rejects(counted.writeEnded(), /away/);
  isAway = false;
  await Promise.all([counted.writeEnded(), counted.writeEnded()]);
  assert.equal(written.length, MAX_ACCOUNTS);
  assert.equal(new Set(written.map(({ resourceOwnerId }) => resourceOwnerId)).size, MAX_ACCOUNTS);
  assert.deepEqual(written[0]?.detail, { number: 2, hour: new Date(clock.now() - 3_600_000).toISOString() });
  await counted.close();
  assert.equal(written.length, MAX_ACCOUNTS, 'nothing is told twice');
});
