/** Migrations: numbered SQL files, each applied once and never edited after its release. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Refused } from '../refused.ts';

/** One migration; the checksum is the SHA-256 of its text, in hexadecimal. */
export type Migration = {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
};

/** What a database remembers of a migration that was applied to it. */
export type AppliedMigration = Pick<Migration, 'number' | 'name' | 'checksum'>;

/** Reads the migrations of a folder, `0001-name.sql` and so on, in their order. */
export function readMigrations(folder: URL): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => {
    const sql = readFileSync(new URL(file, folder), 'utf8');
    return { number: Number(file.slice(0, 4)), name: file.slice(5, -4), checksum: hash('sha256', sql), sql };
  });
}

/** The migrations still to be applied. Throws `Refused` when the database was made by other ones than ours. */
export function pendingMigrations(known: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  for (const { number, name, checksum } of applied) {
    const ours = known.find((migration) => migration.number === number);
    if (!ours)
      throw new Refused([
        `the database was made by a newer version of Valetkey (migration ${number}, ${name}): install that version or a later one`,
      ]);
    if (ours.checksum !== checksum)
      throw new Refused([
        `migration ${number} (${name}) is not the one that was applied to the database: install the released version again, unchanged`,
      ]);
  }
  return known.filter(({ number }) => !applied.some((migration) => migration.number === number));
}
