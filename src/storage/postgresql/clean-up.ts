/**
 * What is cleaned up in PostgreSQL, by one instance at a time. Its statements run on the connection that holds the lock,
 * so that an instance that loses the lock cannot go on.
 */
import { sessionExpiresAt } from '../../accounts/session.ts';
import { CleanUp, HOUR_MS, KEPT_MS, type Walk } from '../clean-up.ts';
import { HAS_ITS_EPOCHS } from '../tables/grants.ts';
import { clearAssertions } from './client-assertions.ts';
import { type Connection, json } from './connection.ts';
import { asStoreError } from './errors.ts';
import { LOCKS } from './locks.ts';

/** Number of rows that a step reads. */
const WINDOW = 512;

/** A row that a walk read. */
type Seen = {
  readonly key: string;
  readonly is_dead: boolean;
  readonly created_at: number;
  readonly last_seen_at: number;
};

/** The statements of one kind of row that is walked. */
type Statements = {
  /** A key before all others. */
  readonly start: string;
  /** Selects the next rows after a key ($1), with a limit ($2), and says which were dead before a time ($3). */
  readonly scan: string;
  /** Deletes those of the given rows ($1) that are still dead ($2 as $3 above). */
  readonly remove: string;
  /** A further condition for a dead row. */
  readonly isDead?: (row: Seen, before: number) => boolean;
};

const TRY_TO_LEAD = 'SELECT pg_try_advisory_lock($1, $2) AS leads';

const isDeadGrant = (before: string) => `
  (coalesce(oauth_grant.revoked_at < ${before}, false) OR oauth_grant.expires_at < ${before} OR NOT ${HAS_ITS_EPOCHS})`;

const WALKS: readonly Statements[] = [
  {
    start: '00000000-0000-0000-0000-000000000000',
    scan: `SELECT id AS key, ${isDeadGrant('$3')} AS is_dead
      FROM (SELECT * FROM oauth_grant WHERE id > $1 ORDER BY id LIMIT $2) AS oauth_grant ORDER BY id`,
    remove: `DELETE FROM oauth_grant USING json_to_recordset($1) AS dead (key uuid)
      WHERE oauth_grant.id = dead.key AND ${isDeadGrant('$2')}`,
  },
  {
    start: '',
    scan: `SELECT encode(digest, 'hex') AS key, created_at < $3 AS is_dead, created_at, last_seen_at
      FROM session WHERE digest > decode($1, 'hex') ORDER BY digest LIMIT $2`,
    remove: `DELETE FROM session USING json_to_recordset($1) AS dead (key text, last_seen_at bigint)
      WHERE digest = decode(dead.key, 'hex') AND session.last_seen_at = dead.last_seen_at AND session.created_at < $2`,
    isDead: (row, before) => sessionExpiresAt({ createdAt: row.created_at, lastSeenAt: row.last_seen_at }) < before,
  },
  // After an hour, and not a day: the first holds the source of a request, the second who signed in and where they were going.
  timeWalk('device_request', 'user_code', 'expires_at', HOUR_MS),
  timeWalk('external_sign_in', 'nonce', 'expires_at', HOUR_MS, 'bytes'),
  // Also after an hour: an expired counter is like none.
  timeWalk('throttle', 'key', 'arrives_at', HOUR_MS, 'bytes'),
  timeWalk('former_identity', 'id', 'ended_at', KEPT_MS),
];

/** Rows that are dead `kept` ms after the time in a column. */
function timeWalk(
  table: string,
  key: string,
  time: string,
  kept: number,
  keyKind: 'text' | 'bytes' = 'text',
): Statements {
  const column = `${table}.${key}`;
  const given = (value: string) => (keyKind === 'bytes' ? `decode(${value}, 'hex')` : value);
  const isDead = (before: string) => `${time} < ${before}::bigint + ${KEPT_MS - kept}`;
  return {
    start: '',
    scan: `SELECT ${keyKind === 'bytes' ? `encode(${column}, 'hex')` : column} AS key, ${isDead('$3')} AS is_dead
      FROM ${table} WHERE ${column} > ${given('$1')} ORDER BY ${column} LIMIT $2`,
    remove: `DELETE FROM ${table} USING json_to_recordset($1) AS dead (key text)
      WHERE ${column} = ${given('dead.key')} AND ${isDead('$2')}`,
  };
}

/** The clean-up of one instance. Times in ms. */
export function cleanUpOf(open: () => Promise<Connection>, now: () => number): CleanUp<Seen> {
  const leader = new Leader(open);
  return new CleanUp({
    walks: WALKS.map((statements) => walk(leader, statements)),
    deletions: 64,
    stepEvery: 250,
    busyStepEvery: 50,
    marksAtOnce: 1000,
    clearMarks: (before, most) => leader.ask((connection) => clearAssertions(connection, before, most)),
    leader,
    now,
  });
}

function walk(leader: Leader, { start, scan, remove, isDead = () => true }: Statements): Walk<Seen> {
  return {
    async scan(after, before) {
      const rows = await leader.ask((connection) => connection.rows<Seen>(scan, [after?.key ?? start, WINDOW, before]));
      const dead = rows.filter((row) => row.is_dead && isDead(row, before));
      return { seen: rows.length, dead, last: rows[WINDOW - 1] ?? null };
    },
    remove: (dead, before) => leader.ask((connection) => connection.change(remove, [json(dead), before])),
  };
}

/** The connection that holds the lock of whoever cleans up. */
class Leader {
  readonly #open: () => Promise<Connection>;
  #connection: Connection | null = null;
  #isStopped = false;

  constructor(open: () => Promise<Connection>) {
    this.#open = open;
  }

  /** Whether this instance holds the lock, or gets it now. Throws `StoreUnavailable`. */
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

  /** Does something as the one who leads. Throws `StoreUnavailable`. */
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
