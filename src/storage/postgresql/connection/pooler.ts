/** Requirements on a pooler in front of the server, such as PgBouncer. */
import { randomBytes } from 'node:crypto';
import { type Fault, InstallationError } from '../../../process/installation-error.ts';
import type { Connection, Session } from './connection.ts';
import type { Servers } from './servers.ts';

const PROBE: Session = { statementTimeout: 5000, lockTimeout: 5000, byKey: false };
/** Maximum delay of a notification (ms). */
const NOTIFIED_WITHIN_MS = 5000;

/**
 * Throws `InstallationError` if a connection has its server session for the duration of a transaction only. A listening
 * session receives a notification at any time, even while its client is idle; a pooler in transaction mode has by then
 * given the session to other clients. So an arriving notification is certain proof, independent of other connections.
 */
export async function requireOwnSession(connection: Connection, servers: Servers): Promise<void> {
  const channel = `valetkey_${randomBytes(16).toString('hex')}`;
  const isHeardWithin = await connection.listen(channel);
  const other = await servers.connect(PROBE);
  try {
    await other.script(`NOTIFY ${channel}`);
    if (!(await isHeardWithin(NOTIFIED_WITHIN_MS))) throw new InstallationError(shared(servers.place));
  } finally {
    await other.close();
  }
  await connection.script('UNLISTEN *');
}

function shared(place: string): Fault {
  return {
    problem: `the database at ${place} is behind a pooler that lends a session of the server to others after each transaction, such as PgBouncer in transaction mode`,
    remedy:
      "settings, prepared statements and locks of a session would be lost or be another's. Set pool_mode = session for it, or name the server itself",
  };
}
