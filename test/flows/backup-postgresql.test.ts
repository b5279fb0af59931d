/** A dump of PostgreSQL, made beside the service by its own tools and restored by the commands of docs/operating/backup.md. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { writeValetkey } from '../docs/transcript.ts';
import { runCommand } from '../support/command.ts';
import { COMPILED } from '../support/compiled.ts';
import {
  assertRefused,
  exchange,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  refresh,
  signedInBrowser,
} from '../support/flow.ts';
import { POSTGRES_TOOLS, type PostgresServer, startPostgresOfTools } from '../support/postgres.ts';
import { addClient, addUser, freePort, startTestService } from '../support/service.ts';

/** The commands of the document: how a dump is made, and how it is put in place and made fit to be served. */
const document = readFileSync(new URL('../../docs/operating/backup.md', import.meta.url), 'utf8');
const chapter = document.split(/^## /m).find((part) => part.startsWith('Backups of PostgreSQL\n')) ?? '';
const [, DUMP = ''] = /`(pg_dump [^`]*)`/.exec(chapter) ?? [];
const [, block = ''] = /^```\n(.*?)^```/ms.exec(chapter) ?? [];
const [CREATE = '', FILL = '', END = '', ...more] = block
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
assert.deepEqual(
  [more, CREATE.split(' ')[0], FILL.split(' ')[0], END],
  [[], 'createdb', 'pg_restore', 'valetkey database restore --yes'],
);

const skip = POSTGRES_TOOLS === undefined && 'there are no PostgreSQL tools with a server of their version here';
const server = POSTGRES_TOOLS === undefined ? null : await startPostgresOfTools();
after(() => server?.remove());
await server?.query(server.url('postgres'), 'CREATE ROLE valetkey LOGIN');
let databases = 0;

/** A service on a database of its own, the commands there, and a folder for its dump. */
async function installation(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-dump-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const common = {
    VALETKEY_APP_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_API_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_KEYS: makeRootKey(),
  };
  const run = async (words: string[], url: string) => {
    const { code, stdout, stderr } = await runCommand(words, { ...common, VALETKEY_DATABASE_URL: url });
    return { code, stdout, stderr };
  };
  mkdirSync(join(folder, 'bin'));
  writeValetkey(join(folder, 'bin'));
  const { port, url: urlOf } = server as PostgresServer;
  /** Runs a line of the document in a shell, as an administrator who is where the dump is. */
  const shell = (line: string, variables: Record<string, string>) =>
    promisify(execFile)('sh', ['-c', line], {
      cwd: folder,
      env: {
        ...{ HOME: folder, ...COMPILED, ...common, ...variables },
        ...{ PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' },
        PATH: [join(folder, 'bin'), POSTGRES_TOOLS, process.env['PATH']].join(delimiter),
      },
    });
  const dump = (url: string) => shell(DUMP, { URL: url });
  /** Puts the dump into another database, and returns its address. */
  const restored = async (): Promise<string> => {
    databases += 1;
    const name = `valetkey_restored_${databases}`;
    const restoredUrl = urlOf(name).replace('postgres@', 'valetkey@');
    await shell(CREATE.replace('valetkey_restored', name), {});
    await shell(FILL, { NEW_URL: restoredUrl });
    return restoredUrl;
  };
  const end = (url: string, more = '') => shell(END + more, { VALETKEY_DATABASE_URL: url });
  const serve = (at: string) => startTestService(t, { ...common, VALETKEY_DATABASE_URL: at });
  const url = await (server as PostgresServer).createDatabase();
  const service = await serve(url);
  await addUser(service);
  const client = await addClient(service);
  const browser = await signedInBrowser(service);
  return { folder, dump, run, restored, end, serve, url, service, client, browser };
}

test('operating: pg_dump beside the service, pg_restore, and database restore end every grant, or keep what was not revoked', {
  skip,
}, async (t) => {
  const { folder, dump, run, restored, end, serve, url, service, client, browser } = await installation(t);
  const kept = await obtainPair(service, browser, client);
  service.clock.advance(1); // The ids of grants are in the order of time.
  const revoked = await obtainPair(service, browser, client);
  service.clock.advance(1);
  const code = await obtainCode(service, browser, client);
  await dump(url);
  assert.match((await run(['database', 'backup', 'x.db'], url)).stderr, /has its own ways/);
  assert.equal((await run(['database', 'note-backup'], url)).code, 0);
  const [, newer] = await service.installation.grants.list({ limit: 2 });
  await service.installation.grants.revoke(
    (newer as { grant: { id: Buffer } }).grant.id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    service.installation.operator,
  );
  assert.match((await run(['database', 'restore', '--yes'], url)).stderr, /an instance of the service is connected/);
  const trail = join(folder, 'trail.jsonl');
  const { stdout } = await run(['audit', 'export'], url);
  writeFileSync(trail, stdout);
  await service.stop();

  for (const keep of [false, true]) {
    const restoredUrl = await restored();
    await assert.rejects(serve(restoredUrl), /was served elsewhere, .* run "database restore"/);
    await end(restoredUrl, keep ? ` --keep-tokens --audit ${trail}` : '');
    const anew = await serve(restoredUrl);
    assertRefused(await exchange(anew, client, code), 400, 'invalid_grant');
    assertRefused(await refresh(anew, client, revoked.refreshToken), 400, 'invalid_grant');
    if (keep) pairOf(await refresh(anew, client, kept.refreshToken));
    else assertRefused(await refresh(anew, client, kept.refreshToken), 400, 'invalid_grant');
    await anew.stop();
  }
});

test('a drill: with --keep-tokens, what was acknowledged before a dump under load began works after it', {
  skip,
}, async (t) => {
  const { dump, run, restored, serve, url, service, client, browser } = await installation(t);
  const quiet = await obtainPair(service, browser, client);
  const busy = await Promise.all(
    Array.from({ length: 4 }, async () => ({ pair: await obtainPair(service, browser, client), count: 0 })),
  );
  const exchanged: Awaited<ReturnType<typeof obtainPair>>[] = [];
  let isOver = false;
  const working = [
    ...busy.map(async (worker) => {
      for (; !isOver; worker.count += 1) worker.pair = pairOf(await refresh(service, client, worker.pair.refreshToken));
    }),
    (async () => {
      while (!isOver) exchanged.push(await obtainPair(service, browser, client));
    })(),
  ];
  const goOn = async (exchanges: number) => {
    const from = busy.map(({ count }) => count);
    const most = exchanged.length + exchanges;
    while (busy.some(({ count }, at) => count < (from[at] as number) + 3) || exchanged.length < most)
      await new Promise(setImmediate);
  };
  await goOn(3);
  const rotated = pairOf(await refresh(service, client, quiet.refreshToken));
  const before = [...exchanged];
  await dump(url);
  await goOn(1);
  isOver = true;
  await Promise.all(working);
  await service.stop();

  const restoredUrl = await restored();
  const untold = await run(['database', 'restore', '--keep-tokens', '--yes'], restoredUrl);
  assert.match(untold.stderr, /would keep grants that were revoked since the backup/);
  const { code, stderr } = await run(['database', 'restore', '--keep-tokens', '--without-audit', '--yes'], restoredUrl);
  assert.equal(code, 0, stderr);
  const anew = await serve(restoredUrl);
  assert.equal((await me(anew, quiet.accessToken)).status, 200, 'an access token from before a rotation works');
  for (const { accessToken, refreshToken } of [rotated, ...before]) {
    assert.equal((await me(anew, accessToken)).status, 200);
    pairOf(await refresh(anew, client, refreshToken));
  }
  // Each of these was rotated after the dump: whoever else holds the row's token has to be taken for a thief.
  for (const { pair } of busy) {
    assert.equal((await me(anew, pair.accessToken)).status, 401, 'a newer access token is refused');
    assertRefused(await refresh(anew, client, pair.refreshToken), 400, 'invalid_grant');
  }
  const conflicts = await anew.installation.audit.listAuditEvents({ action: 'refresh_conflict', limit: 9 });
  assert.equal(conflicts.length, busy.length, 'each of them ended its grant');
});
