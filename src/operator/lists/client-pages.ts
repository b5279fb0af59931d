/** The walks over apps: by age or name; those that fail, the most failures first; and few apps by what is known of each. */
import { spansSince } from '../../oauth/activity/app-tally.ts';
import type { Client } from '../../oauth/clients/client.ts';
import type {
  ClientFailures,
  ClientOrder,
  ClientPlace,
  ClientStore,
  ClientsAsked,
  FailingPlace,
} from '../../oauth/clients/client-store.ts';
import { findClientUses, type ListedClient, lastClientUse, type SecretUses } from '../secrets/secret-last-uses.ts';
import type { Walk } from './page.ts';

/** Which apps to list. `unusedSince` (ms): neither used nor registered at this time or later. */
export type ClientAsked = {
  readonly id?: string;
  /** Any part of the name, as people read it. */
  readonly name?: string;
  /** Any part of the name or of the publisher's. */
  readonly text?: string;
  /** The whole name, or the whole one of the publisher. */
  readonly exactly?: string;
  readonly status?: Client['status'];
  readonly unusedSince?: number;
  readonly failingSince?: number;
  /** Oldest first, unless another order is asked for. */
  readonly order?: ClientOrder;
};

/** The store that apps are read from. */
export type ClientReader = Pick<ClientStore, 'listClients' | 'countClients' | 'listFailing'> & SecretUses;

/** An app in a list, with the number of its failures. */
export type ListedFailing = ListedClient & Pick<ClientFailures, 'failures'>;

/** Which failing apps to list: those with failures since the day in which a time (ms) lies. */
export type FailingAsked = { readonly text?: string; readonly since: number };

/** Returns the walk over the apps that match. `now` in ms. */
export function walkClients(
  store: Pick<ClientReader, 'listClients' | 'findSecretUse'>,
  asked: ClientAsked,
  now: number,
): Walk<Client, ClientPlace> {
  const { order = 'oldest', unusedSince } = asked;
  const read = (after: ClientPlace | null, limit: number) =>
    store.listClients(after, limit, { ...conditionsOf(asked, now), order });
  const placeOf = ({ id, createdAt, name }: Client) => ({ id, createdAt, name: order === 'name' ? name : '' });
  if (unusedSince === undefined) return { read, placeOf };
  const match = async (clients: readonly Client[]) =>
    (await withUses(store, clients))
      .filter(({ client, uses }) => (lastClientUse(uses) ?? client.createdAt) < unusedSince)
      .map(({ client }) => client);
  return { read, placeOf, match };
}

/** Returns the walk over all apps, or those that match, oldest first. */
export function walkOldest(
  store: Pick<ClientStore, 'listClients'>,
  asked: ClientsAsked = {},
): Walk<Client, ClientPlace> {
  return { read: (after, limit) => store.listClients(after, limit, asked), placeOf: (client) => client };
}

function conditionsOf({ unusedSince: _, failingSince, order: __, ...asked }: ClientAsked, now: number) {
  return { ...asked, failing: failingSince === undefined ? undefined : spansSince(failingSince, now) };
}

/** Maximum number of apps that are read whole, to be sorted by what is known of each. */
export const FEW_CLIENTS = 1000;

/** Returns the number of apps that match, before their last uses are looked at; null if there are more than `FEW_CLIENTS`. */
export async function countFew(store: ClientReader, asked: ClientAsked, now: number): Promise<number | null> {
  const count = await store.countClients(conditionsOf(asked, now), FEW_CLIENTS + 1);
  return count > FEW_CLIENTS ? null : count;
}

/** Returns all apps that match, or null if `countFew` does. `now` in ms. */
export async function fewClients(store: ClientReader, asked: ClientAsked, now: number): Promise<Client[] | null> {
  if ((await countFew(store, asked, now)) === null) return null;
  const { read, match } = walkClients(store, asked, now);
  const clients = await read(null, FEW_CLIENTS);
  return match ? [...(await match(clients))] : [...clients];
}

/** An app with a number, and its place among others: the greatest number first. */
type Measured = { readonly client: Client; readonly value: number };
type MeasuredPlace = { readonly id: string; readonly value: number };

/** Returns the walk over a few apps by a number of each, the greatest first, then by id. */
export function walkMeasured(
  clients: readonly Client[],
  measure: (client: Client) => Promise<number>,
): Walk<Measured, MeasuredPlace> {
  const isBefore = (one: MeasuredPlace, other: MeasuredPlace) =>
    one.value > other.value || (one.value === other.value && one.id < other.id);
  const placeOf = ({ client: { id }, value }: Measured) => ({ id, value });
  return {
    async read(after, limit) {
      const all = await Promise.all(clients.map(async (client) => ({ client, value: await measure(client) })));
      return all
        .filter((each) => after === null || isBefore(after, placeOf(each)))
        .sort((one, other) => (isBefore(placeOf(one), placeOf(other)) ? -1 : 1))
        .slice(0, limit);
    },
    placeOf,
  };
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
