/**
 * Records events in SQLite. Its writers are serialized, so there is one chain, which each writer continues from the
 * newest event. Only a new root key begins another chain.
 */
import type { KeyObject } from 'node:crypto';
import type { AccessOfRow } from '../../../oauth/grants/granted-access.ts';
import { type Keyring, mac } from '../../../oauth/keys/keyring.ts';
import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import { chainKey, chainKeyId, newChain } from '../../../oauth/trail/audit-chain.ts';
import type { Statement, Tuple } from '../../statements/shared-operations.ts';
import type { Stored } from '../../statements/table.ts';
import { CHAINED_EVENT, coveredText, newEvent } from '../../tables/trail/audit-events.ts';

type Newest = readonly [sequence: number, chainId: string, chainNumber: number];

const NEWEST = 'SELECT sequence, chain_id, chain_number FROM audit_event ORDER BY sequence DESC LIMIT 1';
const LAST_TAKEN = "SELECT seq FROM sqlite_sequence WHERE name = 'audit_event'";

/** Runs statements inside a write. */
type Running = {
  rows<Row extends Tuple>(statement: Statement): Row[];
  change(statement: Statement): number;
};

/** Position of the next event. */
type Next = {
  readonly sequence: number;
  readonly id: string;
  readonly number: number;
  readonly key: KeyObject;
};

/** Placeholder for the MAC, which covers all other columns. */
const NO_MAC_YET = Buffer.alloc(0);

/** Records events inside the transactions of one connection. */
export class ChainedEvents {
  readonly #tables: Running;
  readonly #keyring: Keyring;
  /** The chain of the last event, and its key. */
  #known: { readonly id: string; readonly key: KeyObject } | null = null;

  constructor(tables: Running, keyring: Keyring) {
    this.#tables = tables;
    this.#keyring = keyring;
  }

  /** Records an event, with the access of the grants that it ended. */
  record(event: AuditEvent, ended: readonly AccessOfRow[] | null = null): void {
    const { sequence, id, number, key } = this.#next();
    const values = CHAINED_EVENT.values({
      sequence,
      ...newEvent(event, ended),
      chain: { id, number, mac: NO_MAC_YET },
    }).map(asKept);
    values[values.length - 1] = mac(key, coveredText(values));
    // A foreign trigger may swallow the insertion without an error.
    if (this.#tables.change({ sql: CHAINED_EVENT.insertion, values }) !== 1)
      throw new Error('the database did not take an event of the audit trail');
  }

  #next(): Next {
    const [newest] = this.#tables.rows<Newest>({ sql: NEWEST, values: [] });
    const [taken] = this.#tables.rows<readonly [number]>({ sql: LAST_TAKEN, values: [] });
    const sequence = Math.max(taken?.[0] ?? 0, newest?.[0] ?? 0) + 1;
    const key = newest && this.#keyOf(newest[1]);
    if (key) return { sequence, id: newest[1], number: newest[2] + 1, key };
    const chain = newChain(this.#keyring);
    return { sequence, id: chain.id, number: 1, key: chain.key };
  }

  /** Returns the key of a chain that may continue: one under the current root key. */
  #keyOf(id: string): KeyObject | null {
    if (chainKeyId(id) !== this.#keyring.currentKeyId) return null;
    if (this.#known?.id === id) return this.#known.key;
    const key = chainKey(this.#keyring, id);
    this.#known = key && { id, key };
    return key;
  }
}

/** Returns a text in its stored form: a lone surrogate would not round-trip, and PostgreSQL stores no NUL. */
function asKept(value: Stored): Stored {
  if (typeof value !== 'string') return value;
  return value.toWellFormed().replaceAll('\0', '\ufffd');
}
