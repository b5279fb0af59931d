/**
 * npm run keep-databases: keeps databases of this version for the tests of the versions that follow it. Until a version is
 * released its schema may change, and this is run again; after that its files stay as they are.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { MIGRATION_TABLE, MIGRATIONS as OF_POSTGRESQL } from '../../src/storage/postgresql/plain-database.ts';
import type { AppliedMigration, Migration } from '../../src/storage/schema/migrations.ts';
import { MIGRATIONS as OF_SQLITE } from '../../src/storage/sqlite/plain-database.ts';
import { releasedVersions } from '../../tools/release/changelog.mjs';
import { startPostgres } from '../support/postgres.ts';
import { facesOf } from './faces.ts';
import { fill } from './fill.ts';
import { keep, keepFaces, keptVersions, removeKept, textOf } from './kept.ts';

const { version } = manifest;
const released = releasedVersions(fileURLToPath(new URL('../..', import.meta.url)));
if (released.includes(version)) {
  console.error(
    `keep-databases: ${version} is released: CHANGELOG.md has its section. Later versions upgrade its databases, so these stay. ` +
      'To do: set the version that is being made, with "npm run set-version -- 0.2.0-dev".',
  );
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'valetkey-keep-'));
const server = await startPostgres();
try {
  const path = join(folder, 'valetkey.db');
  const sqlite = await fill(`sqlite:${path}`);
  const url = await server.createDatabase();
  const postgresql = await fill(url);
  const schema = [MIGRATION_TABLE, ...OF_POSTGRESQL.map(({ sql }) => sql)];
  const text = await textOf(url, schema);
  const database = readFileSync(path);
  const faces = await facesOf({ VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS: sqlite.rootKey });
  for (const kept of keptVersions()) if (!released.includes(kept)) removeKept(kept);
  keep(version, 'sqlite', database, { migrations: applied(OF_SQLITE), ...sqlite });
  keep(version, 'postgresql', Buffer.from(text), { migrations: applied(OF_POSTGRESQL), ...postgresql });
  keepFaces(version, faces);
  console.log(`kept: the databases of ${version}, and what programs rely on`);
} finally {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
}

function applied(migrations: readonly Migration[]): AppliedMigration[] {
  return migrations.map(({ number, name, checksum }) => ({ number, name, checksum }));
}
