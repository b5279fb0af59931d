/** The walk over apps: oldest first, or by name where the beginning of one is asked for. */
import type { Client } from '../../oauth/clients/client.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import { nameKey } from '../../oauth/name-key.ts';
import type { ListedClient } from '../client-list.ts';
import { findClientUses, lastClientUse, type SecretUses } from '../last-uses.ts';
import type { Walk } from './page.ts';

/** Which apps to list. `unusedSince` (ms): neither used nor registered at this time or later. */
export type ClientAsked = {
  readonly id?: string;
  /** The beginning of the name, as people read it. */
  readonly name?: string;
  readonly status?: Client['status'];
  readonly unusedSince?: number;
  readonly failingSince?: number;
};

/** The place of an app in its order. */
export type ClientPlace = Pick<Client, 'id' | 'name' | 'createdAt'>;

/** The parts that apps are read with. */
export type ClientParts = {
  readonly store: Pick<ClientStore, 'findClient' | 'listClients' | 'listClientsBeginning'> & SecretUses;
  /** Returns the ids of apps that failed since a time (ms). */
  readonly failingSince: (since: number) => Promise<ReadonlySet<string>>;
};

/** Returns the walk over the apps that match. */
export async function walkClients(parts: ClientParts, asked: ClientAsked): Promise<Walk<Client, ClientPlace>> {
  const { store } = parts;
  const { id, name, ...others } = asked;
  const placeOf = ({ id, name, createdAt }: Client) => ({ id, name, createdAt });
  if (id !== undefined)
    return {
      read: async (after) => (after ? [] : found(await store.findClient(id))),
      placeOf,
      match: await matchOf(parts, asked),
    };
  const read = (after: ClientPlace | null, limit: number) =>
    name === undefined ? store.listClients(after, limit) : store.listClientsBeginning(name, after, limit);
  // The index alone finds those whose names begin so.
  return Object.keys(others).length === 0 ? { read, placeOf } : { read, placeOf, match: await matchOf(parts, asked) };
}

async function matchOf(
  { store, failingSince }: ClientParts,
  { name, status, unusedSince, failingSince: since }: ClientAsked,
) {
  const failing = since === undefined ? null : await failingSince(since);
  const isMatch = (client: Client) =>
    (status ?? client.status) === client.status &&
    (failing?.has(client.id) ?? true) &&
    (name === undefined || nameKey(client.name).startsWith(nameKey(name)));
  const isUnused = async (client: Client) =>
    unusedSince === undefined || (lastClientUse(await findClientUses(client, store)) ?? client.createdAt) < unusedSince;
  return async (clients: readonly Client[]) => {
    const some = clients.filter(isMatch);
    const unused = await Promise.all(some.map(isUnused));
    return some.filter((_, index) => unused[index]);
  };
}

/** Returns apps with their last uses. */
export function withUses(store: SecretUses, clients: readonly Client[]): Promise<ListedClient[]> {
  return Promise.all(clients.map(async (client) => ({ client, uses: await findClientUses(client, store) })));
}

function found(client: Client | null): Client[] {
  return client === null ? [] : [client];
}
