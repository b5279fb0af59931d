/** Where nothing can be written to PostgreSQL, every command ends in a sentence and with 1: a table that is gone, and a full disk. */
import assert from 'node:assert/strict';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startPostgres } from '../support/postgres.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { NO_CHAIN } from '../support/storage.ts';
import { assertSentence, fill, inhabited, run, smallDisk } from './nothing-written.ts';

// A clean-up of its own would give back space on a disk that is full.
const server = await startPostgres({ autovacuum: 'off' });
after(() => server.remove());

/** As whom PostgreSQL runs where root runs the tests. */
const NOBODY = 65_534;

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
