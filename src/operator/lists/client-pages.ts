/** The walks over apps: oldest first; and those that fail, the most failures first. */
import { spansSince } from '../../oauth/activity/app-tally.ts';
import type { Client } from '../../oauth/clients/client.ts';
import type { ClientFailures, ClientStore, FailingPlace } from '../../oauth/clients/client-store.ts';
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

/** The store that apps are read from. */
export type ClientReader = Pick<ClientStore, 'listClients' | 'listFailing'> & SecretUses;

/** An app in a list, with the number of its failures. */
export type ListedFailing = ListedClient & Pick<ClientFailures, 'failures'>;

/** Which failing apps to list: those with failures since the day in which a time (ms) lies. */
export type FailingAsked = { readonly name?: string; readonly since: number };

/** Returns the walk over the apps that match. `now` in ms. */
export function walkClients(
  store: ClientReader,
  { unusedSince, failingSince, ...asked }: ClientAsked,
  now: number,
): Walk<Client, ClientPlace> {
  const failing = failingSince === undefined ? undefined : spansSince(failingSince, now);
  const read = (after: ClientPlace | null, limit: number) => store.listClients(after, limit, { ...asked, failing });
  const placeOf = ({ id, createdAt }: Client) => ({ id, createdAt });
  if (unusedSince === undefined) return { read, placeOf };
  const match = async (clients: readonly Client[]) =>
    (await withUses(store, clients))
      .filter(({ client, uses }) => (lastClientUse(uses) ?? client.createdAt) < unusedSince)
      .map(({ client }) => client);
  return { read, placeOf, match };
}

/**
 * Returns the walk over failing apps. Numbers grow between two pages: an app that moves up past the place is on neither, and none
 * is on both.
 */
export function walkFailing(
  store: ClientReader,
  { since, ...asked }: FailingAsked,
): Walk<ClientFailures, FailingPlace> {
  return {
    read: (after, limit) => store.listFailing(after, limit, since, asked),
    placeOf: ({ client, failures }) => ({ id: client.id, failures }),
  };
}

/** Returns failing apps with their last uses. */
export function failingWithUses(store: SecretUses, apps: readonly ClientFailures[]): Promise<ListedFailing[]> {
  return Promise.all(apps.map(async (app) => ({ ...app, uses: await findClientUses(app.client, store) })));
}

/** Returns apps with their last uses. */
export function withUses(store: SecretUses, clients: readonly Client[]): Promise<ListedClient[]> {
  return Promise.all(clients.map(async (client) => ({ client, uses: await findClientUses(client, store) })));
}
