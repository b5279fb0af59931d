/** Where nothing can be written, every command ends in a sentence and with 1: a table that is gone, and a full disk. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ProgramOnDisk } from '../support/program.ts';
import { assertSentence, fill, inhabited, run, smallDisk } from './nothing-written.ts';

test('operating: without the table of audit events every command that writes ends in a sentence', async (t) => {
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

test('operating: on a full disk every command that writes ends in a sentence', async (t) => {
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
