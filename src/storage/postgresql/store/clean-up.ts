/**
 * The clean-up in PostgreSQL, by one instance at a time. Its statements run on the connection that holds the lock, so
 * that an instance that loses the lock cannot continue.
 */
import { CleanUp } from '../../clean-up/clean-up.ts';
import type { KeptTime } from '../../clean-up/clean-up-time.ts';
import { DYING, dyingAt } from '../../clean-up/dead-rows.ts';
import type { Connection } from '../connection/connection.ts';
import { asStoreError } from '../connection/errors.ts';
import { LOCKS } from '../statements/locks.ts';
import { DIALECT } from '../statements/postgresql-dialect.ts';
import { clearAssertions } from './client-assertions.ts';
import { COUNTER } from './counters.ts';
import { DEVICE_REQUEST } from './device-requests.ts';

const TRY_TO_LEAD = 'SELECT pg_try_advisory_lock($1, $2) AS leads';

/** Returns the clean-up of one instance. Times in ms. */
export function cleanUpOf(open: () => Promise<Connection>, kept: KeptTime, now: () => number): CleanUp {
  const leader = new Leader(open);
  return new CleanUp({
    // Device requests after an hour instead of a day, since they contain source networks. An expired counter is the
    // same as none.
    walks: [...DYING, dyingAt(DEVICE_REQUEST, 'expires_at'), dyingAt(COUNTER, 'arrives_at')],
    givenId: DIALECT.givenId,
    select: (sql, values) => leader.ask((connection) => connection.tuples(sql, values)),
    remove: (_keys, sql, values) => leader.ask((connection) => connection.change(sql, values)),
    window: 512,
    deletions: 64,
    stepEvery: 250,
    busyStepEvery: 50,
    marksAtOnce: 1000,
    clearMarks: (before, most) => leader.ask((connection) => clearAssertions(connection, before, most)),
    leader,
    keptTime: kept,
    now,
  });
}

/** The connection that holds the clean-up lock. */
class Leader {
  readonly #open: () => Promise<Connection>;
  #connection: Connection | null = null;
  #isStopped = false;

  constructor(open: () => Promise<Connection>) {
    this.#open = open;
  }

  /** Returns true if this instance holds the lock, or acquires it now. Throws `StoreUnavailable`. */
  async leads(): Promise<boolean> {
    if (this.#connection && !this.#connection.isLost) return true;
    try {
      const connection = await this.#open();
      const got = await connection.one<{ leads: boolean }>(TRY_TO_LEAD, LOCKS.cleanUp);
      if (got?.leads && !this.#isStopped) this.#connection = connection;
      else await connection.close();
      return this.#connection === connection;
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /** Runs `work` on the connection that holds the lock. Throws `StoreUnavailable`. */
  async ask<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await work(this.#connection as Connection);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#connection?.destroy();
  }
}
