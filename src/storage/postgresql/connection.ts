/** One connection to the server, with the settings on which durability and patience rest. */
import { Client, type QueryConfig, type QueryResult, type QueryResultRow, types } from 'pg';
import { ConnectionLost, endsSession } from './errors.ts';

/** How a session is used. Times in ms. */
export type Session = {
  /** How long the server works on a statement at most; 0 for no end. */
  readonly statementTimeout: number;
  /** How long a statement waits for a lock at most. */
  readonly lockTimeout: number;
  /** Whether it has only statements that find every row by its key. */
  readonly byKey: boolean;
};

const CONNECT_TIMEOUT_MS = 2500;
/** A statement that the server should have given up so long ago was asked on a line that is dead. */
const DEAD_AFTER_MS = 1000;
const GOODBYE_MS = 500;

const IS_WRITABLE = "SELECT current_setting('transaction_read_only') = 'off' AS writable";

/** A statement has one name, under which each connection prepares it once. */
const names = new Map<string, string>();

/** An open connection. Statements are asked one after the other; parameters are always bound. */
export class Connection {
  readonly #client: Client;
  readonly #statementTimeout: number;
  #isLost = false;
  #onLost = () => {};

  private constructor(client: Client, statementTimeout: number) {
    this.#client = client;
    this.#statementTimeout = statementTimeout;
    // Without a listener the loss of an idle connection would end the process.
    client.on('error', () => this.destroy());
    client.on('end', () => this.destroy());
  }

  /** Connects, within 2.5 s. Throws what the server or the network says, also when the server only reads. */
  static async open(url: string, session: Session): Promise<Connection> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      fallback_application_name: 'valetkey',
    });
    client.setTypeParser(types.builtins.INT8, Number);
    const connection = new Connection(client, session.statementTimeout);
    try {
      await client.connect();
      await connection.script(settings(session));
      const standing = await connection.one<{ writable: boolean }>(IS_WRITABLE);
      if (!standing?.writable) throw new Error('the server is a replica, or set to be read only');
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Has a function called once, when the connection is lost or closed. */
  set onLost(onLost: () => void) {
    this.#onLost = onLost;
    if (this.#isLost) onLost();
  }

  /** The rows that a statement answers. Throws `ConnectionLost`, or the server's error. */
  async rows<Row extends QueryResultRow>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#ask(sql, parameters)).rows as Row[];
  }

  /** The first row that a statement answers. */
  async one<Row extends QueryResultRow>(sql: string, parameters: readonly unknown[] = []): Promise<Row | undefined> {
    return (await this.rows<Row>(sql, parameters))[0];
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
      const answer = await run();
      await this.script('COMMIT');
      return answer;
    } catch (error) {
      if (!this.#isLost) await this.script('ROLLBACK');
      throw error;
    }
  }

  /** Takes leave of the server, and hangs up if that takes long. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), GOODBYE_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(timer);
    this.destroy();
  }

  /** Hangs up. */
  destroy(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#client.connection.stream.destroy();
    this.#onLost();
  }

  #ask(sql: string, parameters: readonly unknown[]) {
    return this.#query({ name: nameOf(sql), text: sql, values: parameters.map(withoutNul) });
  }

  /** With a callback: on the promise that the library makes itself, all that it answered hangs until the whole heap is collected. */
  #query(query: string | QueryConfig) {
    return this.#guarded(
      () =>
        new Promise<QueryResult>((resolve, reject) => {
          this.#client.query(query, (error, result) => (error ? reject(error) : resolve(result)));
        }),
    );
  }

  async #guarded<T>(ask: () => Promise<T>): Promise<T> {
    const patience = this.#statementTimeout + DEAD_AFTER_MS;
    const timer = this.#statementTimeout > 0 ? setTimeout(() => this.destroy(), patience) : undefined;
    try {
      return await ask();
    } catch (error) {
      if (!endsSession(error)) throw error;
      this.destroy();
      throw new ConnectionLost(error as Error);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What every session is told first. Reads see the primary alone, so that what a commit waits for is its own disk. */
function settings({ statementTimeout, lockTimeout, byKey }: Session): string {
  const everywhere = {
    synchronous_commit: 'on',
    default_transaction_isolation: "'read committed'",
    statement_timeout: statementTimeout,
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: 5000,
    jit: 'off',
  };
  // Statements by key are planned once, perhaps while the tables are empty. Of all ways into a table only a bitmap scan
  // cannot do without a key: no plan reads a whole table, whatever becomes of it later. (One that was analysed when it had
  // a single row may be read so until it is analysed again, which autovacuum does after some 50 more.)
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

/** A parameter as JSON. */
export function json(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\u0000') ? JSON.stringify(value, (_, part) => withoutNul(part)) : text;
}

/** PostgreSQL stores no NUL in a text. What people send may hold one, and is then no text that anything is found by. */
function withoutNul(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNul);
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}
