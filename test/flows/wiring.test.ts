/** What `main.ts` hands on, seen from outside of the real program: a failed disk, the sync, the product's name, the warnings. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { type Faults, failingDisk, whyNoDisk } from '../../bench/disk/build.ts';
import { Browser } from '../support/browser.ts';
import { signIn } from '../support/flow.ts';
import { type Ended, ProgramOnDisk } from '../support/program.ts';
import { PASSWORD } from '../support/service.ts';

const needsDisk = { skip: whyNoDisk() ?? false };
const USER = ['user', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--password-stdin'];

/** What a service logged of a level. */
function logged(level: string, { stderr }: Ended): { msg: string; err?: { message: string } }[] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line)).filter((line) => line.level === level);
}

/** A disk that fails as soon as it is told to, when the log of the program's database is synced; the variables that put it in place. */
async function failingLog(program: ProgramOnDisk) {
  const faults = faultsIn(program);
  const variables = await failingDisk(join(program.folder, 'data/valetkey.db-wal'), faults);
  return { variables, fail: () => writeFileSync(faults.syncOnce, ''), hasFailed: () => !existsSync(faults.syncOnce) };
}

function faultsIn({ folder }: ProgramOnDisk): Faults {
  return { syncOnce: join(folder, 'sync'), writes: join(folder, 'writes'), full: join(folder, 'full') };
}

/** The warnings that a service logs from its start to its stop. */
async function warningsOf(program: ProgramOnDisk, variables: Record<string, string>): Promise<string[]> {
  const { child, ended } = await program.serve(variables);
  child.kill('SIGTERM');
  const warnings = logged('warn', await ended);
  return warnings.map(({ msg }) => msg);
}

const MEANING = {
  awaited: 'a commit leaves the sync to the service',
  full: 'a commit syncs, and where that fails the service ends',
};

/** Nothing was acknowledged, and the log says why the service ended. */
async function assertFailed(outcome: Ended, visit: { status: number } | null): Promise<void> {
  assert.notEqual(visit?.status, 303);
  assert.equal(outcome.code, 1, outcome.stderr);
  const [fatal] = logged('fatal', outcome);
  assert.deepEqual([fatal?.msg, fatal?.err?.message], ['the disk failed: ending', 'disk I/O error']);
}

describe('what the program is made of holds together', { concurrency: true }, () => {
  for (const sync of ['awaited', 'full'] as const)
    test(`Promise 1: with VALETKEY_SQLITE_SYNC=${sync} ${MEANING[sync]}`, needsDisk, async (t) => {
      const program = await ProgramOnDisk.make(t);
      assert.equal((await program.command(['database', 'migrate'])).code, 0);
      await program.json(USER, PASSWORD);
      const disk = await failingLog(program);
      const { child, ended } = await program.serve({ ...disk.variables, VALETKEY_SQLITE_SYNC: sync });
      const visit = () => signIn(program as never, new Browser());
      assert.equal((await visit()).status, 303); // SQLite syncs the first commit of a log in any case.
      disk.fail();
      const second = await visit().catch(() => null);
      assert.equal(disk.hasFailed(), sync === 'full');
      if (sync === 'awaited') child.kill('SIGKILL');
      else await assertFailed(await ended, second);
    });

  test('Promise 1: a disk that fails ends a command, which says that nobody knows', needsDisk, async (t) => {
    const program = await ProgramOnDisk.make(t);
    assert.equal((await program.command(['database', 'migrate'])).code, 0);
    const disk = await failingLog(program);
    disk.fail();
    const { code, stdout, stderr } = await program.run(USER, disk.variables, PASSWORD);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^valetkey: disk I\/O error: whether this was done is not known$/m);
  });

  test("ASVS 6.2.11: the product's name, as it is configured, and our own are no passwords", async (t) => {
    const program = await ProgramOnDisk.make(t);
    for (const password of ['acme letters1', 'Valetkey1'])
      assert.match(
        (await program.command(USER, { VALETKEY_PRODUCT_NAME: 'Acme Letters' }, password)).stderr,
        /hardly more than a name that anybody would try/,
        password,
      );
  });

  test('a start warns of https without a proxy, and of settings that differ', async (t) => {
    const program = await ProgramOnDisk.make(t);
    assert.equal((await program.command(['database', 'migrate'])).code, 0);
    const other = { VALETKEY_APP_URL: 'https://auth.example', VALETKEY_APP_LISTEN: new URL(program.appUrl).host };
    const warnings = await warningsOf(program, { ...other, VALETKEY_CODE_TTL: '61' });
    const beginnings = [
      'VALETKEY_APP_URL is https, ',
      'VALETKEY_APP_URL is https://auth.example here and ',
      'VALETKEY_CODE_TTL is 61 here and 60 ',
    ];
    assert.deepEqual(
      warnings.map((sentence, index) => sentence.slice(0, beginnings[index]?.length)),
      beginnings,
    );
  });

  test(
    'what SQLite has to report is logged: of a disk that is full, what was left in the log',
    needsDisk,
    async (t) => {
      const program = await ProgramOnDisk.make(t);
      assert.equal((await program.command(['database', 'migrate'])).code, 0);
      const database = new DatabaseSync(join(program.folder, 'data/valetkey.db'));
      database.exec('UPDATE installation SET epoch = 1');
      const disk = await failingDisk(database.location() ?? '', faultsIn(program));
      writeFileSync(faultsIn(program).full, '');
      assert.match(
        String(await warningsOf(program, disk)),
        /^the disk is full: what was left in the log of the database/,
      );
      database.close();
    },
  );
});
