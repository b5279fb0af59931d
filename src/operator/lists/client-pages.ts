/** The walk over apps, oldest first. */
import type { Client } from '../../oauth/clients/client.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import { isNamed } from '../../oauth/name-key.ts';
import type { ListedClient } from '../client-list.ts';
import { findClientUses, lastClientUse, type SecretUses } from '../last-uses.ts';
import type { Walk } from './page.ts';

/** Which apps to list. `unusedSince` (ms): neither used nor registered at this time or later. */
export type ClientAsked = {
  readonly id?: string;
  /** Any part of the name, as people read it. */
  readonly name?: string;
  readonly status?: Client['status'];
  readonly unusedSince?: number;
  readonly failingSince?: number;
};

/** The place of an app in its order. */
export type ClientPlace = Pick<Client, 'id' | 'createdAt'>;

/** The parts that apps are read with. */
export type ClientParts = {
  readonly store: Pick<ClientStore, 'findClient' | 'listClients'> & SecretUses;
  /** Returns the ids of apps that failed since a time (ms). */
  readonly failingSince: (since: number) => Promise<ReadonlySet<string>>;
};

/** Returns the walk over the apps that match. */
export async function walkClients(parts: ClientParts, asked: ClientAsked): Promise<Walk<Client, ClientPlace>> {
  const { store, failingSince } = parts;
  const { id, name, status, unusedSince, failingSince: since } = asked;
  const failing = since === undefined ? null : await failingSince(since);
  const isUnused = async (client: Client) =>
    unusedSince === undefined || (lastClientUse(await findClientUses(client, store)) ?? client.createdAt) < unusedSince;
  const match = async (clients: readonly Client[]) => {
    const some = clients.filter((client) => failing?.has(client.id) ?? true);
    const unused = await Promise.all(some.map(isUnused));
    return some.filter((_, index) => unused[index]);
  };
  const placeOf = ({ id, createdAt }: Client) => ({ id, createdAt });
  if (id !== undefined) {
    const read = async (after: ClientPlace | null) => (after ? [] : found(await store.findClient(id), asked));
    return { read, placeOf, match };
  }
  const read = (after: ClientPlace | null, limit: number) => store.listClients(after, limit, { name, status });
  return failing === null && unusedSince === undefined ? { read, placeOf } : { read, placeOf, match };
}

/** Returns apps with their last uses. */
export function withUses(store: SecretUses, clients: readonly Client[]): Promise<ListedClient[]> {
  return Promise.all(clients.map(async (client) => ({ client, uses: await findClientUses(client, store) })));
}

function found(client: Client | null, { name, status }: ClientAsked): Client[] {
  if (client === null || (status ?? client.status) !== client.status) return [];
  return name === undefined || isNamed(name, [client.name]) ? [client] : [];
}
