/** Two PostgreSQL servers: a primary, and a standby that each commit waits for. */
import { setTimeout as pause } from 'node:timers/promises';
import { type PostgresServer, startPostgres } from './postgres.ts';

/** Both servers, and a database on them. */
export type Cluster = {
  readonly one: PostgresServer;
  readonly two: PostgresServer;
  /** The URL of the database with both hosts, as an operator writes it. */
  readonly url: string;
  /** The URL of the database at one of them. */
  urlAt(server: PostgresServer): string;
  /** Makes the standby a primary. */
  promote(): Promise<void>;
  remove(): Promise<void>;
};

const SYNCHRONOUS = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
const LOOK_AGAIN_MS = 20;

/** Starts them with an empty database. */
export async function startCluster(): Promise<Cluster> {
  const one = await startPostgres();
  const two = await one.makeStandby();
  const { pathname } = new URL(await one.createDatabase());
  const ask = (server: PostgresServer, sql: string) => server.query(server.url('postgres'), sql);
  await ask(one, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
  await ask(one, 'SELECT pg_reload_conf()');
  while ((await ask(one, SYNCHRONOUS)).length === 0) await pause(LOOK_AGAIN_MS);
  const replayed = () => two.query(two.url(pathname.slice(1)), 'SELECT 1').catch(() => []);
  while ((await replayed()).length === 0) await pause(LOOK_AGAIN_MS);
  return {
    one,
    two,
    url: `postgres://postgres@127.0.0.1:${one.port},127.0.0.1:${two.port}${pathname}?target_session_attrs=read-write`,
    urlAt: (server) => server.url(pathname.slice(1)),
    async promote() {
      await ask(two, 'SELECT pg_promote()');
    },
    async remove() {
      await Promise.all([one.remove(), two.remove()]);
    },
  };
}
