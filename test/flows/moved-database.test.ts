/** A database that is moved away or replaced under the running program: no write that began since is acknowledged. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, type TestContext, test } from 'node:test';
import { me, obtainPair, pairOf, refresh } from '../support/flow.ts';
import { inhabited } from '../support/inhabited.ts';
import { ProgramOnDisk, type Serving } from '../support/program.ts';
import { REDIRECT_URI } from '../support/service.ts';

/** What happens to a folder with a database, what is said of it, and how it is taken back. */
type Act = readonly [name: string, act: (folder: string) => void, said: RegExp, undo?: (folder: string) => void];

const replace = (path: string) => {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
};
const move = (from: string, to: string) => (folder: string) => renameSync(join(folder, from), join(folder, to));
const ACTS: readonly Act[] = [
  ['moved away', move('valetkey.db', 'away'), /moved away/, move('away', 'valetkey.db')],
  ['replaced by a copy', (folder) => replace(join(folder, 'valetkey.db')), /replaced/],
  ['removed with its folder', (folder) => rmSync(folder, { recursive: true }), /moved away/],
  ['moved with its folder', move('.', '../away'), /moved away/, move('../away', '.')],
  ['left by its log', move('valetkey.db-wal', 'away'), /-wal was moved away/, move('away', 'valetkey.db-wal')],
  ['given another log', (folder) => replace(join(folder, 'valetkey.db-wal')), /-wal was replaced/],
];

/** Overwrites the database file, which stays one and the same file, by one of the copies beside its folder. */
const overwrite = (copy: string) => (folder: string) =>
  copyFileSync(join(folder, '..', copy), join(folder, 'valetkey.db'));
const IN_PLACE: readonly Act[] = [
  ["overwritten by another installation's", overwrite('other.db'), /overwritten/],
  ['overwritten by an older copy of its own', overwrite('older.db'), /overwritten/],
  ['overwritten by a backup made while it was served', overwrite('backup.db'), /overwritten/],
  ['truncated to nothing', (folder) => truncateSync(join(folder, 'valetkey.db')), /overwritten/],
];

/** Another installation. */
const other = await ProgramOnDisk.make({ after });
await other.json(['database', 'migrate']);

/** Puts beside the folder of a database that is not served yet a copy as it is. */
async function copyOlder(program: ProgramOnDisk): Promise<void> {
  await program.json(['database', 'migrate']);
  copyFileSync(join(program.folder, 'data/valetkey.db'), join(program.folder, 'older.db'));
}

/** Puts beside the folder of a database that is served what else its file can be overwritten by. */
function copyOthers({ folder }: ProgramOnDisk): void {
  copyFileSync(join(other.folder, 'data/valetkey.db'), join(folder, 'other.db'));
  const shell = new DatabaseSync(join(folder, 'data/valetkey.db'));
  shell.prepare('VACUUM INTO ?').run(join(folder, 'backup.db'));
  shell.close();
}

/** A program that is served, with copies beside its folder. */
async function amongCopies(t: TestContext): Promise<{ readonly program: ProgramOnDisk; readonly serving: Serving }> {
  const program = await ProgramOnDisk.make(t);
  await copyOlder(program);
  const serving = await program.serve();
  copyOthers(program);
  return { program, serving };
}

/** Ends with one line about it, which says what to do. */
function assertTold({ code, stderr }: { code: number | null; stderr: string }, said: RegExp): void {
  assert.equal(code, 1, stderr);
  const fatal = stderr.split('\n').filter((line) => line.includes('"level":"fatal"'));
  assert.equal(fatal.length, 1, stderr);
  const { msg } = JSON.parse(fatal[0] as string) as { msg: string };
  assert.match(msg, said);
  assert.match(msg, /put .* start again/);
}

/** Four workers refresh for ever; answers what was acknowledged, as the times at which it began, and what they hold. */
async function underLoad({ service, browser, client }: Awaited<ReturnType<typeof inhabited>>) {
  const acknowledged: number[] = [];
  const workers = await Promise.all(
    Array.from({ length: 4 }, async () => ({ pair: await obtainPair(service, browser, client) })),
  );
  const work = async (kept: (typeof workers)[number]) => {
    for (;;) {
      const began = performance.now();
      kept.pair = pairOf(await refresh(service, client, kept.pair.refreshToken));
      acknowledged.push(began);
    }
  };
  const working = Promise.allSettled(workers.map(work));
  while (acknowledged.length < 20) await new Promise((resolve) => setImmediate(resolve));
  return { acknowledged, workers, working };
}

describe('Promise 1: a database that vanished', { concurrency: 2 }, () => {
  for (const [place, [name, act, said, undo]] of [...ACTS, ...IN_PLACE].entries()) {
    test(`under load, a database that was ${name} acknowledges nothing that began since, and the process ends`, async (t) => {
      const sync = place % 2 === 0 ? 'awaited' : 'full';
      const begun = await inhabited(t, { VALETKEY_SQLITE_SYNC: sync }, copyOlder);
      const { program, service, serving } = begun;
      copyOthers(program);
      const { acknowledged, workers, working } = await underLoad(begun);
      act(join(program.folder, 'data'));
      const since = performance.now();
      const ended = await serving.ended;
      assertTold(ended, said);
      assert.doesNotMatch(ended.stderr, /disk failed/, 'writes that were pending are told the reason as well');
      await working;
      assert.equal(acknowledged.filter((began) => began > since).length, 0);
      if (!undo) return;
      undo(join(program.folder, 'data'));
      await program.serve();
      for (const { pair } of workers) assert.equal((await me(service, pair.accessToken)).status, 200);
    });
  }

  for (const [name, act, said] of [...ACTS.slice(0, 3), ...IN_PLACE]) {
    test(`while nobody asks for anything, a database that was ${name} is noticed`, async (t) => {
      const { program, serving } = await amongCopies(t);
      assert.equal((await fetch(`${program.appUrl}/readyz`)).status, 200);
      act(join(program.folder, 'data'));
      assertTold(await serving.ended, said);
      await assert.rejects(fetch(`${program.appUrl}/readyz`), 'nothing says that it is ready');
    });
  }

  test('a file that is truncated while it is read is told as such, whatever SQLite says first', async (t) => {
    const program = await ProgramOnDisk.make(t);
    const { ended } = await program.serve();
    const asking = (async () => {
      for (;;) await fetch(`${program.appUrl}/readyz`);
    })();
    truncateSync(join(program.folder, 'data/valetkey.db'));
    await assert.rejects(asking);
    assertTold(await ended, /overwritten/);
  });

  test('what its file was overwritten by stays as it is when the process has ended', async (t) => {
    const { program, serving } = await amongCopies(t);
    await program.json(['client', 'register', '--name', 'App', '--redirect-uri', REDIRECT_URI]);
    overwrite('other.db')(join(program.folder, 'data'));
    await serving.ended;
    const [there, other] = ['data/valetkey.db', 'other.db'].map((name) => readFileSync(join(program.folder, name)));
    assert.ok(there?.equals(other as Buffer));
  });

  test('commands, backups and changes of the schema beside the service do not end it', async (t) => {
    const { program, serving } = await amongCopies(t);
    const shell = new DatabaseSync(join(program.folder, 'data/valetkey.db'));
    shell.exec('VACUUM; CREATE TABLE one (x); PRAGMA wal_checkpoint; CREATE TABLE two (x); DROP TABLE one');
    for (const name of ['One', 'Two']) {
      await program.json(['client', 'register', '--name', name, '--redirect-uri', REDIRECT_URI]);
      shell.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      await new Promise((resolve) => setTimeout(resolve, 1100)); // Until the service has looked again.
    }
    shell.close();
    assert.equal((await fetch(`${program.appUrl}/readyz`)).status, 200);
    serving.child.kill('SIGTERM');
    assert.equal((await serving.ended).code, 0);
  });
});
