/** A dump of PostgreSQL, made beside the service by its own tools and restored by the commands of docs/operating.md. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { runCommand } from '../support/command.ts';
import { assertRefused, exchange, obtainCode, obtainPair, pairOf, refresh, signedInBrowser } from '../support/flow.ts';
import { startPostgres } from '../support/postgres.ts';
import { addClient, addUser, freePort, startTestService } from '../support/service.ts';

/** The newest tools on this machine with a server of their own version: a dump is made by tools of the server's version or later. */
const tools = globSync('/usr/lib/postgresql/*/bin/pg_dump').map(dirname).sort().at(-1);

test('operating: pg_dump beside the service, pg_restore, and database restore end every grant, or keep what was not revoked', {
  skip: tools === undefined && 'there are no PostgreSQL tools with a server of their version here',
}, async (t) => {
  const before = process.env['PG_BIN'];
  process.env['PG_BIN'] = String(tools);
  const server = await startPostgres().finally(() => {
    if (before === undefined) delete process.env['PG_BIN'];
    else process.env['PG_BIN'] = before;
  });
  after(() => server.remove());
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-dump-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const dump = join(folder, 'valetkey.dump');
  const common = {
    VALETKEY_APP_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_API_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_KEYS: makeRootKey(),
  };
  const run = async (words: string[], url: string) => {
    const { code, stdout, stderr } = await runCommand(words, { ...common, VALETKEY_DATABASE_URL: url });
    return { code, stdout, stderr };
  };
  const url = await server.createDatabase();
  const service = await startTestService(t, { ...common, VALETKEY_DATABASE_URL: url });
  await addUser(service);
  const client = await addClient(service);
  const browser = await signedInBrowser(service);
  const kept = await obtainPair(service, browser, client);
  service.clock.advance(1); // The ids of grants are in the order of time.
  const revoked = await obtainPair(service, browser, client);
  service.clock.advance(1);
  const code = await obtainCode(service, browser, client);
  execFileSync(join(String(tools), 'pg_dump'), ['--format=custom', `--file=${dump}`, url]);
  assert.match((await run(['database', 'backup', 'x.db'], url)).stderr, /has its own ways/);
  assert.equal((await run(['database', 'note-backup'], url)).code, 0);
  const [, newer] = await service.installation.grants.list({ limit: 2 });
  await service.installation.grants.revoke(
    (newer as { grant: { id: Buffer } }).grant.id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    service.installation.operator,
  );
  assert.match((await run(['database', 'restore'], url)).stderr, /an instance of the service is connected/);
  const trail = join(folder, 'trail.jsonl');
  const { stdout } = await run(['audit', 'export'], url);
  execFileSync('tee', [trail], { input: stdout, stdio: ['pipe', 'ignore', 'inherit'] });
  await service.stop();

  for (const keep of [false, true]) {
    const restoredUrl = await server.createDatabase();
    const restoring = ['--exit-on-error', '--single-transaction', '--no-owner', '--dbname', restoredUrl, dump];
    execFileSync(join(String(tools), 'pg_restore'), restoring);
    const words = keep ? ['database', 'restore', '--keep-tokens', '--audit', trail] : ['database', 'restore'];
    const restored = await run(words, restoredUrl);
    assert.equal(restored.code, 0, restored.stderr);
    const anew = await startTestService(t, { ...common, VALETKEY_DATABASE_URL: restoredUrl });
    assertRefused(await exchange(anew, client, code), 400, 'invalid_grant');
    assertRefused(await refresh(anew, client, revoked.refreshToken), 400, 'invalid_grant');
    if (keep) pairOf(await refresh(anew, client, kept.refreshToken));
    else assertRefused(await refresh(anew, client, kept.refreshToken), 400, 'invalid_grant');
    await anew.stop();
  }
});
