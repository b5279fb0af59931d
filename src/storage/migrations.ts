/**
 * Migrations: numbered SQL files, each applied once and never edited after its release. One that the release before can
 * live with is called `NNNN-expand-...`: it only adds what that release need not know of.
 */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { InstallationError } from '../process/installation-error.ts';

/** One migration; the checksum is the SHA-256 of its text, in hexadecimal. */
export type Migration = {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
};

/** What a database remembers of a migration that was applied to it. */
export type AppliedMigration = Pick<Migration, 'number' | 'name' | 'checksum'>;

/**
 * Stands first among the migrations of a database into which an installation is being copied, until all of it is there: so
 * that no version of the program takes it for whole. `installation` is the id of what is copied, in hexadecimal.
 */
export function copyMark(installation: string): Migration {
  return { number: 0, name: 'copy', checksum: installation, sql: '' };
}

/** Reads the migrations of a folder, `0001-name.sql` and so on, in their order. */
export function readMigrations(folder: URL): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => {
    const sql = readFileSync(new URL(file, folder), 'utf8');
    return { number: Number(file.slice(0, 4)), name: file.slice(5, -4), checksum: hash('sha256', sql), sql };
  });
}

const HALF_COPIED =
  'an installation is being copied into this database, and not all of it is there: run the same "database copy" until it says that it is done';
const OTHER_COPY =
  'another installation is being copied into this database: give an empty one, or finish that copy first';

/** Which newer migrations a database may have: those that only expand it, or none, for who reads every column there is. */
export type Newer = 'expansions' | 'none';

/**
 * The migrations still to be applied. Throws `InstallationError` when the database was made by other ones than ours, unless those
 * are newer ones that this version can live with.
 */
export function pendingMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
  newer: Newer = 'expansions',
): Migration[] {
  for (const { number, name, checksum } of applied) {
    const ours = known.find((migration) => migration.number === number);
    if (number === 0 && ours?.checksum !== checksum) throw new InstallationError([ours ? OTHER_COPY : HALF_COPIED]);
    if (!ours && newer === 'expansions' && name.startsWith('expand-')) continue;
    if (!ours)
      throw new InstallationError([
        `the database was made by a newer version of Valetkey (migration ${number}, ${name}): install that version or a later one`,
      ]);
    if (ours.checksum !== checksum)
      throw new InstallationError([
        `migration ${number} (${name}) is not the one that was applied to the database: install the released version again, unchanged`,
      ]);
  }
  return known.filter(({ number }) => !applied.some((migration) => migration.number === number));
}
