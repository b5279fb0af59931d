/**
 * Batches: requests of one kind are sent as one statement, if they arrive in the same turn of the event loop or while
 * no connection is free. Each keeps its own guard and its own result. A statement waits for locked rows only briefly:
 * afterwards it passes over them, and only their own requests wait on.
 */
import { StoreUnavailable } from '../../../oauth/store.ts';
import type { Tuple } from '../../statements/shared-operations.ts';
import type { Connection } from '../connection/connection.ts';
import type { Connections } from '../connection/connections.ts';
import { asStoreError, ConnectionLost, SQLSTATE, sqlState } from '../connection/errors.ts';

/** Maximum number of requests in a statement. */
const MAX_PER_STATEMENT = 256;
/** Maximum number of queued requests; beyond it the database is far behind, and further requests are refused. */
const MAX_QUEUED = 20_000;

/** The rows that a kind of request locks, one for each request. */
export type LockedRows<Request> = {
  /** The table and its key column, inserted into a statement unescaped. */
  readonly table: string;
  readonly key: string;
  /** Returns the key of the request's row, as the server writes it as text. */
  readonly rowOf: (request: Request) => string;
  /**
   * The pool on which a request waits for a row that another session has locked, apart from all others. Without it, the
   * request is refused.
   */
  readonly waits?: Connections;
};

/** The sending of requests of one kind. */
export type BatchParts<Request, Result> = {
  /**
   * The pool, whose size bounds the number of concurrent statements. Its lock timeout is short if the requests lock
   * rows.
   */
  readonly connections: Connections;
  readonly locks?: LockedRows<Request>;
  /**
   * Returns the row that a request changes. Two requests for the same row are never in one statement, nor in concurrent
   * ones. Within a statement they are in key order, so that statements cannot deadlock.
   */
  readonly keyOf?: (request: Request) => string;
  /**
   * Sends all requests in one statement, and returns their results in the same order. `again`: the connection was lost
   * during an earlier attempt, in which some of them may have taken effect.
   */
  readonly send: (connection: Connection, requests: readonly Request[], again: boolean) => Promise<readonly Result[]>;
};

type Entry<Request, Result> = {
  readonly request: Request;
  readonly key: string | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/** The queue of requests of one kind. */
export class Batches<Request, Result> {
  readonly #parts: BatchParts<Request, Result>;
  #queue: Entry<Request, Result>[] = [];
  /** Keys of the requests in progress. */
  readonly #busy = new Set<string | undefined>();
  #isAsking = false;

  constructor(parts: BatchParts<Request, Result>) {
    this.#parts = parts;
  }

  /** Sends a request, batched with concurrent ones. Throws `StoreUnavailable`, or the request's own error. */
  add(request: Request): Promise<Result> {
    if (this.#queue.length >= MAX_QUEUED)
      return Promise.reject(new StoreUnavailable('too many requests wait for the database'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, key: this.#parts.keyOf?.(request), resolve, reject });
      this.#ask();
    });
  }

  /** Schedules a batch at the end of this turn of the event loop, unless one is scheduled already. */
  #ask(): void {
    if (this.#isAsking || this.#queue.length === 0) return;
    this.#isAsking = true;
    setImmediate(() => void this.#send());
  }

  /** Sends every request that is queued when a connection becomes free. */
  async #send(): Promise<void> {
    let taken: readonly Entry<Request, Result>[] | undefined;
    const batch = () => {
      taken ??= this.#take();
      return taken;
    };
    // If no request was taken, other statements use the rows of all queued ones, and schedule a batch when they end.
    await this.#run(batch, false);
  }

  /** Takes the first queued requests whose rows are free. */
  #take(): readonly Entry<Request, Result>[] {
    this.#isAsking = false;
    const batch: Entry<Request, Result>[] = [];
    this.#queue = this.#queue.filter((entry) => {
      if (batch.length === MAX_PER_STATEMENT || this.#busy.has(entry.key)) return true;
      if (entry.key !== undefined) this.#busy.add(entry.key);
      batch.push(entry);
      return false;
    });
    if (batch.length === MAX_PER_STATEMENT) this.#ask();
    if (batch.length > 0) this.#parts.connections.groups.note(batch.length);
    return this.#parts.keyOf
      ? batch.sort((one, other) => ((one.key as string) < (other.key as string) ? -1 : 1))
      : batch;
  }

  /** `again`: true if the requests may already have taken effect. */
  async #run(
    batch: () => readonly Entry<Request, Result>[],
    again: boolean,
    connections = this.#parts.connections,
  ): Promise<void> {
    const { locks, send } = this.#parts;
    const isWaiting = connections === locks?.waits;
    let mayBeDone = again;
    try {
      const results = await connections.run(async (connection, wasCutOff) => {
        mayBeDone ||= wasCutOff;
        const requests = batch().map(({ request }) => request);
        return requests.length === 0 ? [] : send(connection, requests, mayBeDone);
      });
      this.#end(batch(), ({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      const entries = batch();
      // If no connection was free in time, the requests queued behind this batch would find none either.
      if (error instanceof StoreUnavailable && !isWaiting)
        for (const { reject } of this.#queue.splice(0)) reject(error);
      if (locks && !isWaiting && isLockTimeout(error)) await this.#passOver(entries, mayBeDone, locks, error);
      // The statement failed as a whole: each request is retried alone, so that only the faulty one fails.
      else if (entries.length > 1 && !(error instanceof StoreUnavailable || error instanceof ConnectionLost))
        await Promise.all(entries.map((entry) => this.#run(() => [entry], mayBeDone, connections)));
      else this.#end(entries, ({ reject }) => reject(asStoreError(error)));
    }
  }

  /**
   * After a lock timeout, in which nothing was written: sends the requests whose rows are free again, together; the
   * others wait, those for the same row together.
   */
  async #passOver(
    entries: readonly Entry<Request, Result>[],
    again: boolean,
    { rowOf, waits, ...rows }: LockedRows<Request>,
    error: unknown,
  ): Promise<void> {
    const byRow = Map.groupBy(entries, ({ request }) => rowOf(request));
    const locked = byRow.size > 1 ? await this.#lockedOf([...byRow.keys()], rows) : new Set(byRow.keys());
    const free = entries.filter(({ request }) => !locked.has(rowOf(request)));
    const wait = (some: readonly Entry<Request, Result>[]) =>
      waits ? this.#run(() => some, again, waits) : this.#end(some, ({ reject }) => reject(asStoreError(error)));
    // If no row is locked any more, they may have waited for something else, such as the table: together.
    if (locked.size === 0) await wait(entries);
    else {
      const sent = free.length > 0 ? [this.#run(() => free, again)] : [];
      await Promise.all([...sent, ...[...locked].map((row) => wait(byRow.get(row) ?? []))]);
    }
  }

  /** Returns the keys of rows that other sessions have locked at this moment; none if the server cannot say. */
  async #lockedOf(
    keys: readonly string[],
    { table, key }: Pick<LockedRows<Request>, 'table' | 'key'>,
  ): Promise<ReadonlySet<string>> {
    const sql = `
      SELECT ${key}::text FROM ${table} WHERE ${key} = ANY ($1)
      EXCEPT SELECT ${key}::text FROM (
        SELECT ${key} FROM ${table} WHERE ${key} = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED) AS free`;
    try {
      const found = await this.#parts.connections.run((connection) => connection.tuples<[string]>(sql, [keys]));
      return new Set(found.map(([row]) => row));
    } catch {
      return new Set();
    }
  }

  /** Answers requests, and frees their rows for queued ones. */
  #end(
    entries: readonly Entry<Request, Result>[],
    answer: (entry: Entry<Request, Result>, index: number) => void,
  ): void {
    for (const [index, entry] of entries.entries()) {
      this.#busy.delete(entry.key);
      answer(entry, index);
    }
    if (entries.length > 0) this.#ask();
  }
}

function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === SQLSTATE.LOCK_NOT_AVAILABLE;
}

/**
 * Prepares a search by key. `sql` receives an array of keys and returns rows whose last value is the position of their
 * key in it (from 1). The result is null if there is no row.
 */
export function searchByKey<Row extends Tuple, Found>(
  connections: Connections,
  sql: string,
  read: (row: Row) => Found,
): (key: string) => Promise<Found | null> {
  const batches = new Batches<string, Found | null>({
    connections,
    async send(connection, keys) {
      const found: (Found | null)[] = keys.map(() => null);
      for (const row of await connection.tuples<Row>(sql, [keys])) found[(row.at(-1) as number) - 1] = read(row);
      return found;
    },
  });
  return (key) => batches.add(key);
}
