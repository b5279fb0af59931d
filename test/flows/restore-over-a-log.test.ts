/** `database restore` where the log of the database before is still there: the restored file never meets a log that is not its own. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMPILED } from '../support/compiled.ts';
import { ProgramOnDisk } from '../support/program.ts';

const [MAIN, KILLED_AT] = ['../../src/main.ts', './killed-at.child.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string];

/** A program with a backup that has one app, and a database that has another one, which only its log holds. */
async function installation(t: TestContext) {
  const program = await ProgramOnDisk.make(t);
  const register = (name: string) =>
    program.json(['client', 'register', '--name', name, '--redirect-uri', 'https://app.example/callback']);
  await register('In the backup');
  const backup = join(program.folder, 'backup.db');
  await program.json(['database', 'backup', backup]);
  const path = join(program.folder, 'data/valetkey.db');
  const reader = new DatabaseSync(path);
  // So that the log cannot begin anew.
  reader.exec('BEGIN; SELECT count(*) FROM client');
  for (let n = 0; n < 2; n += 1) await register(`In the log ${n}`);
  const copies = new Map(['', '-wal'].map((end) => [end, readFileSync(path + end)] as const));
  /** Puts the database with its log back as a killed service leaves it. */
  const leave = (ends: readonly ('' | '-wal')[] = ['', '-wal']) => {
    for (const name of readdirSync(join(program.folder, 'data')))
      if (name.startsWith('valetkey.db')) rmSync(join(program.folder, 'data', name));
    for (const end of ends) writeFileSync(path + end, copies.get(end) as Buffer);
  };
  const names = async () => {
    const { code, stdout, stderr } = await program.command(['client', 'list', '--json']);
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name).toSorted();
  };
  const isSound = async () => assert.equal((await program.command(['database', 'check'])).code, 0);
  const kept = () =>
    readdirSync(join(program.folder, 'data'))
      .filter((name) => name.includes('.before-'))
      .map((name) => join(program.folder, 'data', name));
  const file = copies.get('') as Buffer;
  const log = copies.get('-wal') as Buffer;
  return { program, backup, path, file, log, reader, leave, kept, names, isSound };
}

/** Runs the program until it kills itself at a step of a restore. */
async function killed(program: ProgramOnDisk, backup: string, step: RegExp, when: string) {
  const env = {
    ...{ PATH: process.env['PATH'], ...COMPILED, ...program.variables },
    ...{ KILLED_AT: step.source, KILLED_WHEN: when },
  };
  const words = ['--import', KILLED_AT, MAIN, 'database', 'restore', backup, '--yes'];
  const child = spawn(process.execPath, words, { env, stdio: 'ignore' });
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL'], `it did not come ${when} ${step}`);
}

test('a database file that is gone while its log remained: the restored database does not take up the log, which is kept', async (t) => {
  const { program, backup, path, log, reader, leave, names, isSound } = await installation(t);
  reader.close();
  leave(['-wal']);
  const refused = await program.command(['client', 'list']);
  assert.match(refused.stderr, /is gone, and its log .*-wal is still there: put the file back beside the log/);
  assert.equal((await program.command(['database', 'migrate'])).code, 1);
  assert.deepEqual([existsSync(path), readFileSync(`${path}-wal`)], [false, log], 'no command touches either');

  const restored = await program.json(['database', 'restore', backup, '--yes']);
  assert.deepEqual(readFileSync(String(restored['kept_database'])), log);
  assert.deepEqual(await names(), ['In the backup']);
  await isSound();
});

test('a database whose log somebody reads is not restored, and stays as it is; one that somebody only has open is', async (t) => {
  const { program, backup, reader, kept, names, isSound } = await installation(t);
  const before = await names();
  const refused = await program.command(['database', 'restore', backup, '--yes']);
  assert.match(refused.stderr, /another program reads or writes the database .* end it, and run this again/);
  assert.equal(refused.code, 1);
  assert.deepEqual([await names(), kept()], [before, []]);

  reader.exec('COMMIT');
  await program.json(['database', 'restore', backup, '--yes']);
  assert.deepEqual(await names(), ['In the backup']);
  assert.equal(reader.prepare('SELECT count(*) AS n FROM client').get()?.['n'], 3, 'it goes on with what it had');
  reader.close();
  assert.deepEqual(await names(), ['In the backup']);
  await isSound();
});

/** What a restore may find, and what it does one after another. */
const FOUND = {
  'a database file that is gone': (path: string) => rmSync(path),
  'a damaged database file': (path: string) => {
    const file = readFileSync(path);
    writeFileSync(path, file.fill(0x20, 0, 16));
  },
} as const;
const STEPS = ['link .*-wal ', 'link valetkey.db valetkey', 'writeFile .*-half-restored', 'rm .*-wal$']
  .concat('rename .*restoring valetkey.db$', 'rm .*-half-restored$')
  .map((step) => new RegExp(step));

for (const [what, damage] of Object.entries(FOUND))
  test(`${what}, with its log: a restore that is killed at any step has lost nothing, and the same command then works`, async (t) => {
    const { program, backup, path, file, log, reader, leave, kept, names, isSound } = await installation(t);
    reader.close();
    const isGone = what.endsWith('gone');
    for (const step of STEPS.filter(({ source }) => !isGone || !source.startsWith('link valetkey')))
      for (const when of ['before', 'after']) {
        leave();
        damage(path);
        await killed(program, backup, step, when);
        // At every moment both are there, together; or what is there cannot be opened.
        const isMarked = existsSync(`${path}-half-restored`);
        const isDone = step.source.startsWith('rm .*-half') && when === 'after';
        if (!isMarked && !isDone) assert.deepEqual(readFileSync(`${path}-wal`), log, `${when} ${step}`);
        const { code, stderr } = await program.command(['client', 'list']);
        assert.equal(code, isDone ? 0 : 1, `${when} ${step}`);
        if (!isMarked && !isDone) {
          // A command that meets a damaged file has SQLite write the log into it.
          leave();
          damage(path);
        }
        if (isMarked) assert.match(stderr, /was cut off, .* run "database restore FILE" again/);
        for (const words of [['database', 'migrate'], ['database', 'restore', '--yes'], ['doctor']])
          if (isMarked) assert.match((await program.command(words)).stdout + stderr, /was cut off/);

        await program.json(['database', 'restore', backup, '--yes']);
        assert.deepEqual(await names(), ['In the backup'], `${when} ${step}`);
        await isSound();
        const logs = kept().filter((name) => name.endsWith('-wal'));
        assert.ok(logs.some((name) => readFileSync(name).equals(log)));
        if (!isGone)
          assert.ok(kept().some((name) => !name.endsWith('-wal') && readFileSync(name).length === file.length));
        assert.deepEqual(
          readdirSync(join(program.folder, 'data')).filter((name) => /-wal$|restor/.test(name) && !/before/.test(name)),
          [],
          'nothing is left',
        );
      }
  });
