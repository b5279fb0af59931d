/**
 * Records events in SQLite, where writers take turns: so there is one chain, which each of them goes on with from the newest
 * event. Only a new root key begins another.
 */
import type { AuditEvent } from '../../oauth/audit.ts';
import {
  chainId,
  chainKey,
  linkMac,
  NO_MAC,
  newChain,
  readChainId,
  registrationText,
} from '../../oauth/audit-chain.ts';
import type { GrantedAccess } from '../../oauth/granted-access.ts';
import type { HmacKey } from '../../oauth/hmac.ts';
import type { Keyring } from '../../oauth/keyring.ts';
import { CHAIN_REGISTRATION, CHAINED_EVENT, coveredText, newEvent } from '../tables/audit-events.ts';
import { asBuffer, type Stored } from '../tables/table.ts';
import { bound, inSqlite, type Query } from './sql.ts';

type Newest = readonly [sequence: number, chainId: string, chainNumber: number, mac: Uint8Array];

/** What prepares its statements. */
type Preparing = {
  tuple<Row extends readonly unknown[]>(sql: string): Query<Row | undefined>;
  change(sql: string): Query<number>;
};

/** Where the next event goes. */
type Next = {
  readonly sequence: number;
  readonly before: Buffer;
  readonly id: string;
  readonly number: number;
  readonly key: HmacKey;
};

/** Records events inside the transactions of one connection. */
export class ChainedEvents {
  readonly #keyring: Keyring;
  readonly #newest: Query<Newest | undefined>;
  readonly #lastTaken: Query<readonly [number] | undefined>;
  readonly #insert: Query<number>;
  readonly #newestChain: Query<readonly [number: number, mac: Uint8Array] | undefined>;
  readonly #register: Query<number>;
  /** The chain that was written last, and its key. */
  #known: { readonly id: string; readonly key: HmacKey } | null = null;

  constructor(tables: Preparing, keyring: Keyring) {
    this.#keyring = keyring;
    this.#newest = tables.tuple(
      'SELECT sequence, chain_id, chain_number, chain_mac FROM audit_event ORDER BY sequence DESC LIMIT 1',
    );
    this.#lastTaken = tables.tuple("SELECT seq FROM sqlite_sequence WHERE name = 'audit_event'");
    this.#insert = tables.change(inSqlite(CHAINED_EVENT.insertion));
    this.#newestChain = tables.tuple('SELECT number, mac FROM audit_chain ORDER BY number DESC LIMIT 1');
    this.#register = tables.change(inSqlite(CHAIN_REGISTRATION.insertion));
  }

  /** Records an event, and what grants gave that it ended. */
  record(event: AuditEvent, ended: readonly GrantedAccess[] | null = null): void {
    const { sequence, before, id, number, key } = this.#next();
    const values = CHAINED_EVENT.values({
      sequence,
      ...newEvent(event, ended),
      chain: { id, number, mac: NO_MAC },
    }).map(asKept);
    values[values.length - 1] = linkMac(key, before, coveredText(values));
    this.#insert(...values.map(bound));
    if (number === 1) this.#registerChain(id, sequence, key);
  }

  #registerChain(id: string, firstEvent: number, key: HmacKey): void {
    const [last, before] = this.#newestChain() ?? [0, NO_MAC];
    const chain = { number: last + 1, id, firstEvent };
    const mac = linkMac(key, asBuffer(before), registrationText(chain));
    this.#register(...CHAIN_REGISTRATION.values({ ...chain, mac }).map(bound));
  }

  #next(): Next {
    const newest = this.#newest();
    const sequence = Math.max(this.#lastTaken()?.[0] ?? 0, newest?.[0] ?? 0) + 1;
    const before = newest ? asBuffer(newest[3]) : NO_MAC;
    const key = newest && this.#keyOf(newest[1]);
    if (key) return { sequence, before, id: newest[1], number: newest[2] + 1, key };
    const chain = newChain(this.#keyring);
    return { sequence, before, id: chainId(chain, newest?.[0] ?? 0), number: 1, key: chain.key };
  }

  /** The key of a chain that goes on: one under the current root key. */
  #keyOf(id: string): HmacKey | null {
    if (readChainId(id)?.keyId !== this.#keyring.currentKeyId) return null;
    if (this.#known?.id === id) return this.#known.key;
    const key = chainKey(this.#keyring, id);
    this.#known = key && { id, key };
    return key;
  }
}

/** A text as it comes back: a lone surrogate would not, and PostgreSQL stores no NUL. */
function asKept(value: Stored): Stored {
  if (typeof value !== 'string') return value;
  return value.toWellFormed().replaceAll('\0', '\ufffd');
}
