/** The walks over apps: oldest first; and those that fail, the most failures first. */
import type { FailingClient } from '../../oauth/activity/app-tally.ts';
import type { Client } from '../../oauth/clients/client.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import { isNamed } from '../../oauth/name-key.ts';
import type { AppActivity } from '../app-activity.ts';
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
  readonly activity: Pick<AppActivity, 'failingSince' | 'mostFailing'>;
};

/** Which failing apps to list: those with failures since the day in which a time (ms) lies. */
export type FailingAsked = { readonly name?: string; readonly since: number };

/** An app in a list, with the number of its failures. */
export type ListedFailing = ListedClient & Pick<FailingClient, 'failures'>;

/** Number of failing apps that are listed, so that a search among them stays short. */
const MAX_FAILING = 1000;

/** Returns the walk over the apps that match. */
export async function walkClients(parts: ClientParts, asked: ClientAsked): Promise<Walk<Client, ClientPlace>> {
  const { store, activity } = parts;
  const { id, name, status, unusedSince, failingSince: since } = asked;
  const failing = since === undefined ? null : await activity.failingSince(since);
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

/**
 * Returns the walk over failing apps. Numbers grow between two pages: an app that moves up past the place is on neither, and none
 * is on both.
 */
export async function walkFailing(
  { store, activity }: ClientParts,
  { name, since }: FailingAsked,
): Promise<Walk<FailingClient, FailingClient>> {
  const all = await activity.mostFailing(since, MAX_FAILING);
  const isAfter = (app: FailingClient, place: FailingClient) =>
    app.failures === place.failures ? app.clientId > place.clientId : app.failures < place.failures;
  const read = async (after: FailingClient | null, limit: number) =>
    all.filter((app) => after === null || isAfter(app, after)).slice(0, limit);
  const placeOf = (app: FailingClient) => app;
  if (name === undefined) return { read, placeOf };
  const match = async (apps: readonly FailingClient[]) => {
    const clients = await Promise.all(apps.map(({ clientId }) => store.findClient(clientId)));
    return apps.filter((_, index) => found(clients[index] ?? null, { name }).length > 0);
  };
  return { read, placeOf, match };
}

/** Returns failing apps with their settings and last uses; none that was deleted meanwhile. */
export async function withSettings(
  store: ClientParts['store'],
  apps: readonly FailingClient[],
): Promise<ListedFailing[]> {
  const whole = async ({ clientId, failures }: FailingClient) => {
    const client = await store.findClient(clientId);
    return client && { client, uses: await findClientUses(client, store), failures };
  };
  return (await Promise.all(apps.map(whole))).filter((app) => app !== null);
}

/** Returns apps with their last uses. */
export function withUses(store: SecretUses, clients: readonly Client[]): Promise<ListedClient[]> {
  return Promise.all(clients.map(async (client) => ({ client, uses: await findClientUses(client, store) })));
}

function found(client: Client | null, { name, status }: ClientAsked): Client[] {
  if (client === null || (status ?? client.status) !== client.status) return [];
  return name === undefined || isNamed(name, [client.name]) ? [client] : [];
}
