/** Applies pending migrations, and refuses a database with unknown ones. */
import manifest from '../../../package.json' with { type: 'json' };
import { type Fault, InstallationError } from '../../process/installation-error.ts';
import type { Migration } from './migrations.ts';
import type { PlainDatabase } from './plain-database.ts';

const HALF_COPIED = {
  problem: 'an installation is being copied into this database, and not all of it is there',
  remedy: 'run the same "database copy" until it says that it is done',
};
const OTHER_COPY = {
  problem: 'another installation is being copied into this database',
  remedy: 'give an empty one, or finish that copy first',
};

/** The foundation changed in place until the first release candidate, and never since. */
const BEFORE_FIRST_RELEASE = {
  problem: `the database was made before 0.1.0-rc.1, and this is version ${manifest.version}. Databases from before 0.1.0-rc.1 are not kept`,
  remedy:
    'begin again with a new database and new keys (by default, move the folder "data" away), or run the checkout that made this one',
};

function altered({ number, name }: Migration): Fault {
  return {
    problem: `migration ${number} (${name}) is not the one that was applied to the database`,
    remedy: 'install the released version again, unchanged',
  };
}

/**
 * The newer migrations that a database may have: those that only expand the schema, or none, for a reader of all
 * columns.
 */
export type Newer = 'expansions' | 'none';

/**
 * Returns the pending migrations. Read-only. Throws `InstallationError` if the database has unknown or altered
 * migrations, unless they are newer ones that this version can work with.
 */
export async function pendingMigrations(
  database: PlainDatabase,
  known: readonly Migration[] = database.migrations,
  newer: Newer = 'expansions',
): Promise<Migration[]> {
  const applied = await database.applied();
  for (const { number, name, checksum } of applied) {
    const ours = known.find((migration) => migration.number === number);
    if (number === 0 && ours?.checksum !== checksum) throw new InstallationError(ours ? OTHER_COPY : HALF_COPIED);
    if (!ours && newer === 'expansions' && name.startsWith('expand-')) continue;
    if (!ours)
      throw new InstallationError({
        problem: `the database was made by a newer version of Valetkey (migration ${number}, ${name})`,
        remedy: 'install that version or a later one, or restore the backup from before the upgrade',
      });
    if (ours.checksum !== checksum) throw new InstallationError(number === 1 ? BEFORE_FIRST_RELEASE : altered(ours));
  }
  return known.filter(({ number }) => !applied.some((migration) => migration.number === number));
}

/** Refuses a database with pending migrations. Throws `InstallationError`. */
export async function requireUpToDate(database: PlainDatabase): Promise<void> {
  const { length } = await pendingMigrations(database);
  if (length > 0)
    throw new InstallationError({
      problem: `the database needs ${length} migration(s)`,
      remedy: 'run "database migrate"',
    });
}

/** Maximum number of conflicts. Instances that serve meanwhile lock the tables in another order. */
const MAX_CONFLICTS = 5;

/**
 * Applies pending migrations, each in one transaction, so that a killed process leaves all or nothing of each. Returns
 * the names of the migrations that this call applied; `now` in ms. Several processes may call it at once: each
 * migration is checked again under the lock.
 */
export async function migrate(database: PlainDatabase, now: number, known = database.migrations): Promise<string[]> {
  const names: string[] = [];
  let conflicts = 0;
  while ((await pendingMigrations(database, known)).length > 0) {
    try {
      const name = await database.alone(() => applyNext(database, now, known));
      if (name !== null) names.push(name);
    } catch (error) {
      conflicts += 1;
      if (!database.isConflict(error) || conflicts === MAX_CONFLICTS) throw error;
    }
  }
  return names;
}

async function applyNext(database: PlainDatabase, now: number, known: readonly Migration[]): Promise<string | null> {
  const [next] = await pendingMigrations(database, known);
  if (!next) return null;
  const { number, name, checksum, sql } = next;
  await database.script(`${database.migrationTable}; ${sql}`);
  await database.change('INSERT INTO migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)', [
    number,
    name,
    checksum,
    now,
  ]);
  return name;
}
