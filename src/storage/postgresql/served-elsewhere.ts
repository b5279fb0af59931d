/**
 * Detects a database that other means, such as `pg_restore`, put in place, and that was not restored: it may hold grants
 * that were revoked since. A comment on a table records the location where the database was served. A dump keeps the comment
 * but creates the table anew; a copy of the whole database has another number; each cluster has its own identifier.
 *
 * A base backup is equal in all of these. Only its server's timeline is higher, as after a failover.
 */
import { InstallationError } from '../../process/installation-error.ts';
import type { Connection } from './connection/connection.ts';
import { plainDatabase } from './plain-database.ts';

const OWN = `
  (SELECT system_identifier FROM pg_control_system()) || ' ' ||
  (SELECT oid FROM pg_database WHERE datname = current_database()) || ' ' || 'installation'::regclass::oid`;
const FIND = `SELECT obj_description('installation'::regclass, 'pg_class') AS recorded, ${OWN} AS own`;
const FORMAT = /^valetkey place (\d+ \d+ \d+) timeline (\d+)$/;

/** Records the database's present location; in `DO`, since a comment takes no parameters. */
export const RECORD_PLACE = `
  DO $record$ BEGIN
    EXECUTE format('COMMENT ON TABLE installation IS %L', 'valetkey place ' || ${OWN} || ' timeline ' ||
      ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int);
  END $record$`;

/**
 * Refuses to serve a database that was served elsewhere; records the location of a new one. `warn` receives a sentence
 * if the server's timeline differs from that of an instance's last start. Throws `InstallationError`.
 */
export async function requireOwnPlace(connection: Connection, warn: (sentence: string) => void): Promise<void> {
  await plainDatabase(connection).alone(async () => {
    const found = await connection.one<{ recorded: string | null; own: string }>(FIND);
    const [, place, timeline] = FORMAT.exec(found?.recorded ?? '') ?? [];
    if (place !== undefined && place !== found?.own) throw new InstallationError(ELSEWHERE);
    if (place !== undefined && Number(timeline) === connection.timeline) return;
    if (place !== undefined) warn(otherTimeline(Number(timeline), connection.timeline));
    await connection.script(RECORD_PLACE);
  });
}

const ELSEWHERE = {
  problem: 'this database was served elsewhere, and was put here by pg_restore, as a copy or with its server',
  remedy:
    'it may hold what was revoked since, so run "database restore", which ends what must not come back with it; if nothing was served after it was taken, as when pg_upgrade made it, "database adopt-settings" records that it belongs here',
};

function otherTimeline(before: number, now: number): string {
  return `the database server is on timeline ${now}, and was on ${before} when an instance started last: so it is after a failover; if a base backup was put back, stop every instance and run "database restore", since it holds what was revoked later`;
}
