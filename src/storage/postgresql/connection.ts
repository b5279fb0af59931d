/** One connection to the server, with the settings that durability and timeouts depend on. */
import { Client, type QueryArrayConfig, type QueryConfig, type QueryResult, type QueryResultRow, types } from 'pg';
import { hmacBlocks, type NewChain } from '../../oauth/trail/audit-chain.ts';
import type { Tuple } from '../acts.ts';
import { asStoreError, ConnectionLost, endsSession, whyUnconfirmed } from './errors.ts';

/** How a session is used. Times in ms. */
export type Session = {
  /** Maximum time that the server works on a statement; 0 for no limit. */
  readonly statementTimeout: number;
  /** Maximum time that a statement waits for a lock. */
  readonly lockTimeout: number;
  /** Whether all statements find every row by its key. */
  readonly byKey: boolean;
  /** The name by which the server shows it, where that matters: it stands in the statement as it is. */
  readonly name?: string;
  /** The chain of the events that it records; without one it can record none. */
  readonly chain?: NewChain;
};

/** Maximum time for connecting (ms). */
export const CONNECT_TIMEOUT_MS = 2500;
/** If nothing came from the server this long after the statement's timeout, the connection is dead (ms). */
const DEAD_AFTER_MS = 1000;
/** A statement that takes longer than this is slow (ms). */
const SLOW_AFTER_MS = 1000;
const GOODBYE_MS = 500;

/**
 * What the server is. Its timeline is in the name of its current WAL file, since the control file has the one of the last
 * checkpoint, which a promotion does not wait for. A replica has no current WAL file.
 */
const STANDING = `
  SELECT current_setting('transaction_read_only') = 'off' AS writable, pg_backend_pid() AS pid,
    CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END AS wal_file`;

type Standing = { readonly writable: boolean; readonly pid: number; readonly wal_file: string | null };
type Primary = { readonly pid: number; readonly wal_file: string };

/** Begins a chain. Bound values, unlike `SET`, are not shown to other sessions. */
const BEGIN_CHAIN = `
  SELECT set_config('valetkey.chain_id', $1, false), set_config('valetkey.chain_number', '0', false),
    set_config('valetkey.chain_inner', $2, false), set_config('valetkey.chain_outer', $3, false)`;

/** A commit of its own, which like any other waits for the disk and for the synchronous standby; it changes no row. */
const EMPTY_COMMIT = "SELECT pg_logical_emit_message(true, 'valetkey', '')";

/** The name of each statement, under which each connection prepares it once. */
const names = new Map<string, string>();

/** An open connection. It runs one statement after the other; parameters are always bound. */
export class Connection {
  /** The root key of its chain, or null without one. */
  readonly chainKeyId: number | null;
  /** The timeline of the server, which grows with each failover and does not change while the server is the primary. */
  readonly timeline: number;
  /** Whether no pooler stands before the server: one gives its clients process ids of its own making. */
  readonly isDirect: boolean;
  /** A function that is called when a statement takes longer than a second, and works on. */
  onSlow = (): void => {};
  readonly #client: Client;
  readonly #statementTimeout: number;
  #isLost = false;
  /** Why a commit is not known to be on the standby; then the session ends, and the commit is not answered. */
  #unconfirmed: Error | null = null;
  #onLost = () => {};

  private constructor(client: Client, { statementTimeout, chain }: Session, { pid, wal_file }: Primary) {
    this.#client = client;
    this.#statementTimeout = statementTimeout;
    this.chainKeyId = chain?.keyId ?? null;
    this.timeline = Number.parseInt(wal_file.slice(0, 8), 16);
    this.isDirect = (client as Client & { readonly processID: number }).processID === pid;
    client.on('error', () => this.destroy());
    client.on('end', () => this.destroy());
    client.on('notice', (notice) => {
      this.#unconfirmed ??= whyUnconfirmed(notice);
    });
  }

  /** Connects within `timeout`, and has as long to set the session up (ms). Throws the error of the server or the network, also if the server is read-only. */
  static async open(url: string, session: Session, timeout = CONNECT_TIMEOUT_MS): Promise<Connection> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: timeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      fallback_application_name: 'valetkey',
    });
    client.setTypeParser(types.builtins.INT8, Number);
    // Without a listener the loss of an idle connection would end the process.
    client.on('error', () => {});
    let timer: NodeJS.Timeout | undefined;
    try {
      await client.connect();
      timer = setTimeout(() => client.connection.stream.destroy(), timeout);
      return new Connection(client, session, await settle(client, session));
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** A function that is called once, when the connection is lost or closed. */
  set onLost(onLost: () => void) {
    this.#onLost = onLost;
    if (this.#isLost) onLost();
  }

  /** The rows that a statement returns. Throws `ConnectionLost`, or the server's error. */
  async rows<Row extends QueryResultRow>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#ask(sql, parameters)).rows as Row[];
  }

  /** The first row that a statement returns. */
  async one<Row extends QueryResultRow>(sql: string, parameters: readonly unknown[] = []): Promise<Row | undefined> {
    return (await this.rows<Row>(sql, parameters))[0];
  }

  /** The values of each row, in the order of the columns. */
  async tuples<Row extends Tuple>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#ask(sql, parameters, 'array')).rows as unknown as Row[];
  }

  /** How many rows a statement changed. */
  async change(sql: string, parameters: readonly unknown[] = []): Promise<number> {
    return (await this.#ask(sql, parameters)).rowCount ?? 0;
  }

  /** Runs statements without parameters, such as a migration. */
  async script(sql: string): Promise<void> {
    await this.#query(sql);
  }

  /** Runs something in one transaction: all of it or, if it throws, nothing of it. */
  async transaction<T>(run: () => Promise<T>): Promise<T> {
    await this.script('BEGIN');
    try {
      const result = await run();
      await this.script('COMMIT');
      return result;
    } catch (error) {
      if (!this.#isLost) await this.script('ROLLBACK');
      throw error;
    }
  }

  /**
   * Waits until all that this session has seen is on the synchronous standby too, if there is one. A commit is seen before
   * where its wait for the standby was cut short: by whoever cancelled it, or by a crash. Throws `StoreUnavailable`.
   */
  async confirmSeen(): Promise<void> {
    try {
      await this.rows(EMPTY_COMMIT);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /** Closes the session; if that takes long, it only closes the socket. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), GOODBYE_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(timer);
    this.destroy();
  }

  /** Closes the socket. */
  destroy(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#client.connection.stream.destroy();
    this.#onLost();
  }

  /** Listens to a channel, and returns a function that says whether a notification came within `timeout` (ms). */
  async listen(channel: string): Promise<(timeout: number) => Promise<boolean>> {
    const heard = Promise.withResolvers<boolean>();
    this.#client.on('notification', (notification) => notification.channel === channel && heard.resolve(true));
    await this.script(`LISTEN ${channel}`);
    return async (timeout) => {
      const timer = setTimeout(() => heard.resolve(false), timeout);
      const isHeard = await heard.promise;
      clearTimeout(timer);
      return isHeard;
    };
  }

  #ask(sql: string, parameters: readonly unknown[], rowMode?: 'array') {
    const query = { name: nameOf(sql), text: sql, values: parameters.map(withoutNul) };
    return this.#query(rowMode ? { ...query, rowMode } : query);
  }

  async #query(query: string | QueryConfig | QueryArrayConfig): Promise<QueryResult> {
    const rest = this.#statementTimeout + DEAD_AFTER_MS - SLOW_AFTER_MS;
    let timer: NodeJS.Timeout | undefined;
    const whenSlow = () => {
      timer = setTimeout(() => this.destroy(), rest);
      this.onSlow();
    };
    if (this.#statementTimeout > 0) timer = setTimeout(whenSlow, SLOW_AFTER_MS);
    try {
      // With a callback: the library's own promise would keep each result alive until a full garbage collection.
      const result = await new Promise<QueryResult>((resolve, reject) => {
        this.#client.query(query, (error, result) => (error ? reject(error) : resolve(result)));
      });
      if (this.#unconfirmed) throw this.#unconfirmed;
      return result;
    } catch (error) {
      if (!this.#unconfirmed && !endsSession(error)) throw error;
      this.destroy();
      throw new ConnectionLost(this.#unconfirmed ?? (error as Error));
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Begins the chain, sets the session up, and looks at the server in the same script. */
async function settle(client: Client, session: Session): Promise<Primary> {
  if (session.chain) {
    const { inner, outer } = hmacBlocks(session.chain.key);
    await client.query(BEGIN_CHAIN, [session.chain.id, inner, outer]);
  }
  const results = (await client.query(
    `${settings(session)} ${STANDING}`,
  )) as unknown as readonly QueryResult<Standing>[];
  const { writable, pid, wal_file } = (results.at(-1) as QueryResult<Standing>).rows[0] as Standing;
  if (!writable || wal_file === null) throw new Error('the server is a replica, or set to be read only');
  return { pid, wal_file };
}

/**
 * The settings of a session. With `on` a commit waits for the disk, and for that of a synchronous standby if there is one.
 * It need not be seen there, since only the primary is read.
 */
function settings({ statementTimeout, lockTimeout, byKey, name }: Session): string {
  const everywhere = {
    ...(name === undefined ? {} : { application_name: `'${name}'` }),
    synchronous_commit: 'on',
    default_transaction_isolation: "'read committed'",
    statement_timeout: statementTimeout,
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: 5000,
    jit: 'off',
  };
  // Statements by key are planned once, perhaps while the tables are empty. The plan must not read a whole table that
  // grows later, so only bitmap scans are enabled: they always need a key. (A table that was analysed when it had a single
  // row may be read as a whole until it is analysed again, which autovacuum does after some 50 more rows.)
  const ofKeys = {
    plan_cache_mode: 'force_generic_plan',
    enable_bitmapscan: 'on',
    enable_seqscan: 'off',
    enable_indexscan: 'off',
    enable_indexonlyscan: 'off',
  };
  return Object.entries(byKey ? { ...everywhere, ...ofKeys } : everywhere)
    .map(([name, value]) => `SET ${name} = ${value};`)
    .join(' ');
}

function nameOf(sql: string): string {
  const known = names.get(sql);
  if (known !== undefined) return known;
  const name = `s${names.size}`;
  names.set(sql, name);
  return name;
}

/** PostgreSQL refuses NUL in a text, but a request may contain it. The replaced text then matches no row. */
function withoutNul(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNul);
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}
