/** What may be called an expansion of the schema, and what the next release's does to a copy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import { MIGRATIONS as OF_POSTGRESQL } from '../../src/storage/postgresql/plain-database.ts';
import { MIGRATIONS } from '../../src/storage/sqlite/plain-database.ts';
import { keyring } from '../oauth/samples.ts';
import { NOW, openAsService, temporaryPath } from '../support/storage.ts';
import { expandFile, narrowings, sampleExpansion } from './expansion.ts';

test('a database that a newer version has expanded is not copied: its new columns would be lost', async (t) => {
  const path = temporaryPath(t);
  await (await openAsService(path)).close();
  await expandFile(path);
  const from = { kind: 'file', path } as const;
  const to = { kind: 'postgresql', url: 'postgres://127.0.0.1:1/nobody' } as const;
  const options = { from, to, keyring, now: () => NOW, report: () => {} };
  await assert.rejects(copyDatabase(options), /newer version of Valetkey \(migration \d+, expand-later\)/);
});

test('a migration that is called an expansion only adds what the release before can live with', () => {
  for (const { name, sql } of [...MIGRATIONS, ...OF_POSTGRESQL].filter(({ name }) => name.startsWith('expand-')))
    assert.deepEqual(narrowings(sql), [], name);
});

test('what may be called an expansion: new tables, their indexes, columns that need not be written', () => {
  assert.deepEqual(narrowings(`-- A sentence.\n${sampleExpansion(MIGRATIONS, ['client']).sql}`), []);
  for (const narrowing of [
    'ALTER TABLE client ADD COLUMN later text NOT NULL',
    'ALTER TABLE client ADD COLUMN later text UNIQUE',
    'ALTER TABLE client ADD COLUMN later text REFERENCES account (id)',
    'ALTER TABLE client DROP COLUMN name',
    'ALTER TABLE client RENAME COLUMN name TO title',
    'CREATE INDEX later ON oauth_grant (id)',
    'CREATE TRIGGER later AFTER INSERT ON client BEGIN SELECT 1',
    'DELETE FROM session',
    "UPDATE client SET name = ''",
  ])
    assert.deepEqual(narrowings(`CREATE TABLE later (id integer);${narrowing};`), [narrowing]);
});
