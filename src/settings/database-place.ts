/** Sentences on where the database is, or is not. */
import { resolve } from 'node:path';
import { type Fault, InstallationError } from '../process/installation-error.ts';
import type { DatabaseLocation } from './setting-readers.ts';

/** The place in full, since a path that is relative may be meant from another folder; without what is secret. */
export function placeOf(database: DatabaseLocation): string {
  return database.kind === 'file' ? resolve(database.path) : 'the database that VALETKEY_DATABASE_URL names';
}

/** The fault that refuses to work where no installation is. */
export function nothingThere(database: DatabaseLocation): Fault {
  const what = database.kind === 'file' ? 'database at' : 'installation in';
  return {
    problem: `there is no ${what} ${placeOf(database)}`,
    remedy: '"serve" makes one, or check VALETKEY_DATABASE_URL',
  };
}

/** Throws an `InstallationError` if no command can work there: `isThere` says whether there is a database, or may be one. */
export function requireReachable(database: DatabaseLocation, isThere: boolean): void {
  if (database.kind === 'memory')
    throw new InstallationError({
      problem: 'VALETKEY_DATABASE_URL is sqlite::memory:, which only the service itself can reach',
      remedy: 'name a file',
    });
  if (!isThere) throw new InstallationError(nothingThere(database));
}

/**
 * Throws an `InstallationError` if nothing can be restored there: from a file, or null for a database that was put in place by
 * other means. `isNew` is asked for the latter alone: it refuses what a restore that was cut off left.
 */
export function requireRestorable(database: DatabaseLocation, file: string | null, isNew: () => boolean): void {
  if (database.kind === 'memory') throw new InstallationError(IN_MEMORY);
  if (file === null && isNew()) throw new InstallationError(nothingThere(database));
  if (file !== null && database.kind === 'postgresql') throw new InstallationError(ON_POSTGRESQL);
}

const IN_MEMORY = {
  problem: 'VALETKEY_DATABASE_URL is sqlite::memory:, which is lost when the service stops',
  remedy: 'name a file',
};
const ON_POSTGRESQL = {
  problem: 'a backup of PostgreSQL is put in place with pg_restore, or with a base backup and its log',
  remedy: 'do that, and then run "database restore" without a file',
};
