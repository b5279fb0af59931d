/**
 * Migrations: numbered SQL files, each applied once and never edited after its release. If the previous release can
 * work with a migration, the file is called `NNNN-expand-...`: it only adds objects that this release can ignore.
 */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** One migration; the checksum is the SHA-256 of its text, in hexadecimal. */
export type Migration = {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
};

/** A database's record of an applied migration. */
export type AppliedMigration = Pick<Migration, 'number' | 'name' | 'checksum'>;

/**
 * Returns the copy mark: migration 0 of a database into which an installation is being copied, removed once the copy is
 * complete. It keeps every version of the program from using a partial copy. `installation` is the id of the copied
 * installation, in hexadecimal.
 */
export function copyMark(installation: string): Migration {
  return { number: 0, name: 'copy', checksum: installation, sql: '' };
}

/** Reads the migrations of a folder (`0001-name.sql` …), in order. */
export function readMigrations(folder: URL): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => {
    const sql = readFileSync(new URL(file, folder), 'utf8');
    return { number: Number(file.slice(0, 4)), name: file.slice(5, -4), checksum: hash('sha256', sql), sql };
  });
}
