/** Connects to a database for the first time. Each error becomes a sentence with its remedy. */
import { Client } from 'pg';
import { InstallationError } from '../../process/installation-error.ts';
import { Connection, type Session } from './connection.ts';
import { SQLSTATE, sqlState } from './errors.ts';

/** Connects. Throws `InstallationError`. */
export async function reach(url: string, session: Session): Promise<Connection> {
  try {
    return await Connection.open(url, session);
  } catch (error) {
    const unreachable = `the database at ${placeOf(url)} cannot be reached (${(error as Error).message}): start it, or check the address`;
    throw asRefusal(error, url) ?? new InstallationError([unreachable]);
  }
}

/** Whether a database is reached over a network without TLS, by its URL and PostgreSQL's environment variables. */
export function crossesNetworkInClear(url: string): boolean {
  const { host, ssl } = new Client({ connectionString: url });
  return !ssl && !/^(localhost|127(\.\d{1,3}){3}|\[?::1\]?|\/.*)$/.test(host);
}

/** A sentence with a remedy for the operator, if others may read what is sent to the database. */
export function exposures(url: string): string[] {
  if (!crossesNetworkInClear(url)) return [];
  return [
    `the database at ${placeOf(url)} is reached over a network without TLS: set the server up for TLS, and end VALETKEY_DATABASE_URL with "?sslmode=verify-full", unless nobody can listen between here and there`,
  ];
}

/** The refusal with a remedy for an error of the server, or undefined if none is known. */
export function asRefusal(error: unknown, url: string): InstallationError | undefined {
  if (error instanceof InstallationError) return error;
  const place = placeOf(url);
  const { message } = error as Error;
  switch (sqlState(error)) {
    case SQLSTATE.NO_SUCH_DATABASE:
      return new InstallationError([`there is no database at ${place}: make it with "createdb", or check the address`]);
    case SQLSTATE.INVALID_PASSWORD:
    case SQLSTATE.INVALID_AUTHORIZATION:
      return new InstallationError([`the database at ${place} lets nobody in (${message}): check user and password`]);
    case SQLSTATE.INSUFFICIENT_PRIVILEGE:
      return new InstallationError([
        `the user may not do at ${place} what it must (${message}): let it own the database`,
      ]);
    default:
      return undefined;
  }
}

/** An address without its user and password. */
export function placeOf(url: string): string {
  const { host, pathname } = URL.parse(url) ?? { host: '', pathname: '' };
  return `${host || 'this machine'}${pathname}`;
}
