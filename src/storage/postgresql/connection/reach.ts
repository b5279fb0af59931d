/** The first connection to a database, whose errors become sentences with remedies. */
import { Client } from 'pg';
import { type Fault, InstallationError } from '../../../process/installation-error.ts';
import type { Connection, Session } from './connection.ts';
import { SQLSTATE, sqlState } from './errors.ts';
import { PasswordMissing } from './password-file.ts';
import { requireOwnSession } from './pooler.ts';
import type { Servers } from './servers.ts';

/** Connects to the primary, and refuses an unfit pooler. Throws `InstallationError`. */
export async function connectToPrimary(servers: Servers, session: Session): Promise<Connection> {
  let connection: Connection | undefined;
  try {
    connection = await servers.connect(session);
    if (!connection.isDirect) await requireOwnSession(connection, servers);
    return connection;
  } catch (error) {
    connection?.destroy();
    const problem = `the database at ${servers.place} cannot be reached (${(error as Error).message})`;
    const refusal = asRefusal(error, servers.place);
    throw refusal ?? new InstallationError({ problem, remedy: 'start it, or check the address' });
  }
}

/** Returns a fault if the traffic to the database is readable on a network. */
export function exposures({ urls, place }: Servers): Fault[] {
  if (!urls.some(crossesNetworkInClear)) return [];
  const ending = `${urls[0]?.includes('?') ? '&' : '?'}sslmode=verify-full`;
  return [
    {
      problem: `the database at ${place} is reached over a network without TLS`,
      remedy: `set the server up for TLS, and end VALETKEY_DATABASE_URL with "${ending}", unless nobody can listen between here and there`,
    },
  ];
}

/**
 * Returns true if a server is reached over a network without TLS, by its URL and PostgreSQL's environment variables.
 */
export function crossesNetworkInClear(url: string): boolean {
  const { host, ssl } = new Client({ connectionString: url });
  return !ssl && !/^(localhost|127(\.\d{1,3}){3}|\[?::1\]?|\/.*)$/.test(host);
}

/** Returns the refusal with a remedy for a server's error, or undefined if none is known. */
export function asRefusal(error: unknown, place: string): InstallationError | undefined {
  if (error instanceof InstallationError) return error;
  const { message, cause } = error as Error;
  if (error instanceof PasswordMissing || cause instanceof PasswordMissing)
    return new InstallationError({
      problem: `the database at ${place} asks for a password, and neither its URL nor .pgpass has one`,
      remedy: 'add a line for it to .pgpass in the home folder of the user who runs this, with mode 0600',
    });
  switch (sqlState(error) ?? sqlState(cause)) {
    case SQLSTATE.NO_SUCH_DATABASE:
      return new InstallationError({
        problem: `there is no database at ${place}`,
        remedy: 'make it with "createdb", or check the address',
      });
    case SQLSTATE.INVALID_PASSWORD:
    case SQLSTATE.INVALID_AUTHORIZATION:
      return new InstallationError({
        problem: `the database at ${place} lets nobody in (${message})`,
        remedy: 'check user and password',
      });
    case SQLSTATE.INSUFFICIENT_PRIVILEGE:
      return new InstallationError({
        problem: `the user may not do at ${place} what it must (${message})`,
        remedy: 'let it own the database',
      });
    default:
      return undefined;
  }
}
