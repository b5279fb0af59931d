/** What a backup looks at: that the copy is sound, and how long the log grows meanwhile. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import { Collector } from '../cli/collector.ts';
import { ProgramOnDisk } from '../support/program.ts';

/** Ways in which a database is damaged that nobody stopped, and what is found. */
const DAMAGES: Readonly<Record<string, readonly [damage: (path: string) => void, found: RegExp]>> = {
  'a row whose account is gone': [
    (path) => {
      const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
      database.exec('DELETE FROM account');
      database.close();
    },
    /references: session /,
  ],
  'a page of an index that lost its entries': [
    (path) => {
      const database = new DatabaseSync(path);
      const [page, size] = [
        database.prepare("SELECT rootpage AS n FROM sqlite_schema WHERE name = 'session_by_account'").get(),
        database.prepare('SELECT page_size AS n FROM pragma_page_size').get(),
      ];
      database.close();
      const file = openSync(path, 'r+');
      // The number of cells of a b-tree page (SQLite's file format, §1.6).
      writeSync(file, Buffer.alloc(2), 0, 2, (Number(page?.['n']) - 1) * Number(size?.['n']) + 3);
      closeSync(file);
    },
    /integrity: [\s\S]*wrong # of entries in index session_by_account/,
  ],
};

for (const [name, [damage, found]] of Object.entries(DAMAGES))
  test(`a backup of a database with ${name} is refused, and leaves no file and the backup before it`, async () => {
    const program = await ProgramOnDisk.make({ after });
    const beside = (file: string) => join(program.folder, file);
    await program.json(['database', 'migrate']);
    await program.json(['user', 'add', '--email', 'ada@example.com', '--name', 'Ada']);
    const path = beside('data/valetkey.db');
    const database = new DatabaseSync(path);
    database.exec('INSERT INTO session SELECT zeroblob(32), id, 0, 0, 0, NULL, NULL FROM account');
    database.close();
    await program.json(['database', 'backup', beside('backup.db')]);
    const before = readFileSync(beside('backup.db'));
    damage(path);
    writeFileSync(beside('passphrase'), 'six words that nobody else knows\n', { mode: 0o600 });
    for (const words of [
      [beside('new.db')],
      [beside('backup.db'), '--replace'],
      [beside('new.db.gpg'), '--passphrase-file', beside('passphrase')],
    ]) {
      const { code, stderr } = await program.command(['database', 'backup', ...words]);
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`the copy was not sound, so there is no .*${found.source}`));
    }
    assert.deepEqual(readdirSync(program.folder).sort(), ['backup.db', 'data', 'passphrase']);
    assert.deepEqual(readdirSync(beside('data')).sort(), ['keys', 'valetkey.db']);
    assert.deepEqual(readFileSync(beside('backup.db')), before);
    const { stdout } = await program.command(['audit', 'list', '--action', 'database_backed_up', '--json']);
    assert.equal((JSON.parse(stdout) as unknown[]).length, 1, 'none but the first is told of');
  });

/** How many times as long as it is the log is told to be: no test writes 256 MiB. */
const LONGER = 2 ** 20;

/** Backs up while something is written, and returns what is said on standard error. */
async function warningsOf(program: ProgramOnDisk, longer: number): Promise<string[]> {
  const context = makeCommandContext(program.variables);
  const { database } = context;
  const writer = new DatabaseSync(join(program.folder, 'data/valetkey.db'));
  writer.exec('PRAGMA wal_autocheckpoint = 0'); // Else the log may begin anew, and be no longer than before.
  const writing = setInterval(() => writer.exec('UPDATE ballast SET a = hex(randomblob(1000)) WHERE rowid < 20'), 1);
  const [stdout, stderr] = [new Collector(), new Collector()];
  const words = ['database', 'backup', join(program.folder, 'backup.db'), '--replace', '--json'];
  const code = await runProgram(words, {
    ...context,
    ...{ stdout, stderr },
    database: { ...database, backUp: (asked, grows) => database.backUp(asked, (grown) => grows(grown * longer)) },
  });
  clearInterval(writing);
  writer.close();
  assert.equal(code, 0, stderr.text);
  assert.ok((JSON.parse(stdout.text) as { log_growth_bytes: number }).log_growth_bytes > 0);
  return stderr.text.split('\n').filter((line) => line.includes('the write-ahead log grew'));
}

test('a backup warns, once and while it is made, of a log that grows by more than 256 MiB, and of no other', async () => {
  const program = await ProgramOnDisk.make({ after });
  await program.json(['database', 'migrate']);
  const database = new DatabaseSync(join(program.folder, 'data/valetkey.db'));
  // So much that the copy takes a while.
  database.exec(`CREATE TABLE ballast (a TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
    INSERT INTO ballast SELECT hex(randomblob(500)) FROM n`);
  database.close();
  assert.deepEqual(await warningsOf(program, 1), []);
  const warned = await warningsOf(program, LONGER);
  assert.equal(warned.length, 1);
  assert.match(String(warned[0]), /grew by \d+\.\d MiB during the backup: make sure that the disk has room/);
});
