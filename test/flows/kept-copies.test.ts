/** Which files `database backup --keep` removes from the folder of backups. */
import assert from 'node:assert/strict';
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../src/process/folder.ts';
import { ProgramOnDisk } from '../support/program.ts';

test('operating: --keep never removes the copy just made, and clears what killed runs left, but no run that goes on', async (t) => {
  const program = await ProgramOnDisk.make(t);
  await program.json(['database', 'migrate']);
  const folder = join(program.folder, 'copies');
  makeFolder(folder);
  const put = (name: string, ageHours = 0) => {
    writeFileSync(join(folder, name), '');
    const at = Date.now() / 1000 - ageHours * 3600;
    utimesSync(join(folder, name), at, at);
  };
  // As if the clock had been years ahead.
  for (const day of ['01', '02', '03']) put(`valetkey-209901${day}T000000000Z.db`);
  put('valetkey-20260101T000000000Z.db.part-1', 13);
  put('valetkey-20260101T000000000Z.db.gpg.part-2-journal', 13);
  put('valetkey-20260102T000000000Z.db.part-3', 11);
  for (const name of ['notes.txt', 'other.db.part-4', 'valetkey-mine.db']) put(name, 13);
  const { file, removed } = await program.json(['database', 'backup', '--into', folder, '--keep', '2']);
  assert.deepEqual(
    (removed as string[]).map((path) => basename(path)),
    ['01', '02'].map((day) => `valetkey-209901${day}T000000000Z.db`),
  );
  const left = [basename(String(file)), 'valetkey-20990103T000000000Z.db', 'valetkey-20260102T000000000Z.db.part-3'];
  assert.deepEqual(readdirSync(folder).sort(), [...left, 'notes.txt', 'other.db.part-4', 'valetkey-mine.db'].sort());
  const { file: again } = await program.json(['database', 'backup', '--into', folder, '--keep', '1']);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('Z.db')),
    [basename(String(again))],
  );
});
