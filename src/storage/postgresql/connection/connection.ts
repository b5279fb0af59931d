/** One connection to the server, with the settings that durability and timeouts depend on. */
import { Client, type QueryArrayConfig, type QueryConfig, type QueryResult, type QueryResultRow, types } from 'pg';
import { hmacBlocks, type NewChain } from '../../../oauth/trail/audit-chain.ts';
import type { Tuple } from '../../statements/shared-operations.ts';
import { asStoreError, ConnectionLost, endsSession, whyUnconfirmed } from './errors.ts';
import { readPasswordFromFile } from './password-file.ts';

/** The use of a session. Times in ms. */
export type Session = {
  /** Maximum time of a statement on the server; 0 for no limit. */
  readonly statementTimeout: number;
  /** Maximum time that a statement waits for a lock. */
  readonly lockTimeout: number;
  /** True if all statements find every row by its key. */
  readonly byKey: boolean;
  /** The session's name in the server's views, if it matters; inserted into a statement unescaped. */
  readonly name?: string;
  /** The chain of the events that the session records; without one it can record none. */
  readonly chain?: NewChain;
};

/** Maximum time for connecting (ms). */
export const CONNECT_TIMEOUT_MS = 2500;
/** Time after a statement's timeout at which a silent connection counts as dead (ms). */
const DEAD_AFTER_MS = 1000;
/** Duration from which a statement counts as slow (ms). */
const SLOW_AFTER_MS = 1000;
const GOODBYE_MS = 500;

/**
 * The server's state. The timeline is taken from the name of its current WAL file: the control file has the timeline of
 * the last checkpoint, which a promotion does not wait for. A replica has no current WAL file.
 */
const SERVER_STATE = `
  SELECT current_setting('transaction_read_only') = 'off' AS writable, pg_backend_pid() AS pid,
    CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END AS wal_file`;

type ServerState = { readonly writable: boolean; readonly pid: number; readonly wal_file: string | null };
type Primary = { readonly pid: number; readonly wal_file: string };

/** Begins a chain. Other sessions cannot see bound values, unlike those of `SET`. */
const BEGIN_CHAIN = `
  SELECT set_config('valetkey.chain_id', $1, false), set_config('valetkey.chain_number', '0', false),
    set_config('valetkey.chain_inner', $2, false), set_config('valetkey.chain_outer', $3, false)`;

/** A separate commit, which like any other waits for the disk and for the synchronous standby; it changes no row. */
const EMPTY_COMMIT = "SELECT pg_logical_emit_message(true, 'valetkey', '')";

/** Names of the statements, by which each connection prepares each one once. */
const names = new Map<string, string>();

/** An open connection. It runs one statement after the other; parameters are always bound. */
export class Connection {
  /** Id of the root key of the session's chain, or null without a chain. */
  readonly chainKeyId: number | null;
  /** The server's timeline, which increases with each failover and stays the same while the server is the primary. */
  readonly timeline: number;
  /** True if there is no pooler in front of the server: a pooler gives its clients its own process ids. */
  readonly isDirect: boolean;
  /** Called when a statement takes longer than a second; the statement continues. */
  onSlow = (): void => {};
  readonly #client: Client;
  readonly #statementTimeout: number;
  #isLost = false;
  /** The reason that a commit may be missing on the standby; the session then ends, and the commit is not confirmed. */
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

  /**
   * Connects within `timeout`, and sets the session up within the same time again (ms). Throws the error of the server
   * or the network, also if the server is read-only.
   */
  static async open(url: string, session: Session, timeout = CONNECT_TIMEOUT_MS): Promise<Connection> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: timeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      fallback_application_name: 'valetkey',
    });
    readPasswordFromFile(client);
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

  /** Called once, when the connection is lost or closed. */
  set onLost(onLost: () => void) {
    this.#onLost = onLost;
    if (this.#isLost) onLost();
  }

  /** Returns the rows of a statement. Throws `ConnectionLost`, or the server's error. */
  async rows<Row extends QueryResultRow>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#ask(sql, parameters)).rows as Row[];
  }

  /** Returns the first row of a statement. */
  async one<Row extends QueryResultRow>(sql: string, parameters: readonly unknown[] = []): Promise<Row | undefined> {
    return (await this.rows<Row>(sql, parameters))[0];
  }

  /** Returns each row's values, in column order. */
  async tuples<Row extends Tuple>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#ask(sql, parameters, 'array')).rows as unknown as Row[];
  }

  /** Runs a statement; returns the number of changed rows. */
  async change(sql: string, parameters: readonly unknown[] = []): Promise<number> {
    return (await this.#ask(sql, parameters)).rowCount ?? 0;
  }

  /** Runs statements without parameters, such as a migration. */
  async script(sql: string): Promise<void> {
    await this.#query(sql);
  }

  /** Runs `run` in one transaction, which is rolled back if it throws. */
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
   * Waits until everything that this session has read is on the synchronous standby too, if there is one. A commit
   * becomes visible without being on the standby if its wait was cut short: by a cancellation, or by a crash. Throws
   * `StoreUnavailable`.
   */
  async confirmSeen(): Promise<void> {
    try {
      await this.rows(EMPTY_COMMIT);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /** Closes the session; after a timeout, closes only the socket. */
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

  /**
   * Listens to a channel, and returns a function that resolves to true if a notification arrived within `timeout` (ms).
   */
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
      // With a callback: the library's promise would keep each result alive until a full garbage collection.
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

/** Begins the chain, and sets the session up and reads the server's state in one script. */
async function settle(client: Client, session: Session): Promise<Primary> {
  if (session.chain) {
    const { inner, outer } = hmacBlocks(session.chain.key);
    await client.query(BEGIN_CHAIN, [session.chain.id, inner, outer]);
  }
  const results = (await client.query(
    `${settings(session)} ${SERVER_STATE}`,
  )) as unknown as readonly QueryResult<ServerState>[];
  const { writable, pid, wal_file } = (results.at(-1) as QueryResult<ServerState>).rows[0] as ServerState;
  if (!writable || wal_file === null) throw new Error('the server is a replica, or set to be read only');
  return { pid, wal_file };
}

/**
 * Returns the settings of a session. With `on` a commit waits for the disk, and for that of a synchronous standby if
 * there is one. It need not be visible there, since only the primary is read.
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
    bytea_output: 'hex', // Keys of locked rows are compared in this form.
  };
  // Statements by key are planned once, perhaps while the tables are empty. The plan must not read a whole table that
  // grows later, so only bitmap scans are enabled: they always need a key. (If a table was analysed with a single row,
  // it may be read as a whole until autovacuum analyses it again, after about 50 more rows.)
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

/**
 * Replaces NUL, which PostgreSQL refuses in a text, but a request may contain. The replaced text then matches no row.
 */
function withoutNul(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNul);
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}
