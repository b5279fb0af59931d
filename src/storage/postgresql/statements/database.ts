/** The connections of one instance: for reads by key, for writes by key, for their waits, and for everything else. */
import { randomUUID } from 'node:crypto';
import type { AccessOfRow } from '../../../oauth/grants/granted-access.ts';
import { AccessEnded, type AuditEvent } from '../../../oauth/trail/audit.ts';
import type { PoolFigures } from '../../opening/opened-storage.ts';
import type { Tuple } from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';
import { standingOf } from '../../tables/operators/operator-rows.ts';
import { NEW_EVENT, newEvent } from '../../tables/trail/audit-events.ts';
import type { Connection } from '../connection/connection.ts';
import { Connections, type PoolUse, type Work } from '../connection/connections.ts';
import { asStoreError } from '../connection/errors.ts';
import { arraysOf, givenRows } from './postgresql-dialect.ts';

/** An event with the id of the attempt that it records. */
const ATTEMPTED_EVENT = NEW_EVENT.and(
  Table.of<{ readonly attempt: string | null }>('audit_event', { attempt: nullable('text') }),
);

/** Records events; an event whose attempt exists stays unchanged. */
const RECORD_EVENTS = `
  INSERT INTO audit_event (${NEW_EVENT.names}, attempt)
  SELECT ${NEW_EVENT.names}, attempt::uuid FROM ${givenRows(ATTEMPTED_EVENT)}
  ON CONFLICT (attempt) WHERE attempt IS NOT NULL DO NOTHING`;

/** The purpose of a connection: searches by key, writes by key, those that wait for a locked row, or everything else. */
export type Purpose = 'reads' | 'writes' | 'waits' | 'others';

/** Maximum number of connections for each purpose. */
export type Sizes = Readonly<Record<Purpose, number>>;

/** The database as one instance uses it. */
export class Database {
  /** For searches by key, separately, so that they never queue behind a write that waits for the disk. */
  readonly reads: Connections;
  /** For writes by key, which wait for a lock only briefly. */
  readonly writes: Connections;
  /** For the same writes while another session has locked their row, so that no other write queues behind them. */
  readonly waits: Connections;
  readonly #others: Connections;

  constructor(
    open: (purpose: Purpose) => Promise<Connection>,
    sizes: Sizes,
    use: (purpose: Purpose) => Partial<PoolUse>,
  ) {
    const pool = (purpose: Purpose) => new Connections(sizes[purpose], () => open(purpose), use(purpose));
    this.reads = pool('reads');
    this.writes = pool('writes');
    this.waits = pool('waits');
    this.#others = pool('others');
  }

  /** Returns the state of each pool. */
  pools(): PoolFigures[] {
    const pools = { reads: this.reads, writes: this.writes, waits: this.waits, others: this.#others };
    return Object.entries(pools).map(([purpose, pool]) => ({ purpose, ...pool.figures() }));
  }

  /** Returns the rows of a query, as values. Throws `StoreUnavailable`. */
  tuples<Row extends Tuple>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.run((connection) => connection.tuples<Row>(sql, parameters));
  }

  /** Runs a statement, which must be safe to repeat; returns the number of changed rows. Throws `StoreUnavailable`. */
  change(sql: string, parameters: readonly unknown[] = []): Promise<number> {
    return this.run((connection) => connection.change(sql, parameters));
  }

  /** Runs work on a connection; it must be safe to repeat. Throws `StoreUnavailable`. */
  async run<T>(work: Work<T>): Promise<T> {
    try {
      return await this.#others.run(work);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /**
   * Runs an effect in a transaction, and records its event if, and only if, the result is not false, 0 or an empty
   * list. A list holds the ended access, which the event records. The event also has the id of this attempt: after a
   * lost connection the effect runs again only if no event has that id. `recall` then returns the earlier result, if it
   * is more than true.
   */
  async act<T extends boolean | number | readonly AccessOfRow[]>(
    event: AuditEvent,
    effect: (connection: Connection, attempt: string) => Promise<T>,
    recall: (connection: Connection, attempt: string) => Promise<T> = async () => true as T,
  ): Promise<T> {
    const attempt = randomUUID();
    const recorded = (ended: readonly AccessOfRow[] | null) =>
      arraysOf(ATTEMPTED_EVENT, [{ ...newEvent(event, ended), attempt }]);
    return this.run(async (connection, again) => {
      if (again && (await happened(connection, recorded(null)))) return recall(connection, attempt);
      return connection.transaction(async () => {
        await requireStanding(connection, event);
        const result = await effect(connection, attempt);
        const ended = typeof result === 'object' ? result : null;
        if (!(ended ? ended.length > 0 : result)) return result;
        // Without the event the chain would have a gap, and the effect no event.
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

  /** Waits until all work is done, and disconnects. */
  async close(): Promise<void> {
    await Promise.all([this.reads, this.writes, this.waits, this.#others].map((pool) => pool.close()));
  }
}

/** Throws `AccessEnded` in the transaction of an act, before its effect, unless the event's actor still has its access. */
export async function requireStanding(connection: Connection, event: AuditEvent): Promise<void> {
  const standing = standingOf(event);
  if (standing && (await connection.tuples(standing.sql, standing.values)).length === 0) throw new AccessEnded();
}

/** Records events in the transaction of an act, before the act's own event, which has the attempt's id. */
export async function recordEvents(connection: Connection, events: readonly AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({ ...newEvent(event), attempt: null }));
  await connection.change(RECORD_EVENTS, arraysOf(ATTEMPTED_EVENT, rows));
}

/**
 * Returns true if an earlier attempt, whose connection was lost, was committed. Two events of one attempt exclude each
 * other, so writing the event again waits until the earlier transaction is committed or rolled back. An attempt that
 * had not reached its event can no longer be committed, since its client is gone.
 */
async function happened(connection: Connection, recorded: readonly unknown[]): Promise<boolean> {
  await connection.script('BEGIN');
  try {
    return (await connection.change(RECORD_EVENTS, recorded)) === 0;
  } finally {
    if (!connection.isLost) await connection.script('ROLLBACK');
  }
}
