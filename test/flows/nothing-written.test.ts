/** Where nothing can be written, every command ends in a sentence and with 1: a table that is gone, and a full disk. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Ended, ProgramOnDisk } from '../support/program.ts';
import { PASSWORD, REDIRECT_URI } from '../support/service.ts';
import { NO_CHAIN } from '../support/storage.ts';

// A clean-up of its own would give back space on a disk that is full.
const server = await startPostgres({ autovacuum: 'off' });
after(() => server.remove());

/** As whom PostgreSQL runs where root runs the tests. */
const NOBODY = 65_534;

/** An installation with something of each kind; it answers the commands that write, and those that only read. */
async function inhabited(program: ProgramOnDisk, variables: Record<string, string> = {}) {
  const json = async (words: string[], input = '') => {
    const { code, stdout, stderr } = await runCommand(
      [...words, '--json'],
      { ...program.variables, ...variables },
      input,
    );
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as object;
  };
  const id = async (...words: string[]) =>
    Object.values(await json(words)).find((text) => /^(app|rs)_/.test(`${text}`));
  await json(['user', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--password-stdin'], PASSWORD);
  const client = String(await id('client', 'register', '--name', 'App', '--redirect-uri', REDIRECT_URI));
  const api = String(await id('resource-server', 'register', '--name', 'API'));
  await json(['scope', 'define', 'read', '--sentence', 'Read']);
  const product = ['--id', 'product', '--name', 'Photos', '--sign-in-url', 'https://app.example/sign-in'];
  await json(['identity-provider', 'register', ...product]);
  const people = join(program.folder, 'people.jsonl');
  writeFileSync(people, JSON.stringify({ email: 'grace@example.com', password_hash: `$2b$10$${'a'.repeat(53)}` }));
  const writing = [
    ['client', 'register', '--name', 'Other', '--redirect-uri', REDIRECT_URI],
    ['client', 'update', client, '--name', 'Renamed'],
    ['client', 'rotate-secret', client],
    ['client', 'pause', client],
    ['client', 'revoke-grants', client, '--yes'],
    ['client', 'delete', client, '--yes'],
    ['resource-server', 'register', '--name', 'Other'],
    ['resource-server', 'update', api, '--name', 'Renamed'],
    ['resource-server', 'rotate-secret', api],
    ['resource-server', 'delete', api, '--yes'],
    ['scope', 'define', 'write', '--sentence', 'Write'],
    ['user', 'add', '--email', 'bob@example.com', '--name', 'Bob', '--password-stdin'],
    ['user', 'import', people],
    ['user', 'link', 'ada@example.com', '--provider', 'product', '--subject', '4711'],
    ['user', 'update', 'ada@example.com', '--name', 'Renamed'],
    ['user', 'set-password', 'ada@example.com', '--password-stdin'],
    ['user', 'invite', 'ada@example.com'],
    ['user', 'disable', 'ada@example.com'],
    ['user', 'end-sessions', 'ada@example.com'],
    ['user', 'revoke-grants', 'ada@example.com', '--yes'],
    ['user', 'delete', 'ada@example.com', '--yes'],
    ['grant', 'revoke', '--all', '--yes'],
    ['database', 'note-backup'],
    ['database', 'restore', '--yes'],
  ];
  const reading = [
    ['client', 'list'],
    ['client', 'show', client],
    ['user', 'list'],
    ['user', 'import', '--status'],
    ['grant', 'list'],
    ['scope', 'list'],
    ['resource-server', 'list'],
    ['audit', 'list'],
    ['database', 'check'],
    ['database', 'migrate'],
  ];
  return { writing, reading };
}

/** One sentence for people, and no trace of the program's own. */
function assertSentence({ code, stderr }: Pick<Ended, 'code' | 'stderr'>, words: readonly string[]): void {
  const about = `${words.join(' ')}: ${stderr}`;
  assert.equal(code, 1, about);
  assert.match(stderr, /^valetkey: [^\n]+\n$/, about);
  assert.doesNotMatch(stderr, /\n? {4}at |Error:/, about);
}

/** In this process: there are a hundred commands. */
function run(program: ProgramOnDisk, words: string[], variables: Record<string, string>) {
  const input = words.includes('--password-stdin') ? 'another long password\n' : '';
  return runCommand(words, { ...program.variables, ...variables }, input);
}

test('operating: without the table of audit events every command that writes ends in a sentence, SQLite', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const { writing, reading } = await inhabited(program);
  const database = new DatabaseSync(join(program.folder, 'data/valetkey.db'));
  database.exec('DROP TABLE audit_event');
  database.close();
  for (const words of [...writing, ...reading]) assertSentence(await run(program, words, {}), words);
  assertSentence(await program.run(['serve']), ['serve']);
  const [words = []] = writing;
  assertSentence(await program.run(words), words);
});

test('operating: without the table of audit events every command that writes ends in a sentence, PostgreSQL', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const url = await server.createDatabase();
  const variables = { VALETKEY_DATABASE_URL: url };
  await program.json(['keys', 'generate', '--file', join(program.folder, 'keys')]);
  Object.assign(variables, { VALETKEY_KEYS_FILE: join(program.folder, 'keys') });
  assert.equal((await program.command(['database', 'migrate'], variables)).code, 0);
  const { writing } = await inhabited(program, variables);
  await server.query(url, 'DROP TABLE audit_event');
  for (const words of [...writing, ['audit', 'list']]) assertSentence(await run(program, words, variables), words);
});

/** A folder that is a file system of its own, so large (MB) and no larger, until the test ends; or why there is none. */
function smallDisk(t: TestContext, size: number): { readonly folder: string } | { readonly whyNot: string } {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-disk-'));
  t.after(() => {
    spawnSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true });
  });
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'none', folder]);
  return status === 0 ? { folder } : { whyNot: `no small disk can be mounted: ${error?.message ?? stderr}` };
}

/** Writes until not one byte more fits. */
function fill(path: string): void {
  const descriptor = openSync(path, 'w');
  try {
    for (const bytes of [65_536, 4096, 1]) {
      try {
        for (;;) writeSync(descriptor, Buffer.alloc(bytes));
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

test('operating: on a full disk every command that writes ends in a sentence, SQLite', async (t) => {
  const disk = smallDisk(t, 4);
  if ('whyNot' in disk) return t.skip(disk.whyNot);
  const program = await ProgramOnDisk.make(t);
  const variables = { VALETKEY_DATABASE_URL: `sqlite:${join(disk.folder, 'valetkey.db')}` };
  const { writing, reading } = await inhabited(program, variables);
  fill(join(disk.folder, 'ballast'));
  for (const words of writing) assertSentence(await run(program, words, variables), words);
  for (const words of reading) {
    const { code, stderr } = await run(program, words, variables);
    assert.ok(code === 0 || /^valetkey: [^\n]+\n$/.test(stderr), `${words.join(' ')}: ${stderr}`);
  }
  const keys = ['keys', 'generate', '--file', join(disk.folder, 'keys')];
  assertSentence(await run(program, keys, variables), keys);

  rmSync(join(disk.folder, 'ballast'));
  const service = new DatabaseSync(join(disk.folder, 'valetkey.db'));
  t.after(() => service.close());
  service.exec('SELECT 1 FROM audit_event');
  fill(join(disk.folder, 'ballast'));
  const { stderr } = await run(program, writing[0] ?? [], variables);
  assert.match(stderr, /the disk of the database is full: make room/, 'beside a service it says what to do');
});

test('operating: on a full disk every command that writes ends in a sentence, PostgreSQL', async (t) => {
  const disk = smallDisk(t, 32);
  if ('whyNot' in disk) return t.skip(disk.whyNot);
  chownSync(disk.folder, NOBODY, NOBODY);
  const program = await ProgramOnDisk.make(t);
  const [all, url] = [server.url('postgres'), server.url('on_small_disk')];
  await server.query(all, `CREATE TABLESPACE small LOCATION '${disk.folder}'`);
  await server.query(all, 'CREATE DATABASE on_small_disk TABLESPACE small');
  const variables = { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS_FILE: join(program.folder, 'keys') };
  await program.json(['keys', 'generate', '--file', variables.VALETKEY_KEYS_FILE]);
  assert.equal((await program.command(['database', 'migrate'], variables)).code, 0);
  const { writing } = await inhabited(program, variables);
  await server.query(url, 'CHECKPOINT'); // Only now are files gone whose tables are.
  fill(join(disk.folder, 'ballast'));
  const event = `INSERT INTO audit_event (at, action, actor_kind, actor_id, ${NO_CHAIN.columns})
    VALUES (0, 'sign_out', 'user', 'usr_x', ${NO_CHAIN.postgresql})`;
  const untilFull = async () => {
    for (;;) await server.query(url, event);
  };
  await assert.rejects(untilFull(), /No space left/);
  for (const words of writing) assertSentence(await run(program, words, variables), words);
});
