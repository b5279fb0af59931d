/** What the documents and the shipped files have people run: no password where the list of processes shows it. */
import assert from 'node:assert/strict';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { startPostgres } from '../support/postgres.ts';
import { ProgramOnDisk } from '../support/program.ts';

const ROOT = new URL('../../', import.meta.url);
const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: ROOT });
const SHIPPED = [
  'compose.yaml',
  'Dockerfile',
  ...globSync(['deploy/*.*', 'deploy/shared-host/*', 'src/cli/*.ts'], { cwd: ROOT }),
];
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');

/** A password as a variable of one command, as an option, or in an address. */
const PASSWORD =
  /\b\w*PASS(WORD|PHRASE)?=(?!\$\()|--pass(word|phrase)?[= ](?!stdin)|\b-u \S+:|\b\w+:\/\/[^\s/:@'"`]+:[^\s/@'"`]+@/;
/** A line of a file with variables, or what the shell itself writes: nobody sees those in the list of processes. */
const IN_A_FILE = /^(# )?[A-Z_]+=\S*( in \/etc\/.*)?$|^printf '/;

const onCommandLines = (text: string) =>
  text.split('\n').filter((line) => PASSWORD.test(line) && !IN_A_FILE.test(line.trim()));

test('design: no document has a password on a command line', () => {
  for (const file of DOCUMENTS) {
    const blocks = [...read(file).matchAll(/^```\w*\n(.*?)^```/gms)].map(([, block = '']) => block);
    assert.deepEqual(blocks.flatMap(onCommandLines), [], `${file}: use standard input or a file`);
  }
});

test('design: no script that is shipped and no help of a command has a password on a command line', () => {
  for (const file of SHIPPED) assert.deepEqual(onCommandLines(read(file)), [], file);
});

test('design: what is looked for is found', () => {
  for (const line of [
    'sudo -u valetkey env PGPASSWORD=… valetkey database copy a b',
    'docker run -e POSTGRES_PASSWORD=hush postgres',
    'user add --password hush',
    'user add --password=hush',
    'database copy sqlite:a postgres://valetkey:hush@db.example/valetkey',
    'VALETKEY_DATABASE_URL=postgres://a:b@c/d npm start',
  ])
    assert.deepEqual(onCommandLines(line), [line]);
});

test('operating: the password of the database is read from a file, .pgpass', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const rules = join(folder, 'pg_hba.conf');
  writeFileSync(rules, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n', {
    mode: 0o644,
  });
  const server = await startPostgres({ hba_file: rules });
  t.after(() => server.remove());
  const url = await server.createDatabase();
  await server.query(
    url,
    `CREATE ROLE valetkey LOGIN PASSWORD 'hush'; ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO valetkey`,
  );
  const variables = {
    VALETKEY_DATABASE_URL: url.replace('postgres@', 'valetkey@'),
    VALETKEY_KEYS: makeRootKey(),
  };
  const program = await ProgramOnDisk.make(t);
  const migrate = () => program.run(['database', 'migrate'], { ...variables, VALETKEY_KEYS_FILE: '' });
  const asked = await migrate();
  assert.equal(asked.code, 1);
  assert.match(asked.stderr, /asks for a password, and neither its URL nor \.pgpass has one: add a line/);
  // The home of the user that runs the program is the folder of the test.
  writeFileSync(join(program.folder, '.pgpass'), `127.0.0.1:${server.port}:*:valetkey:hush\n`, { mode: 0o600 });
  const { code, stderr } = await migrate();
  assert.deepEqual([code, stderr.replace(/^.* a new installation begins .*$/m, '').trim()], [0, '']);
});
