/** Applies the migrations, and then one more that makes and fills a table; prints a line when it begins. */
import { writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { MIGRATIONS, migrate } from '../../src/storage/sqlite/migrate.ts';
import { NOW } from '../support/storage.ts';

const sql = `
  CREATE TABLE filled (number INTEGER PRIMARY KEY) STRICT;
  WITH RECURSIVE counter (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < 200000)
  INSERT INTO filled SELECT n FROM counter;
`;
const next = { number: MIGRATIONS.length + 1, name: 'fill', checksum: 'fill', sql };
const database = new DatabaseSync(process.argv[2] as string);
database.exec('PRAGMA journal_mode = wal');
writeSync(1, 'begins\n');
migrate(database, NOW, [...MIGRATIONS, next]);
database.close();
