/**
 * Requests of one kind that arrive together travel as one statement, each with its own guard and its own answer. A few
 * statements are under way at a time, each on its own connection, and what arrives meanwhile makes up the next ones.
 */
import type { QueryResultRow } from 'pg';
import { StoreUnavailable } from '../../oauth/store.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { asStoreError, ConnectionLost } from './errors.ts';
import { Gathering, MOST_PER_STATEMENT } from './gathering.ts';

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
  /** Whether a statement waits until the one before it is answered, since both would wait for each other's rows. */
  readonly isOneAtATime?: boolean;
  /** Called when those who wait begin to be asked for, or are refused: from then on nobody shares their answers. */
  readonly onTaken?: () => void;
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
  readonly #gathering: Gathering;
  /** The look that is due while others are waited for; null when nobody waits. */
  #look: (() => void) | null = null;

  constructor(parts: BatchParts<Request, Answer>) {
    this.#parts = parts;
    this.#gathering = new Gathering(parts.keyOf === undefined);
    parts.connections.onClosing(() => {
      if (this.#look) this.#send();
    });
  }

  /** Asks, with whatever else is asked at about the same time. Throws `StoreUnavailable`, or what the request alone is to blame for. */
  add(request: Request): Promise<Answer> {
    if (this.#queue.length >= MOST_QUEUED)
      return Promise.reject(new StoreUnavailable('too many requests wait for the database'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, key: this.#parts.keyOf?.(request), resolve, reject });
      this.#ask();
      if (this.#look && this.#queue.length >= this.#gathering.enough) this.#send();
    });
  }

  /** Waits for others, looking at each turn of the event loop. One in which nothing comes takes microseconds. */
  #ask(): void {
    if (this.#isAsking || this.#queue.length === 0) return;
    if (this.#parts.isOneAtATime && this.#busy.size > 0) return;
    this.#isAsking = true;
    const since = performance.now();
    let before = 0;
    const look = () => {
      if (this.#look !== look) return;
      const queued = this.#queue.length;
      if (this.#gathering.isOver(queued, performance.now() - since, queued === before)) return this.#send();
      before = queued;
      setImmediate(look);
    };
    this.#look = look;
    this.#gathering.begin();
    if (this.#queue.length >= this.#gathering.enough) this.#send();
    else setImmediate(look);
  }

  /** What is taken is what has come until there is a connection. */
  #send(): void {
    this.#look = null;
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
    this.#parts.onTaken?.();
    const batch = this.#parts.keyOf ? this.#takeFree() : this.#queue.splice(0, MOST_PER_STATEMENT);
    if (batch.length === MOST_PER_STATEMENT) this.#ask();
    if (batch.length > 0) this.#gathering.went(batch.length);
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
      if (error instanceof StoreUnavailable) {
        this.#parts.onTaken?.();
        for (const { reject } of this.#queue.splice(0)) reject(error);
      }
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
 * key before it is sent share the answer. Answers null where there is no row.
 */
export function searchByKey<Row extends Placed, Found>(
  connections: Connections,
  sql: string,
  read: (row: Row, key: string) => Found,
): (key: string) => Promise<Found | null> {
  let asked = new Map<string, Promise<Found | null>>();
  const batches = new Batches<string, Found | null>({
    connections,
    onTaken() {
      asked = new Map();
    },
    async send(connection, keys) {
      const found: (Found | null)[] = keys.map(() => null);
      for (const row of await connection.rows<Row>(sql, [keys]))
        found[row.place - 1] = read(row, keys[row.place - 1] as string);
      return found;
    },
  });
  return (key) => {
    const known = asked.get(key);
    if (known) return known;
    // The last of many is sent by the very call that adds it, and then belongs to those that nobody can share any more.
    const unsent = asked;
    const answer = batches.add(key);
    unsent.set(key, answer);
    return answer;
  };
}
