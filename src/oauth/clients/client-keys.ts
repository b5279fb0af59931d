/**
 * The keys of clients that publish them at a `jwks_uri` (RFC 7591 §2): the one part of a client that follows its host while
 * the service runs. They are fetched again only after an assertion that is right in all but its key, and seldom.
 */
import { type Actor, auditEvent } from '../trail/audit.ts';
import type { SettingChange } from '../trail/event-members.ts';
import type { Client, PublicKey } from './client.ts';
import type { ClientStore } from './client-store.ts';
import { type FetchJson, fetchKeySet } from './key-set.ts';

/** Minimum time between two fetches of a client's keys, on all instances together (ms). */
export const KEYS_PAUSE_MS = 5 * 60_000;

/** Age of keys that are fetched again without an unknown `kid` (ms). */
const KEYS_ARE_OLD_AFTER_MS = 24 * 3_600_000;

/** Parts of the fetching of keys. `now` returns ms; `actor` is in the audit trail; `report` gets a sentence for the operator. */
export type ClientKeysParts = {
  readonly store: Pick<ClientStore, 'noteKeysAsked' | 'refreshClientKeys'>;
  readonly fetchJson: FetchJson;
  readonly now: () => number;
  readonly actor: Actor;
  readonly report: (sentence: string) => void;
};

/** Fetches the keys of clients again. */
export class ClientKeys {
  readonly #parts: ClientKeysParts;

  constructor(parts: ClientKeysParts) {
    this.#parts = parts;
  }

  /** Fetches keys that are old, in the background: the request goes on with those that are there. */
  refreshOld(client: Client): void {
    if (client.jwksUri !== null && !isNear(client.jwksFetchedAt, this.#parts.now(), KEYS_ARE_OLD_AFTER_MS))
      this.refresh(client).catch((error: Error) => this.#failed(client, error.message));
  }

  /**
   * Fetches the keys of a client, unless they were fetched recently. Returns true if the keys changed. Does not wait for a
   * fetch that is already running. Throws `StoreUnavailable`.
   */
  async refresh(client: Client): Promise<boolean> {
    const { store, fetchJson, now, actor } = this.#parts;
    const { id, jwksUri, status, jwksAskedAt } = client;
    const askedAt = now();
    if (jwksUri === null || status !== 'active' || isNear(jwksAskedAt, askedAt, KEYS_PAUSE_MS)) return false;
    // The mark is in the row before the fetch: of all requests on all instances, one fetches.
    if (!(await store.noteKeysAsked({ id, jwksUri }, askedAt, KEYS_PAUSE_MS))) return false;
    const set = await fetchKeySet(fetchJson, jwksUri);
    if (typeof set === 'string') {
      this.#failed(client, set);
      return false;
    }
    const changes = changesOf(client.keys, set.keys);
    const event =
      changes.length === 0 ? null : auditEvent('client_keys_refreshed', actor, now(), { clientId: id }, { changes });
    return (await store.refreshClientKeys({ ...client, jwksUri }, set.keys, askedAt, event)) && event !== null;
  }

  #failed({ id, jwksUri }: Client, problem: string): void {
    this.#parts.report(`the keys of the client ${id} at ${jwksUri} are still the old ones: ${problem}`);
  }
}

/** Tells whether a time is less than `ms` before another, or after it: the clocks of instances differ, and a clock may step back. */
function isNear(time: number | null, now: number, ms: number): boolean {
  return time !== null && Math.abs(now - time) < ms;
}

/** The keys that were removed and added, by their ids; none when all are as before, whatever their order. */
function changesOf(before: readonly PublicKey[], after: readonly PublicKey[]): SettingChange[] {
  const removed = keysWithout(before, after).map(nameOf);
  const added = keysWithout(after, before).map(nameOf);
  return removed.length + added.length === 0 ? [] : [{ name: 'keys', removed, added }];
}

/** Returns the keys of a list that another list lacks. */
function keysWithout(keys: readonly PublicKey[], others: readonly PublicKey[]): PublicKey[] {
  const texts = new Set(others.map((key) => JSON.stringify(key)));
  return keys.filter((key) => !texts.has(JSON.stringify(key)));
}

function nameOf({ kid }: PublicKey): string {
  return kid ?? 'a key without an id';
}
