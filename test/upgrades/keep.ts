/**
 * npm run keep-databases: keeps databases of this version for the tests of the versions that follow it. Until a version is
 * released its schema may change, and this is run again; after that its files stay as they are.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { makeRootKey } from '../../src/settings/root-keys.ts';
import type { Migration } from '../../src/storage/migrations.ts';
import { MIGRATION_TABLE, MIGRATIONS as OF_POSTGRESQL } from '../../src/storage/postgresql/plain-database.ts';
import { MIGRATIONS as OF_SQLITE } from '../../src/storage/sqlite/plain-database.ts';
import { inhabit } from '../support/held.ts';
import { startPostgres } from '../support/postgres.ts';
import { startTestService } from '../support/service.ts';
import { keep, type StoreName, textOf } from './kept.ts';

const folder = mkdtempSync(join(tmpdir(), 'valetkey-keep-'));
const server = await startPostgres();
try {
  const path = join(folder, 'valetkey.db');
  await fill('sqlite', `sqlite:${path}`, OF_SQLITE, async () => readFileSync(path));
  const url = await server.createDatabase();
  const schema = [MIGRATION_TABLE, ...OF_POSTGRESQL.map(({ sql }) => sql)];
  await fill('postgresql', url, OF_POSTGRESQL, async () => Buffer.from(await textOf(url, schema)));
} finally {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
}

async function fill(
  store: StoreName,
  database: string,
  migrations: readonly Migration[],
  read: () => Promise<Buffer>,
): Promise<void> {
  const rootKey = makeRootKey();
  const service = await startTestService(
    { after: () => {} },
    { VALETKEY_DATABASE_URL: database, VALETKEY_KEYS: rootKey },
  );
  const held = await inhabit(service);
  await service.stop();
  const applied = migrations.map(({ number, name, checksum }) => ({ number, name, checksum }));
  keep(manifest.version, store, await read(), { migrations: applied, rootKey, held });
  console.log(`kept: ${manifest.version}, ${store}`);
}
