/** What the stores stand on: connections for reads by key, for writes by key, and for everything else. */
import { randomUUID } from 'node:crypto';
import type { GrantedAccess } from '../../oauth/grants/granted-access.ts';
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import type { Tuple } from '../acts.ts';
import type { PoolFigures } from '../storage.ts';
import { NEW_EVENT, newEvent } from '../tables/audit-events.ts';
import { Table } from '../tables/table.ts';
import type { Connection } from './connection.ts';
import { Connections, type PoolUse, type Work } from './connections.ts';
import { asStoreError } from './errors.ts';
import { arraysOf, given } from './rows.ts';

/** An event with the name of the attempt that it tells of. */
const ATTEMPTED_EVENT = NEW_EVENT.and(
  Table.of<{ readonly attempt: string | null }>('audit_event', { attempt: 'text?' }),
);

/** Records events; one that is there stays as it is. */
const RECORD_EVENTS = `
  INSERT INTO audit_event (${NEW_EVENT.names}, attempt)
  SELECT ${NEW_EVENT.names}, attempt::uuid FROM ${given(ATTEMPTED_EVENT)}
  ON CONFLICT (attempt) WHERE attempt IS NOT NULL DO NOTHING`;

/** What connections are for: searches by key, writes by key, and everything else. */
export type Purpose = 'reads' | 'writes' | 'others';

/** Maximum number of connections for each purpose. */
export type Sizes = Readonly<Record<Purpose, number>>;

/** The database as one instance uses it. */
export class Database {
  /** For searches by key: a write that waits for the disk must not stand before them. */
  readonly reads: Connections;
  /** For writes by key. */
  readonly writes: Connections;
  readonly #others: Connections;

  constructor(open: (purpose: Purpose) => Promise<Connection>, sizes: Sizes, use: Partial<PoolUse> = {}) {
    const pool = (purpose: Purpose) => new Connections(sizes[purpose], () => open(purpose), use);
    this.reads = pool('reads');
    this.writes = pool('writes');
    this.#others = pool('others');
  }

  /** Its pools. */
  pools(): PoolFigures[] {
    const pools = { reads: this.reads, writes: this.writes, others: this.#others };
    return Object.entries(pools).map(([purpose, pool]) => ({ purpose, ...pool.figures() }));
  }

  /** The values of the rows of a query. Throws `StoreUnavailable`. */
  tuples<Row extends Tuple>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.run((connection) => connection.tuples<Row>(sql, parameters));
  }

  /** How many rows a statement changed; it must be harmless to repeat. Throws `StoreUnavailable`. */
  change(sql: string, parameters: readonly unknown[] = []): Promise<number> {
    return this.run((connection) => connection.change(sql, parameters));
  }

  /** Does something on a connection; it must be harmless to repeat. Throws `StoreUnavailable`. */
  async run<T>(work: Work<T>): Promise<T> {
    try {
      return await this.#others.run(work);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /**
   * Does something in a transaction. Its event is recorded if, and only if, it had an effect: a result that is not false,
   * 0 or an empty list. A list holds the access that ended, which the event records. The event also has the name of this
   * attempt: after a lost connection the act is done again only if no event has that name. `recall` then returns what
   * happened, where the result is more than true.
   */
  async act<T extends boolean | number | readonly GrantedAccess[]>(
    event: AuditEvent,
    effect: (connection: Connection, attempt: string) => Promise<T>,
    recall: (connection: Connection, attempt: string) => Promise<T> = async () => true as T,
  ): Promise<T> {
    const attempt = randomUUID();
    const recorded = (ended: readonly GrantedAccess[] | null) =>
      arraysOf(ATTEMPTED_EVENT, [{ ...newEvent(event, ended), attempt }]);
    return this.run(async (connection, again) => {
      if (again && (await happened(connection, recorded(null)))) return recall(connection, attempt);
      return connection.transaction(async () => {
        const result = await effect(connection, attempt);
        const ended = typeof result === 'object' ? result : null;
        if (!(ended ? ended.length > 0 : result)) return result;
        // With the effect alone the chain would have a gap, and the act no event.
        if ((await connection.change(RECORD_EVENTS, recorded(ended))) !== 1)
          throw new Error(`the attempt ${attempt} was recorded before`);
        return result;
      });
    });
  }

  /** Records an event that has no other effect. */
  async record(event: AuditEvent): Promise<void> {
    await this.act(event, async () => true);
  }

  /** Waits until everything asked so far is done, and disconnects. */
  async close(): Promise<void> {
    await Promise.all([this.reads.close(), this.writes.close(), this.#others.close()]);
  }
}

/** Records events in the transaction of an act, before its own: that one has the name of the attempt. */
export async function recordEvents(connection: Connection, events: readonly AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({ ...newEvent(event), attempt: null }));
  await connection.change(RECORD_EVENTS, arraysOf(ATTEMPTED_EVENT, rows));
}

/**
 * Whether an earlier try, whose connection was lost, was committed. Two events of one attempt exclude each other, so that
 * writing it once more waits until the earlier one is committed or undone; one that did not come as far as its event can
 * no longer be committed, since nobody is left to ask for it.
 */
async function happened(connection: Connection, recorded: readonly unknown[]): Promise<boolean> {
  await connection.script('BEGIN');
  try {
    return (await connection.change(RECORD_EVENTS, recorded)) === 0;
  } finally {
    if (!connection.isLost) await connection.script('ROLLBACK');
  }
}
