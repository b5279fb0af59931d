/** A database that others can reach is warned of when the service starts, and served all the same. */
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { crossesNetworkInClear } from '../../src/storage/postgresql/connection/reach.ts';
import { startPostgres } from '../support/postgres.ts';
import { ProgramOnDisk } from '../support/program.ts';

const server = await startPostgres();
after(() => server.remove());

/** The warnings that a service logs until it has ended. */
async function warningsOf(program: ProgramOnDisk, variables: Record<string, string> = {}): Promise<string[]> {
  const { child, ended } = await program.serve(variables);
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines
    .map((line) => JSON.parse(line) as { level: string; msg: string })
    .filter(({ level }) => level === 'warn')
    .map(({ msg }) => msg);
}

test('design: a database file or folder that others can read or write is warned of, with the remedy', async (t) => {
  const program = await ProgramOnDisk.make(t);
  assert.deepEqual(await warningsOf(program), [], 'what the service makes is for its owner alone');
  const folder = join(program.folder, 'data');
  const database = join(folder, 'valetkey.db');
  const cases: [path: string, mode: number, warning: string | null][] = [
    [database, 0o644, `others can read ${database} (mode 644): run "chmod 600 ${database}*"`],
    [database, 0o660, `others can read and write ${database} (mode 660): run "chmod 600 ${database}*"`],
    [database, 0o602, `others can write ${database} (mode 602): run "chmod 600 ${database}*"`],
    [database, 0o600, null],
    [folder, 0o755, `others can read ${folder} (mode 755): run "chmod 700 ${folder}"`],
    [folder, 0o730, `others can write ${folder} (mode 730): run "chmod 700 ${folder}"`],
    [folder, 0o711, null],
  ];
  for (const [path, mode, warning] of cases) {
    chmodSync(path, mode);
    const warnings = await warningsOf(program);
    chmodSync(path, path === database ? 0o600 : 0o700);
    assert.deepEqual(
      warnings.map((sentence) => sentence.slice(0, warning?.length)),
      warning === null ? [] : [warning],
    );
  }
});

test('design: PostgreSQL over a network without TLS is warned of, with the remedy and without the password', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const url = await server.createDatabase();
  const keys = ['keys', 'generate', '--file', program.variables['VALETKEY_KEYS_FILE'] ?? ''];
  assert.equal((await program.command(keys)).code, 0);
  assert.deepEqual(await warningsOf(program, { VALETKEY_DATABASE_URL: url }), []);
  // An address of this machine that does not look like one: what matters is what the URL says.
  const far = url.replace('postgres@127.0.0.1', 'postgres:hush@0.0.0.0');
  const [warning = '', ...more] = await warningsOf(program, { VALETKEY_DATABASE_URL: far });
  assert.deepEqual(more, []);
  assert.match(
    warning,
    /^the database at 0\.0\.0\.0:\d+\/\w+ is reached over a network without TLS: .*"\?sslmode=verify-full"/,
  );
  assert.doesNotMatch(warning, /hush/);
  const [again] = await warningsOf(program, { VALETKEY_DATABASE_URL: `${far}?target_session_attrs=read-write` });
  assert.match(again ?? '', /"&sslmode=verify-full"/);
});

test('design: doctor finds a database that is reached over a network without TLS, or whose file others can read', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const keys = { VALETKEY_KEYS: makeRootKey(), VALETKEY_KEYS_FILE: '' };
  const found = async (url: string) => {
    const { stdout } = await program.command(['doctor', '--json'], { ...keys, VALETKEY_DATABASE_URL: url });
    const all = JSON.parse(stdout) as { name: string; verdict: string; detail: string; remedy: string | null }[];
    const { verdict, detail, remedy } = all.find(({ name }) => name === 'reach') ?? assert.fail(stdout);
    assert.doesNotMatch(stdout, /hush/);
    return `${verdict}: ${detail}: ${remedy}`;
  };
  const own = program.variables['VALETKEY_DATABASE_URL'] ?? '';
  assert.equal((await program.command(['database', 'migrate'], keys)).code, 0);
  assert.match(await found(own), /^ok: /);
  chmodSync(join(program.folder, 'data/valetkey.db'), 0o644);
  assert.match(await found(own), /^wrong: others can read .*valetkey\.db \(mode 644\): run "chmod 600 /);

  const url = await server.createDatabase();
  assert.equal((await program.command(['database', 'migrate'], { ...keys, VALETKEY_DATABASE_URL: url })).code, 0);
  assert.match(await found(url), /^ok: /);
  const far = url.replace('postgres@127.0.0.1', 'postgres:hush@0.0.0.0');
  assert.match(
    await found(far),
    /^wrong: the database at 0\.0\.0\.0:\d+\/\w+ is reached over a network without TLS: .*sslmode=verify-full/,
  );
});

const near = ['127.0.0.1', '127.9.9.9', 'localhost', '[::1]', '%2Fvar%2Frun%2Fpostgresql'];
const withTls = ['require', 'verify-ca', 'verify-full'];
for (const [url, isInClear] of [
  ...near.map((host) => [`postgres://x@${host}/x`, false] as const),
  ...withTls.map((mode) => [`postgres://x@db.example/x?sslmode=${mode}`, false] as const),
  ['postgres://x@db.example/x', true],
  ['postgres://x@10.0.0.1:5433/x?sslmode=disable', true],
  ['postgres://x@127.example/x', true],
  ['postgres://x@localhost.example/x', true],
  ['postgres:///x', false],
  ['postgres:///x?host=/run/postgresql', false],
  ['postgres:///x?host=db.example', true],
] as const)
  test(`design: ${url} is ${isInClear ? 'in clear over a network' : 'not in clear over a network'}`, () => {
    assert.equal(crossesNetworkInClear(url), isInClear);
  });
