/**
 * Migrations: numbered SQL files, each applied once and never edited after its release. One that the release before can
 * live with is called `NNNN-expand-...`: it only adds what that release need not know of.
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
