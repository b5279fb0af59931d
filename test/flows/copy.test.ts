/** An installation moves from SQLite to PostgreSQL and back: whoever held something goes on with it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { runCommand } from '../support/command.ts';
import { me, obtainPair, pairOf, refresh } from '../support/flow.ts';
import { assertGoesOn, assertStaysDead, browserWith, inhabit } from '../support/held.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { freePort, type Lifetime, startTestService, type TestService } from '../support/service.ts';

const server = await startPostgres();
after(() => server.remove());

/** An installation that serves on one pair of addresses, on whatever database. */
async function movable(t: Lifetime) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const variables = {
    VALETKEY_APP_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_API_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_KEYS: makeRootKey(),
  };
  return {
    file: (name: string) => `sqlite:${join(folder, name)}`,
    serve: (database: string, methods = 'password') => {
      const settings = { VALETKEY_DATABASE_URL: database, VALETKEY_SIGN_IN_METHODS: methods };
      return startTestService(t, { ...variables, ...settings }, undefined, PATIENT);
    },
    async copy(from: string, to: string) {
      const { code, stderr } = await runCommand(['database', 'copy', from, to, '--json'], variables);
      assert.deepEqual([code, stderr], [0, ''], 'with --json there is no progress to read');
    },
  };
}

const trailOf = ({ installation }: TestService) => installation.audit.listAuditEvents({ limit: 1000 });

test('operating: after a copy to PostgreSQL, and back, every live credential works and every dead one stays dead', async (t) => {
  const { file, serve, copy } = await movable(t);
  const [before, there, back] = [file('before.db'), await server.createDatabase(), file('back.db')];
  const service = await serve(before);
  const held = await inhabit(service);
  const trail = await trailOf(service);
  await service.stop();

  await copy(before, there);
  const moved = await serve(there, 'password,product');
  const next = await assertGoesOn(moved, held);
  const longer = await trailOf(moved);
  assert.deepEqual(longer.slice(-trail.length), trail);
  assert.equal(longer.at(-trail.length - 1)?.sequence, (trail[0]?.sequence ?? 0) + 1, 'it goes on after the last');
  await moved.installation.accounts.revokeGrants('ada@example.com', moved.installation.operator);
  const newest = await obtainPair(moved, browserWith(held.cookies), held.app);
  const longest = await trailOf(moved);
  await moved.stop();

  await copy(there, back);
  const returned = await serve(back);
  await assertStaysDead(returned, { ...held, dead: [...held.dead, next] });
  const last = pairOf(await refresh(returned, held.app, newest.refreshToken));
  assert.equal((await me(returned, last.accessToken)).status, 200);
  assert.deepEqual((await trailOf(returned)).slice(-longest.length), longest);
  await returned.stop(); // A database that vanishes under a service ends the process.
});
