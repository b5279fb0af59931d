/**
 * A later version of the program: a copy of its sources with two migrations more for each store. One cannot be undone by the
 * version before, and takes a moment; one only expands.
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MIGRATIONS } from '../../src/storage/sqlite/plain-database.ts';
import { LATER } from '../storage/later-migration.ts';
import type { Lifetime } from '../support/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const last = MIGRATIONS.length;

const FILLED = {
  sqlite: `WITH RECURSIVE counter (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < 30000)
    INSERT INTO filled SELECT n FROM counter;`,
  postgresql: 'INSERT INTO filled SELECT generate_series(1, 30000);',
};

const GRANTS_ANEW = {
  sqlite: LATER.sql,
  postgresql: `ALTER TABLE oauth_grant DROP CONSTRAINT oauth_grant_revocation_reason_check;
    UPDATE oauth_grant SET generation = generation;`,
};

/** The numbers of the migrations that it has and this version has not. */
export const LATER_MIGRATIONS = [last + 1, last + 2] as const;

/** Makes it; answers its folder, which is removed when the tests end. `expands`: with the migration alone that only expands. */
export function laterVersion(t: Lifetime, { expands = false } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-later-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of ['src', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  for (const store of ['sqlite', 'postgresql'] as const) {
    const file = (number: number, name: string) =>
      join(folder, `src/storage/${store}/schema`, `${String(number).padStart(4, '0')}-${name}.sql`);
    const anew = `-- Grants may end for one more reason.\n-- More is not said.\nCREATE TABLE filled (number integer PRIMARY KEY);`;
    if (!expands) writeFileSync(file(last + 1, 'later'), `${anew}\n${FILLED[store]}\n${GRANTS_ANEW[store]}\n`);
    const more = 'ALTER TABLE account ADD COLUMN later_text text;\nCREATE TABLE later (id integer PRIMARY KEY);';
    writeFileSync(file(expands ? last + 1 : last + 2, 'expand-more'), `-- Room for what comes later.\n${more}\n`);
  }
  return folder;
}
