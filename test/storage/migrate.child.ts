/** Applies the migrations, and then two more: one makes a table anew, one makes and fills another; prints a line when it begins. */
import { writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { MIGRATIONS, plainDatabase } from '../../src/storage/sqlite/plain-database.ts';
import { NOW } from '../support/storage.ts';
import { LATER } from './later-migration.ts';

const sql = `
  CREATE TABLE filled (number INTEGER PRIMARY KEY) STRICT;
  WITH RECURSIVE counter (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < 200000)
  INSERT INTO filled SELECT n FROM counter;
`;
const next = { number: LATER.number + 1, name: 'fill', checksum: 'fill', sql };
const database = new DatabaseSync(process.argv[2] as string);
database.exec('PRAGMA journal_mode = wal');
writeSync(1, 'begins\n');
await migrate(plainDatabase(database), NOW, [...MIGRATIONS, LATER, next]);
database.close();
