/**
 * Clients as they were read last. One is used again only when the database has said, in a statement sent after the request
 * came, that it still has the version that is kept: a change on any instance is seen by the next request on every other.
 */
import type { Client, PublicKey } from '../../oauth/client.ts';
import type { Scope } from '../../oauth/scope.ts';
import { parseSecrets } from '../secrets-text.ts';
import { searchByKey } from './batches.ts';
import type { Connections } from './connections.ts';

/** A client as its row has it. */
export type ClientRow = {
  readonly id: string;
  readonly type: Client['type'];
  readonly name: string;
  readonly redirect_uris: string;
  readonly scopes: string;
  readonly require_pkce: boolean;
  readonly refresh_overlap: number | null;
  readonly refresh_retry_window: number | null;
  readonly keys: string;
  readonly consent: Client['consent'];
  readonly device_flow: boolean;
  readonly assertion_audience: Client['assertionAudience'];
  readonly status: Client['status'];
  readonly epoch: number;
  readonly secrets: string;
  readonly created_at: number;
  readonly resumed_at: number | null;
};

/** The columns of a client. */
export const CLIENT_COLUMNS = `id, name, redirect_uris, scopes, require_pkce, refresh_overlap, refresh_retry_window,
  keys, consent, device_flow, assertion_audience, type, status, epoch, secrets, created_at, resumed_at`;

const FIND = `
  SELECT place, version, ${CLIENT_COLUMNS}
  FROM unnest($1::text[]) WITH ORDINALITY AS asked (key, place) JOIN client ON id = key`;

/** So many are kept at most. */
const MOST_KEPT = 10_000;

type Known = { readonly version: string; readonly client: Client };

/** The clients that one instance knows. */
export class KnownClients {
  readonly #search: (id: string) => Promise<Known | null>;
  readonly #known = new Map<string, Known>();

  constructor(reads: Connections) {
    this.#search = searchByKey<ClientRow & { place: number; version: string }, Known>(reads, FIND, (row) => ({
      version: row.version,
      client: asClient(row),
    }));
  }

  /** A client as it is now, read anew; null when there is none. Throws `StoreUnavailable`. */
  async find(id: string): Promise<Client | null> {
    const found = await this.#search(id);
    if (!found) return null;
    if (this.#known.size >= MOST_KEPT && !this.#known.has(id)) this.#known.clear();
    this.#known.set(id, found);
    return found.client;
  }

  /** The client that the database has just said to have this version; null when it is not kept, or as it was before. */
  ofVersion(id: string, version: string): Client | null {
    const known = this.#known.get(id);
    return known?.version === version ? known.client : null;
  }
}

/** The client of a row. */
export function asClient(row: ClientRow): Client {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    scopes: JSON.parse(row.scopes) as Scope[],
    requirePkce: row.require_pkce,
    refreshOverlap: row.refresh_overlap,
    refreshRetryWindow: row.refresh_retry_window,
    keys: JSON.parse(row.keys) as PublicKey[],
    consent: row.consent,
    deviceFlow: row.device_flow,
    assertionAudience: row.assertion_audience,
    status: row.status,
    epoch: row.epoch,
    secrets: parseSecrets(row.secrets),
    createdAt: row.created_at,
    resumedAt: row.resumed_at,
  };
}
