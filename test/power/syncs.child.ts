/** Syncs in every way that the program may, and prints how long each took (ms). The folder is the argument. */
import { fdatasync, fdatasyncSync, fsync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';

const folder = process.argv[2] as string;
const path = join(folder, 'file');
const descriptor = openSync(path, 'w');
const file = await open(path, 'r+');
const database = new DatabaseSync(join(folder, 'database'));
database.exec('PRAGMA journal_mode = wal; PRAGMA synchronous = full; CREATE TABLE t (a)');

const ways: Readonly<Record<string, () => unknown>> = {
  fsyncSync: () => fsyncSync(descriptor),
  fdatasyncSync: () => fdatasyncSync(descriptor),
  fsync: () => promisify(fsync)(descriptor),
  fdatasync: () => promisify(fdatasync)(descriptor),
  sync: () => file.sync(),
  datasync: () => file.datasync(),
  commit: () => database.exec('INSERT INTO t VALUES (1)'),
  checkpoint: () => database.exec('PRAGMA wal_checkpoint'),
};
const times: Record<string, number> = {};
for (const [way, sync] of Object.entries(ways)) {
  const start = performance.now();
  await sync();
  times[way] = performance.now() - start;
}
console.log(JSON.stringify(times));
await file.close();
database.close();
