/** Applies the migrations, and then one more that makes and fills a table; prints a line when it begins. */
import { writeSync } from 'node:fs';
import { Connection } from '../../src/storage/postgresql/connection/connection.ts';
import { MIGRATIONS, plainDatabase } from '../../src/storage/postgresql/plain-database.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { NOW } from '../support/storage.ts';

const sql = 'CREATE TABLE filled (number integer PRIMARY KEY); INSERT INTO filled SELECT generate_series(1, 200000);';
const next = { number: MIGRATIONS.length + 1, name: 'fill', checksum: 'fill', sql };
const session = { statementTimeout: 0, lockTimeout: 60_000, byKey: false };
const connection = await Connection.open(process.argv[2] as string, session);
writeSync(1, 'begins\n');
await migrate(plainDatabase(connection), NOW, [...MIGRATIONS, next]);
await connection.close();
