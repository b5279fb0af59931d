/**
 * One PostgreSQL server for the files of a whole run, each test with a database of its own: what a file costs is then not a
 * server, nor a schema. A test that stops its server, or sets it up in its own way, has one of its own (`startPostgres`).
 */
import { randomBytes } from 'node:crypto';
import { Connection } from '../../src/storage/postgresql/connection/connection.ts';
import { plainDatabase } from '../../src/storage/postgresql/plain-database.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { type PostgresServer, queryAt, startPostgres, startPostgresForAll } from './postgres.ts';

/** A server that other tests use as well. */
export type SharedPostgres = Pick<PostgresServer, 'port' | 'url' | 'query'> & {
  /**
   * Makes a database and answers its address: with our schema, and no installation founded in it yet, or as a copy of the one
   * that is named, which nobody is connected to (`template0` is empty).
   */
  createDatabase(template?: string): Promise<string>;
  /** Removes the databases that were made through this. */
  remove(): Promise<void>;
};

/** The variable with the port of the server, and the database that others are copies of. */
const PORT = 'TEST_POSTGRES_PORT';
const TEMPLATE = 'migrated';

/** Starts the server of a run; the variables are for the files' environment. */
export async function startShared(): Promise<{ variables: Record<string, string>; remove(): Promise<void> }> {
  const { server, variables } = await startPostgresForAll({ max_connections: '400' });
  await makeTemplate(server);
  return { variables: { ...variables, [PORT]: String(server.port) }, remove: () => server.remove() };
}

/** The server of the run; where a file is run alone, one of its own. */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const port = Number(process.env[PORT] ?? 0);
  if (port > 0) return sharing(port);
  const server = await startPostgres();
  await makeTemplate(server);
  return { ...sharing(server.port), remove: () => server.remove() };
}

function sharing(port: number): SharedPostgres {
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const admin = url('postgres');
  const made: string[] = [];
  return {
    port,
    url,
    query: queryAt,
    async createDatabase(template = TEMPLATE) {
      const name = `test_${randomBytes(6).toString('hex')}`;
      made.push(name);
      await queryAt(admin, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      return url(name);
    },
    async remove() {
      for (const name of made.splice(0)) await queryAt(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function makeTemplate(server: PostgresServer): Promise<void> {
  await server.query(server.url('postgres'), `CREATE DATABASE ${TEMPLATE} TEMPLATE template0`);
  const session = { statementTimeout: 0, lockTimeout: 0, byKey: false };
  const connection = await Connection.open(server.url(TEMPLATE), session);
  await migrate(plainDatabase(connection), Date.now());
  await connection.close();
}
