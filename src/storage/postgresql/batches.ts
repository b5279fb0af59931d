/**
 * Requests of one kind that arrive together travel as one statement, each with its own guard and its own answer. A few
 * statements are under way at a time, each on its own connection, and what arrives meanwhile makes up the next ones.
 */
import type { QueryResultRow } from 'pg';
import { StoreUnavailable } from '../../oauth/store.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { asStoreError, ConnectionLost } from './errors.ts';

/** So many requests share a statement at most. */
const MOST_PER_STATEMENT = 256;
/** More requests than this do not wait: the database is far behind. */
const MOST_QUEUED = 20_000;

/** How requests of one kind are asked. */
export type BatchParts<Request, Answer> = {
  readonly connections: Connections;
  /**
   * The row that a request changes: two for the same one never share a statement, nor are under way at the same time, and
   * a statement has them in the order of their keys, so that statements do not wait for each other in a circle.
   */
  readonly keyOf?: (request: Request) => string;
  /**
   * Asks for all in one statement, and answers in their order. `again`: an earlier try was cut off, and some of them may
   * have had their effect.
   */
  readonly send: (connection: Connection, requests: readonly Request[], again: boolean) => Promise<readonly Answer[]>;
};

type Entry<Request, Answer> = {
  readonly request: Request;
  readonly key: string | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/** The requests of one kind. */
export class Batches<Request, Answer> {
  readonly #parts: BatchParts<Request, Answer>;
  #queue: Entry<Request, Answer>[] = [];
  /** The keys of requests that are under way. */
  readonly #busy = new Set<string | undefined>();
  #isAsking = false;

  constructor(parts: BatchParts<Request, Answer>) {
    this.#parts = parts;
  }

  /** Asks, with whatever else is asked in this turn. Throws `StoreUnavailable`, or what the request alone is to blame for. */
  add(request: Request): Promise<Answer> {
    if (this.#queue.length >= MOST_QUEUED)
      return Promise.reject(new StoreUnavailable('too many requests wait for the database'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, key: this.#parts.keyOf?.(request), resolve, reject });
      this.#ask();
    });
  }

  /** Waits for a connection; what is taken is what has come until there is one. */
  #ask(): void {
    if (this.#isAsking || this.#queue.length === 0) return;
    this.#isAsking = true;
    let taken: readonly Entry<Request, Answer>[] | null = null;
    const batch = () => {
      taken ??= this.#take();
      return taken;
    };
    void this.#run(batch, false).then(() => {
      for (const { key } of batch()) this.#busy.delete(key);
      // With nothing taken, all that waits is under way for others, whose end asks again.
      if (batch().length > 0) this.#ask();
    });
  }

  #take(): readonly Entry<Request, Answer>[] {
    this.#isAsking = false;
    const batch = this.#parts.keyOf ? this.#takeFree() : this.#queue.splice(0, MOST_PER_STATEMENT);
    if (batch.length === MOST_PER_STATEMENT) this.#ask();
    return batch;
  }

  #takeFree(): Entry<Request, Answer>[] {
    const free: Entry<Request, Answer>[] = [];
    this.#queue = this.#queue.filter((entry) => {
      if (free.length === MOST_PER_STATEMENT || this.#busy.has(entry.key)) return true;
      this.#busy.add(entry.key);
      free.push(entry);
      return false;
    });
    return free.sort((one, other) => ((one.key as string) < (other.key as string) ? -1 : 1));
  }

  /** `again`: whether what is asked may have had its effect already. */
  async #run(batch: () => readonly Entry<Request, Answer>[], again: boolean): Promise<void> {
    const { connections, send } = this.#parts;
    let mayBeDone = again;
    try {
      const answers = await connections.run(async (connection, wasCutOff) => {
        mayBeDone ||= wasCutOff;
        const requests = batch().map(({ request }) => request);
        return requests.length === 0 ? [] : send(connection, requests, mayBeDone);
      });
      for (const [index, { resolve }] of batch().entries()) resolve(answers[index] as Answer);
    } catch (error) {
      const entries = batch();
      // No connection was free in time, for nobody who waits behind this.
      if (error instanceof StoreUnavailable) for (const { reject } of this.#queue.splice(0)) reject(error);
      // Refused as a whole: each tries again alone, so that it fails, if it does, for a reason of its own.
      if (entries.length > 1 && !(error instanceof StoreUnavailable || error instanceof ConnectionLost))
        await Promise.all(entries.map((entry) => this.#run(() => [entry], mayBeDone)));
      else for (const { reject } of entries) reject(asStoreError(error));
    }
  }
}

/** A row that a statement found, with the place of its key among those asked for (from 1 on). */
type Placed = QueryResultRow & { readonly place: number };

/**
 * Prepares a search by key: `sql` gets an array of keys and answers rows with their `place`. Those who ask for the same
 * key in the same turn share the answer. Answers null where there is no row.
 */
export function searchByKey<Row extends Placed, Found>(
  connections: Connections,
  sql: string,
  read: (row: Row, key: string) => Found,
): (key: string) => Promise<Found | null> {
  const asked = new Map<string, Promise<Found | null>>();
  const batches = new Batches<string, Found | null>({
    connections,
    async send(connection, keys) {
      for (const key of keys) asked.delete(key);
      const found: (Found | null)[] = keys.map(() => null);
      for (const row of await connection.rows<Row>(sql, [keys]))
        found[row.place - 1] = read(row, keys[row.place - 1] as string);
      return found;
    },
  });
  return (key) => {
    const known = asked.get(key);
    if (known) return known;
    const answer = batches.add(key).finally(() => asked.delete(key));
    asked.set(key, answer);
    return answer;
  };
}
