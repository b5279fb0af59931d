/** A backup is made while the service works, and restored: what was acknowledged is in it, and what must not come back ends. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { assertRefused, exchange, me, obtainCode, obtainPair, refresh } from '../support/flow.ts';
import { inhabited } from '../support/inhabited.ts';
import type { Serving } from '../support/program.ts';

/** Ends a service as an operator does. */
async function stop({ child, ended }: Serving): Promise<void> {
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
}

test('a backup that is made while the service runs is whole, and nobody but its owner can read it', async () => {
  const { program, service, browser, client } = await inhabited({ after });
  await obtainPair(service, browser, client);
  const file = join(program.folder, 'backup.db');
  const made = await program.json(['database', 'backup', file]);
  assert.equal(made['bytes'], statSync(file).size);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(program.folder).sort(), ['backup.db', 'data'], 'nothing is left beside it');

  const again = await program.run(['database', 'backup', file]);
  assert.match(again.stderr, /is there already: name another file, or give --replace/);
  assert.equal(again.code, 1);
  await program.json(['database', 'backup', file, '--replace']);
});

test('a backup is not served before it was restored, and then its grants, codes and sessions have ended', async () => {
  const { program, serving, service, browser, client } = await inhabited({ after });
  const pair = await obtainPair(service, browser, client);
  const code = await obtainCode(service, browser, client);
  const file = join(program.folder, 'backup.db');
  await program.json(['database', 'backup', file]);

  const early = await program.run(['database', 'restore', file]);
  assert.match(early.stderr, /another service has the database .* stop it first/);
  await stop(serving);

  const asIs = { VALETKEY_DATABASE_URL: `sqlite:${file}` };
  assert.match((await program.run(['serve'], asIs)).stderr, /is a backup .* run "database restore"/);

  const restored = await program.json(['database', 'restore', file]);
  assert.ok(existsSync(String(restored['kept_database'])), 'the database before it is kept');
  const anew = await program.serve();
  assertRefused(await refresh(service, client, pair.refreshToken), 400, 'invalid_grant');
  assertRefused(await exchange(service, client, code), 400, 'invalid_grant');
  assert.equal((await me(service, pair.accessToken)).status, 401);
  const page = await browser.get(`${service.appUrl}/account/apps`);
  assert.match(page.body, /name="password"/, 'the session ended');
  const actions = (await program.run(['audit', 'list', '--json'])).stdout;
  assert.match(actions, /database_restored/);
  await stop(anew);
});
