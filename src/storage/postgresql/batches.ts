/**
 * Batches: requests of one kind that arrive together are sent as one statement; each keeps its own guard and result. A
 * few statements run at a time, each on its own connection. Requests that arrive meanwhile go with the next statements.
 */
import { StoreUnavailable } from '../../oauth/store.ts';
import type { Tuple } from '../acts.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { asStoreError, ConnectionLost } from './errors.ts';
import { ENOUGH, Gathering, MAX_PER_STATEMENT } from './gathering.ts';

/** Maximum number of requests that wait; with more the database is far behind, and further ones are refused. */
const MAX_QUEUED = 20_000;

/** How requests of one kind are sent. */
export type BatchParts<Request, Result> = {
  readonly connections: Connections;
  /**
   * The row that a request changes. Two requests for the same row are never in one statement, nor under way at the same
   * time. Within a statement they are in the order of their keys, so that statements cannot deadlock.
   */
  readonly keyOf?: (request: Request) => string;
  /** Whether a statement waits for the one before it to end, since both could wait for each other's rows. */
  readonly isOneAtATime?: boolean;
  /** Called when waiting requests are taken into a statement, or refused: then no other caller may share their results. */
  readonly onTaken?: () => void;
  /**
   * Sends all in one statement, and returns their results in the same order. `again`: the connection was lost during an
   * earlier try, and some of them may have had their effect.
   */
  readonly send: (connection: Connection, requests: readonly Request[], again: boolean) => Promise<readonly Result[]>;
};

type Entry<Request, Result> = {
  readonly request: Request;
  readonly key: string | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/** The requests of one kind. */
export class Batches<Request, Result> {
  readonly #parts: BatchParts<Request, Result>;
  #queue: Entry<Request, Result>[] = [];
  /** The keys of requests that are under way. */
  readonly #busy = new Set<string | undefined>();
  #isAsking = false;
  readonly #gathering = new Gathering();
  /** The next check whether to go on waiting for more requests; null while nothing waits. */
  #check: (() => void) | null = null;

  constructor(parts: BatchParts<Request, Result>) {
    this.#parts = parts;
    parts.connections.onClosing(() => {
      if (this.#check) this.#send();
    });
  }

  /** Sends a request, together with others of about the same time. Throws `StoreUnavailable`, or the request's own error. */
  add(request: Request): Promise<Result> {
    if (this.#queue.length >= MAX_QUEUED)
      return Promise.reject(new StoreUnavailable('too many requests wait for the database'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, key: this.#parts.keyOf?.(request), resolve, reject });
      this.#ask();
      if (this.#check && this.#queue.length >= ENOUGH) this.#send();
    });
  }

  /** Waits for more requests, with a check in each turn of the event loop. A turn without any takes microseconds. */
  #ask(): void {
    if (this.#isAsking || this.#queue.length === 0) return;
    if (this.#parts.isOneAtATime && this.#busy.size > 0) return;
    this.#isAsking = true;
    const since = performance.now();
    let before = 0;
    const check = () => {
      if (this.#check !== check) return;
      const queued = this.#queue.length;
      if (this.#gathering.isOver(queued, performance.now() - since, queued === before)) return this.#send();
      before = queued;
      setImmediate(check);
    };
    this.#check = check;
    if (this.#queue.length >= ENOUGH) this.#send();
    else setImmediate(check);
  }

  /** Sends when a connection is free, with all requests that have come by then. */
  #send(): void {
    this.#check = null;
    let taken: readonly Entry<Request, Result>[] | null = null;
    const batch = () => {
      taken ??= this.#take();
      return taken;
    };
    void this.#run(batch, false).then(() => {
      for (const { key } of batch()) this.#busy.delete(key);
      // If none was taken, the rows of all that wait are in use by other statements, whose end calls this again.
      if (batch().length > 0) this.#ask();
    });
  }

  #take(): readonly Entry<Request, Result>[] {
    this.#isAsking = false;
    this.#parts.onTaken?.();
    const batch = this.#parts.keyOf ? this.#takeFree() : this.#queue.splice(0, MAX_PER_STATEMENT);
    if (batch.length === MAX_PER_STATEMENT) this.#ask();
    if (batch.length > 0) {
      this.#gathering.sent(batch.length);
      this.#parts.connections.groups.note(batch.length);
    }
    return batch;
  }

  #takeFree(): Entry<Request, Result>[] {
    const free: Entry<Request, Result>[] = [];
    this.#queue = this.#queue.filter((entry) => {
      if (free.length === MAX_PER_STATEMENT || this.#busy.has(entry.key)) return true;
      this.#busy.add(entry.key);
      free.push(entry);
      return false;
    });
    return free.sort((one, other) => ((one.key as string) < (other.key as string) ? -1 : 1));
  }

  /** `again`: whether the requests may have had their effect already. */
  async #run(batch: () => readonly Entry<Request, Result>[], again: boolean): Promise<void> {
    const { connections, send } = this.#parts;
    let mayBeDone = again;
    try {
      const results = await connections.run(async (connection, wasCutOff) => {
        mayBeDone ||= wasCutOff;
        const requests = batch().map(({ request }) => request);
        return requests.length === 0 ? [] : send(connection, requests, mayBeDone);
      });
      for (const [index, { resolve }] of batch().entries()) resolve(results[index] as Result);
    } catch (error) {
      const entries = batch();
      // If no connection was free in time, there is none for those behind this one either.
      if (error instanceof StoreUnavailable) {
        this.#parts.onTaken?.();
        for (const { reject } of this.#queue.splice(0)) reject(error);
      }
      // The statement failed as a whole: each request tries again alone, so that only the one that is at fault fails.
      if (entries.length > 1 && !(error instanceof StoreUnavailable || error instanceof ConnectionLost))
        await Promise.all(entries.map((entry) => this.#run(() => [entry], mayBeDone)));
      else for (const { reject } of entries) reject(asStoreError(error));
    }
  }
}

/**
 * Prepares a search by key. `sql` gets an array of keys and returns rows, whose last value is the place of their key in it
 * (from 1 on). Callers that ask for the same key before it is sent share the result; null if there is no row.
 */
export function searchByKey<Row extends Tuple, Found>(
  connections: Connections,
  sql: string,
  read: (row: Row) => Found,
): (key: string) => Promise<Found | null> {
  let asked = new Map<string, Promise<Found | null>>();
  const batches = new Batches<string, Found | null>({
    connections,
    onTaken() {
      asked = new Map();
    },
    async send(connection, keys) {
      const found: (Found | null)[] = keys.map(() => null);
      for (const row of await connection.tuples<Row>(sql, [keys])) found[(row.at(-1) as number) - 1] = read(row);
      return found;
    },
  });
  return (key) => {
    const known = asked.get(key);
    if (known) return known;
    // `add` may send at once and replace `asked`: this search then belongs to those that can no longer be shared.
    const unsent = asked;
    const result = batches.add(key);
    unsent.set(key, result);
    return result;
  };
}
