/** docs/runbooks/recovery.md: the way back to a point in time on PostgreSQL, by its commands as they stand, on a server with a real archive. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, type TestContext, test } from 'node:test';
import { grantIdText } from '../../src/oauth/grants/grant.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
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
import { addClient, addUser, freePort, startTestService, type TestService } from '../support/service.ts';
import { patternOf, readSteps, writeValetkey } from './transcript.ts';

const HEADING = 'PostgreSQL, back to a point in time';
const document = readFileSync(new URL('../../docs/runbooks/recovery.md', import.meta.url), 'utf8');
const steps = readSteps(document.split(/^## /m).find((part) => part.startsWith(`${HEADING}\n`)) ?? '');

/** A server with an archive, and the folders of the runbook. */
async function place(t: TestContext) {
  const server = await startPostgresOfTools({ fsync: 'on', full_page_writes: 'on' });
  after(() => server.remove());
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-archive-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['', 'archive', 'backup', 'bin']) {
    mkdirSync(join(folder, name), { recursive: true });
    const { uid, gid } = server.owner;
    if (uid !== undefined && gid !== undefined) chownSync(join(folder, name), uid, gid);
  }
  writeValetkey(join(folder, 'bin'));
  return { server, folder };
}

/** Runs a line in a shell: one of PostgreSQL as the user of the server. */
async function shell(line: string, server: PostgresServer, env: Record<string, string>) {
  const owner = line.startsWith('valetkey') ? {} : server.owner;
  const child = spawn('bash', ['-c', line], { ...owner, cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'] });
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

test('runbook: PostgreSQL goes back to a point in time, without what was revoked since', {
  skip: POSTGRES_TOOLS === undefined && 'there is no pg_basebackup with a server of its version here',
}, async (t) => {
  const { server, folder } = await place(t);
  const url = await server.createDatabase();
  const common = {
    VALETKEY_APP_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_API_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_KEYS: makeRootKey(),
    VALETKEY_DATABASE_URL: url,
  };
  const environment: Record<string, string> = {
    ...{ HOME: folder, ...COMPILED, ...common },
    PATH: [join(folder, 'bin'), POSTGRES_TOOLS, process.env['PATH']].join(delimiter),
    ...{
      PGHOST: '127.0.0.1',
      PGPORT: String(server.port),
      PGUSER: 'postgres',
      PGDATABASE: 'postgres',
      PGDATA: server.data,
    },
  };
  let service: TestService = await startTestService(t, common);
  await addUser(service);
  const client = await addClient(service);
  const browser = await signedInBrowser(service);

  /** Runs the next steps, up to the one that begins with a word, which is left for later. */
  const walk = async (until: string | null): Promise<void> => {
    for (let [step] = steps; step && (until === null || !step.command.startsWith(until)); [step] = steps) {
      steps.shift();
      const { command, answer } = step;
      if (command === 'systemctl stop valetkey') await service.stop();
      else if (command === 'systemctl start valetkey') service = await startTestService(t, common, service.clock);
      else if (command === 'systemctl stop postgresql') await server.stop();
      else if (command === 'systemctl start postgresql') await server.start();
      else if (command === 'systemctl restart postgresql') {
        await server.stop();
        await server.start();
      } else {
        const here = command.replaceAll('/archive/', `${folder}/archive/`).replaceAll('/backup/', `${folder}/backup/`);
        const { code, stdout, stderr } = await shell(here, server, environment);
        assert.equal(code, 0, `${command}\n${stdout}${stderr}`);
        assert.match(stdout, patternOf(answer), command);
      }
    }
  };

  const allow = async () => {
    service.clock.advance(1); // The ids of grants are in the order of time.
    return obtainPair(service, browser, client);
  };
  const ofBase = await allow();
  await walk('systemctl stop valetkey'); // All that stands before the emergency.
  const [kept, rotated] = [await allow(), await allow()];
  const revoked = await allow();
  const [newest] = await service.installation.grants.list({ limit: 1 });
  const code = await obtainCode(service, browser, client);
  const [now] = await server.query<{ at: string }>(url, 'SELECT clock_timestamp()::text AS at');
  environment['TIME'] = String(now?.at);
  const later = await allow();
  const newer = pairOf(await refresh(service, client, rotated.refreshToken));
  const { grants, operator } = service.installation;
  await grants.revoke(grantIdText((newest as { grant: { id: Buffer } }).grant.id), operator);

  await walk(null);
  for (const { accessToken, refreshToken } of [ofBase, kept]) {
    assert.equal((await me(service, accessToken)).status, 200, 'what was answered before that time works');
    pairOf(await refresh(service, client, refreshToken));
  }
  for (const ended of [revoked, later]) {
    assert.equal((await me(service, ended.accessToken)).status, 401);
    assertRefused(await refresh(service, client, ended.refreshToken), 400, 'invalid_grant');
  }
  assertRefused(await exchange(service, client, code), 400, 'invalid_grant', 'codes end');
  assert.equal((await me(service, newer.accessToken)).status, 401, 'a newer access token is only refused');
  assert.equal((await me(service, rotated.accessToken)).status, 200);
  assertRefused(await refresh(service, client, newer.refreshToken), 400, 'invalid_grant');
  assert.equal((await me(service, rotated.accessToken)).status, 401, 'a newer refresh token ends the grant');
  await service.stop();
});
