/**
 * Clients as they were read last. One is used again only when the database has said, in a statement sent after the request
 * came, that it still has the version that is kept: a change on any instance is seen by the next request on every other.
 */
import type { Client } from '../../oauth/clients/client.ts';
import { CLIENT } from '../tables/clients.ts';
import { searchByKey } from './batches.ts';
import type { Connections } from './connections.ts';

const FIND = `
  SELECT ${CLIENT.selected}, version, place
  FROM unnest($1::text[]) WITH ORDINALITY AS asked (key, place) JOIN client ON id = key`;

/** Maximum number of clients that are kept. */
const MAX_KEPT = 10_000;

type Known = { readonly version: string; readonly client: Client };

/** The clients that one instance knows. */
export class KnownClients {
  readonly #search: (id: string) => Promise<Known | null>;
  readonly #known = new Map<string, Known>();

  constructor(reads: Connections) {
    this.#search = searchByKey(reads, FIND, (row) => ({ version: row.at(-2) as string, client: CLIENT.read(row) }));
  }

  /** A client as it is now, read anew; null when there is none. Throws `StoreUnavailable`. */
  async find(id: string): Promise<Client | null> {
    const found = await this.#search(id);
    if (!found) return null;
    if (this.#known.size >= MAX_KEPT && !this.#known.has(id)) this.#known.clear();
    this.#known.set(id, found);
    return found.client;
  }

  /** The client that the database has just said to have this version; null when it is not kept, or as it was before. */
  ofVersion(id: string, version: string): Client | null {
    const known = this.#known.get(id);
    return known?.version === version ? known.client : null;
  }
}
