/** What a first start makes, and what it makes it in, is there after a power cut: each name was synced with its folder. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { recordedDisk, whyNoDisk } from '../../bench/disk/build.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { readTrace } from './trace.ts';

const PATHS = { database: 'new/data/valetkey.db', keys: 'other/secret/keys' };

test('Promise 1: the folders and files of a first start have their names on disk', {
  skip: whyNoDisk() ?? false,
}, async (t) => {
  const program = await ProgramOnDisk.make(t);
  const trace = join(program.folder, 'trace');
  const { child, ended } = await program.serve({
    ...(await recordedDisk({ watch: `${program.folder}/`, into: trace, killAfter: null }, 0)),
    VALETKEY_DATABASE_URL: `sqlite:${join(program.folder, PATHS.database)}`,
    VALETKEY_KEYS_FILE: join(program.folder, PATHS.keys),
  });
  child.kill('SIGKILL');
  await ended;
  const records = [...readTrace(readFileSync(trace))];
  const names = new Map(records.filter(({ kind }) => kind === 'open').map(({ file, name }) => [file, name]));
  const synced = new Set(records.filter(({ kind }) => kind === 'synced').map(({ file }) => names.get(file)));
  for (const path of Object.values(PATHS))
    for (let folder = path; folder !== '.'; ) {
      folder = dirname(folder);
      assert.ok(synced.has(folder === '.' ? '' : folder), `${folder}: ${[...synced]}`);
    }
});
