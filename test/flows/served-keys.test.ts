/** Keys that have served an installation do not begin another while its database is away; and the record that instances agree on. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { Clock, type Lifetime, startTestService } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const server = await sharedPostgres();
after(() => server.remove());

const COMMENT = /^# Serves the installation ([0-9a-f]{32})\b/gm;
const MISSING = /have served the installation [0-9a-f]{32}, .*restore its database, mount the volume.*new keys file/;

const STORES: [name: string, database: (program: ProgramOnDisk) => string | Promise<string>][] = [
  ['SQLite', (program) => `sqlite:${join(program.folder, 'db/valetkey.db')}`],
  ['PostgreSQL', () => server.createDatabase()],
];

async function stopped(
  serving: Promise<{ child: { kill(signal: 'SIGTERM'): unknown }; ended: Promise<{ stderr: string }> }>,
) {
  const { child, ended } = await serving;
  child.kill('SIGTERM');
  return (await ended).stderr;
}

/** What the service logs from its start to its end, in this process: there are many. */
async function logged(t: Lifetime, program: ProgramOnDisk, variables: Record<string, string>): Promise<string> {
  const clock = new Clock();
  clock.advance((Date.now() - clock.now()) / 1000); // Commands have the time of the machine.
  const { stop, log } = await startTestService(t, { ...program.variables, ...variables }, clock);
  await stop();
  return log.join('');
}

/** One command in this process: there are many. */
function run(program: ProgramOnDisk, words: string[], variables: Record<string, string> = {}) {
  return runCommand(words, { ...program.variables, ...variables });
}

/** Has the keys serve an installation, as any command that opens a database may. */
async function begun(program: ProgramOnDisk, variables: Record<string, string> = {}): Promise<void> {
  const { code, stderr } = await run(program, ['database', 'migrate'], variables);
  assert.equal(code, 0, stderr);
}

for (const [store, place] of STORES)
  describe(`Promise 1: keys and their database, ${store}`, { concurrency: 2 }, () => {
    /** A program with a keys file that never served, and a database that is not made yet. */
    async function prepared(t: Parameters<typeof ProgramOnDisk.make>[0]) {
      const program = await ProgramOnDisk.make(t);
      const keys = join(program.folder, 'data/keys');
      mkdirSync(join(program.folder, 'data'));
      await program.json(['keys', 'generate', '--file', keys]);
      const at = (url: string) => ({ VALETKEY_DATABASE_URL: url });
      return { program, keys, at, database: at(await place(program)) };
    }
    /** Another database, with nothing in it. */
    const elsewhere = async (program: ProgramOnDisk) =>
      store === 'SQLite' ? `sqlite:${join(program.folder, 'other/valetkey.db')}` : server.createDatabase();

    test('keys that never served begin an installation, which is told in one line and noted in their file', async (t) => {
      const { program, keys, database } = await prepared(t);
      const before = readFileSync(keys, 'utf8');
      const said = await stopped(program.serve(database));
      assert.equal(said.match(/a new installation begins/g)?.length, 1, said);
      const noted = readFileSync(keys, 'utf8');
      assert.ok(noted.startsWith(before), 'nothing in the file is lost');
      assert.equal([...noted.matchAll(COMMENT)].length, 1);
      assert.equal(statSync(keys).mode & 0o777, 0o600);
      assert.deepEqual(readdirSync(join(program.folder, 'data')), ['keys'], 'no draft is left');
      const { ino } = statSync(keys);
      assert.doesNotMatch(await stopped(program.serve(database)), /a new installation begins/);
      assert.equal(statSync(keys).ino, ino, 'it is written once');
    });

    test('keys that have served are refused where there is no database of theirs, and nothing is made', async (t) => {
      const { program, keys, at, database } = await prepared(t);
      await begun(program, database);
      const empty = at(await elsewhere(program));
      for (const command of [
        ['serve'],
        ['user', 'add', '--email', 'a@example.com', '--name', 'A'],
        ['database', 'migrate'],
      ]) {
        const { code, stderr } = await run(program, command, empty);
        assert.equal(code, 1, stderr);
        assert.match(stderr, MISSING, command.join(' '));
      }
      assert.ok(!readdirSync(program.folder).includes('other'));
      const fresh = { VALETKEY_KEYS_FILE: join(program.folder, 'fresh') };
      await program.json(['keys', 'generate', '--file', fresh.VALETKEY_KEYS_FILE]);
      assert.match(await logged(t, program, { ...empty, ...fresh }), /a new installation begins/);
      assert.notEqual(readFileSync(keys, 'utf8'), readFileSync(fresh.VALETKEY_KEYS_FILE, 'utf8'));
      await begun(program, database);
    });

    test('keys that cannot carry the note begin another installation, and that is told', async (t) => {
      const { program, keys, at, database } = await prepared(t);
      chmodSync(keys, 0o400);
      const said = await logged(t, program, database);
      assert.equal(said.match(/cannot record its installation/g)?.length, 1, said);
      const text = readFileSync(keys, 'utf8');
      const given = {
        ...at(await elsewhere(program)),
        VALETKEY_KEYS: text.split('\n')[1] ?? '',
        VALETKEY_KEYS_FILE: '',
      };
      const again = await logged(t, program, given);
      assert.match(again, /a new installation begins/);
      assert.doesNotMatch(again, /cannot record its installation/);
      assert.equal(readFileSync(keys, 'utf8'), text);
    });

    test('starts at once, through a link, leave one whole file with one note', async (t) => {
      const { program, keys, database } = await prepared(t);
      renameSync(keys, join(program.folder, 'real'));
      symlinkSync(join(program.folder, 'real'), keys);
      await begun(program, database);
      const noted = readFileSync(join(program.folder, 'real'), 'utf8');
      assert.ok(lstatSync(keys).isSymbolicLink());
      const unnoted = noted.replace(/^# Serves.*\n/m, '');
      assert.notEqual(unnoted, noted);
      writeFileSync(join(program.folder, 'real'), unnoted);
      const others = await Promise.all([ProgramOnDisk.make(t), ProgramOnDisk.make(t), ProgramOnDisk.make(t)]);
      const starts = others.map((other) =>
        other.run(['serve'], {
          ...database,
          VALETKEY_KEYS_FILE: keys,
          VALETKEY_APP_URL: program.appUrl,
          VALETKEY_APP_LISTEN: 'nowhere.invalid:1',
        }),
      );
      for (const { code } of await Promise.all(starts)) assert.equal(code, 1);
      assert.equal([...readFileSync(keys, 'utf8').matchAll(COMMENT)].length, 1);
      assert.deepEqual(readdirSync(join(program.folder, 'data')), ['keys']);
      assert.ok(!readdirSync(program.folder).some((name) => name.endsWith('.new')));
    });

    test('an instance that is set otherwise says so, and "database check" names the command that changes the record', async (t) => {
      const { program, database } = await prepared(t);
      await begun(program, database);
      const base = { VALETKEY_PAGES_BASE_PATH: '/connect' };
      const other = { ...database, ...base, VALETKEY_CODE_TTL: '30', VALETKEY_APP_URL: program.apiUrl };
      const said = await logged(t, program, other);
      assert.equal(said.match(/VALETKEY_CODE_TTL is 30 here and 60 in .*database adopt-settings/g)?.length, 1, said);
      assert.match(said, /VALETKEY_PAGES_BASE_PATH is \/connect here and empty in/);
      assert.match(said, new RegExp(`VALETKEY_APP_URL is ${program.apiUrl} here and ${program.appUrl} in`));
      const check = async () => {
        const { stdout } = await run(program, ['database', 'check', '--json'], other);
        return (JSON.parse(stdout) as { name: string; ok: boolean; detail: string }[]).find(
          ({ name }) => name === 'variables',
        );
      };
      const wrong = await check();
      assert.equal(wrong?.ok, false);
      assert.match(wrong?.detail ?? '', /VALETKEY_CODE_TTL is 30 .*"database adopt-settings"/);
      const adopted = await run(program, ['database', 'adopt-settings', '--json'], other);
      assert.deepEqual(JSON.parse(adopted.stdout), [
        { variable: 'VALETKEY_APP_URL', before: program.appUrl, now: program.apiUrl },
        { variable: 'VALETKEY_PAGES_BASE_PATH', before: '', now: '/connect' },
        { variable: 'VALETKEY_CODE_TTL', before: '60', now: '30' },
      ]);
      assert.equal((await check())?.ok, true);
      assert.doesNotMatch(await logged(t, program, other), /in the installation's record/);
      const again = await run(program, ['database', 'adopt-settings'], other);
      assert.deepEqual([again.code, again.stdout], [0, 'The recorded settings are the same already.\n']);
    });

    test('another token prefix is refused at every start, and nothing changes', async (t) => {
      const { program, database } = await prepared(t);
      await begun(program, database);
      for (const command of [['serve'], ['database', 'adopt-settings'], ['client', 'list']]) {
        const { code, stderr } = await run(program, command, { ...database, VALETKEY_TOKEN_PREFIX: 'acme' });
        assert.equal(code, 1);
        assert.match(stderr, /begin with vk_, and VALETKEY_TOKEN_PREFIX is acme: set it to vk/);
      }
    });

    test('keys that lack the one that the service issues with are refused, though nothing rests on it yet', async (t) => {
      const { program, keys, database } = await prepared(t);
      const old = readFileSync(keys, 'utf8');
      await begun(program, database);
      const rotated = await program.command(['keys', 'rotate'], database);
      assert.equal(rotated.code, 0, rotated.stderr);
      const [newer = ''] = /^vk_rk_.*$/m.exec(readFileSync(keys, 'utf8')) ?? [];
      assert.ok(newer && !old.includes(newer));
      writeFileSync(keys, old);
      const { code, stderr } = await program.run(['serve'], database);
      assert.equal(code, 1);
      assert.match(stderr, /made with other keys \([0-9a-f]{8}\): give all root keys/);
      writeFileSync(keys, newer);
      await logged(t, program, database);
    });
  });

test('Promise 1: a database that is gone with its volume is refused in the same way, though its folder is there', async (t) => {
  const program = await ProgramOnDisk.make(t);
  await begun(program);
  for (const name of readdirSync(join(program.folder, 'data')))
    if (name !== 'keys') rmSync(join(program.folder, 'data', name));
  const { code, stderr } = await program.run(['serve']);
  assert.equal(code, 1);
  assert.match(stderr, MISSING);
  assert.deepEqual(readdirSync(join(program.folder, 'data')), ['keys']);
});

test('Promise 1: "database copy" is exempt: keys that have served take their installation elsewhere, and back', async (t) => {
  const program = await ProgramOnDisk.make(t);
  await begun(program);
  const [source = '', there, back] = [
    program.variables['VALETKEY_DATABASE_URL'],
    await server.createDatabase(),
    `sqlite:${join(program.folder, 'back.db')}`,
  ];
  const { copied } = await program.json(['database', 'copy', source, there]);
  assert.equal(copied, true);
  await program.json(['database', 'copy', there, back]);
  for (const database of [there, back]) {
    const said = await logged(t, program, { VALETKEY_DATABASE_URL: database });
    assert.doesNotMatch(said, /a new installation begins|in the installation's record/);
  }
});
