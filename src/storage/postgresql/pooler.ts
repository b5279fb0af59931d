/** What a pooler before the server, such as PgBouncer, must leave as it is. */
import { randomBytes } from 'node:crypto';
import { InstallationError } from '../../process/installation-error.ts';
import type { Connection, Session } from './connection.ts';
import type { Servers } from './servers.ts';

const PROBE: Session = { statementTimeout: 5000, lockTimeout: 5000, byKey: false };
/** How long a notification may take (ms). */
const NOTIFIED_WITHIN_MS = 5000;

/**
 * Throws `InstallationError` if a connection has its session of the server for the time of a transaction only. A session
 * that listens is told of a notification at any time, while its client asks for nothing; a pooler in transaction mode has
 * by then lent the session to others. So hearing it is certain proof, and whether somebody else is connected plays no part.
 */
export async function requireOwnSession(connection: Connection, servers: Servers): Promise<void> {
  const channel = `valetkey_${randomBytes(16).toString('hex')}`;
  const isHeardWithin = await connection.listen(channel);
  const other = await servers.connect(PROBE);
  try {
    await other.script(`NOTIFY ${channel}`);
    if (!(await isHeardWithin(NOTIFIED_WITHIN_MS))) throw new InstallationError([shared(servers.place)]);
  } finally {
    await other.close();
  }
  await connection.script('UNLISTEN *');
}

function shared(place: string): string {
  return `the database at ${place} is behind a pooler that lends a session of the server to others after each transaction, such as PgBouncer in transaction mode: settings, prepared statements and locks of a session would be lost or be another's. Set pool_mode = session for it, or name the server itself`;
}
