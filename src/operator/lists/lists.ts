/** The lists of the API and the console, page by page, with sealed cursors. */
import type { Account } from '../../accounts/people/account.ts';
import { type ListedAccount, NO_USE } from '../../accounts/people/account-list.ts';
import type { IdentityProvider } from '../../accounts/people/identity-provider.ts';
import type { IdentityProviderStore, LastSignIn } from '../../accounts/people/store.ts';
import type { Client } from '../../oauth/clients/client.ts';
import type { ScopeDefinition } from '../../oauth/grants/scope.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import type { GrantStore, GrantsOf, ListedGrant } from '../../oauth/protocol/grant-store.ts';
import type { ResourceServer } from '../../oauth/resource-servers/resource-server.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';
import type { NamedAuditEvent } from '../../oauth/trail/audit-store.ts';
import { findClientUses, type ListedClient, lastClientUse } from '../secrets/secret-last-uses.ts';
import {
  type ClientAsked,
  type ClientReader,
  countFew,
  type FailingAsked,
  failingWithUses,
  fewClients,
  type ListedFailing,
  walkClients,
  walkFailing,
  walkMeasured,
  withUses,
} from './client-pages.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { type EventAsked, type EventStore, walkEvents } from './event-pages.ts';
import { type GrantAsked, walkGrants } from './grant-pages.ts';
import { readPage, type Walk } from './page.ts';
import { type PeopleAsked, type PeopleStore, walkAll, walkBeginning } from './people-pages.ts';
import { type FoundRequest, findRequest, type RequestPlace, type RequestStore } from './request-search.ts';
import { type UserAsked, type UserStore, walkUsers } from './user-pages.ts';

/** Maximum number of grants that a page counts. */
const MAX_COUNTED = 10_000;

/** Number of an app's newest grants that a list of apps looks at for its people. */
const LOOKED_AT = 100;

/** The page that is asked for: at most `limit` items, after a cursor (undefined: from the first). */
export type AskedPage = { readonly limit: number; readonly after: string | undefined };

/** A page of a list. There may be more although `items` is empty; `next` is the cursor behind it, null at the end. */
export type ListPage<Item> = { readonly items: readonly Item[]; readonly next: string | null };

/** A person in a list for a page. */
export type ListedPerson = { readonly account: Account; readonly lastSignIn: LastSignIn };

/** The parts of `Lists`. `now` returns ms, `stopwatch` ms since any start. */
export type ListsParts = {
  readonly store: ClientReader &
    UserStore &
    PeopleStore &
    EventStore &
    RequestStore &
    Pick<GrantStore, 'listGrantStates' | 'listGrantsById'> &
    Pick<ResourceServerStore, 'listResourceServers'> &
    Pick<IdentityProviderStore, 'listIdentityProviders'> &
    Pick<ScopeStore, 'listScopes'>;
  readonly keyring: Keyring;
  readonly now: () => number;
  readonly stopwatch: () => number;
};

/** Reads pages of lists. Each returns null for a text that is no cursor of the list with this filter, or an expired one. */
export class Lists {
  readonly #parts: ListsParts;

  constructor(parts: ListsParts) {
    this.#parts = parts;
  }

  /** Apps by age or name. */
  clients(asked: ClientAsked, page: AskedPage): Promise<ListPage<ListedClient> | null> {
    const { store, now } = this.#parts;
    return this.#page('clients', asked, walkClients(store, asked, now()), page, (some) => withUses(store, some));
  }

  /** The number of apps that match, if at most 1,000 are to be looked at for it; otherwise null. */
  async countClients(asked: ClientAsked): Promise<number | null> {
    const { store, now } = this.#parts;
    if (asked.unusedSince === undefined) return countFew(store, asked, now());
    return (await fewClients(store, asked, now()))?.length ?? null;
  }

  /**
   * Apps by a number of each, the greatest first: the time of the last use (unused apps come last), the refused requests since a
   * time (ms), or the people. Null, too, if more than 1,000 are to be looked at.
   */
  async measuredClients(
    measure: 'used' | 'refused' | 'people',
    asked: ClientAsked & { readonly refusedSince: number },
    page: AskedPage,
  ): Promise<ListPage<ListedClient> | null> {
    const { store, now } = this.#parts;
    const { refusedSince, ...conditions } = asked;
    const clients = await fewClients(store, conditions, now());
    if (clients === null) return null;
    const failing =
      measure === 'refused' ? await store.listFailing(null, clients.length, refusedSince, conditions) : [];
    const refused = new Map(failing.map(({ client: { id }, failures }) => [id, failures]));
    const numberOf = {
      used: async (client: Client) => lastClientUse(await findClientUses(client, store)) ?? 0,
      refused: async ({ id }: Client) => refused.get(id) ?? 0,
      people: async ({ id }: Client) => (await this.peopleOf(id)).people,
    }[measure];
    const walk = walkMeasured(clients, numberOf);
    return this.#page('measured-clients', { ...asked, measure }, walk, page, (some) =>
      withUses(
        store,
        some.map(({ client }) => client),
      ),
    );
  }

  /** Apps that fail, most failures first. */
  failingClients(asked: FailingAsked, page: AskedPage): Promise<ListPage<ListedFailing> | null> {
    const { store } = this.#parts;
    return this.#page('failing-clients', asked, walkFailing(store, asked), page, (some) =>
      failingWithUses(store, some),
    );
  }

  /** The number of people with a live grant of an app, among its newest 100 grants; `more` is true if there are older ones. */
  async peopleOf(clientId: string): Promise<{ readonly people: number; readonly more: boolean }> {
    const { store, now } = this.#parts;
    const { read, match } = walkGrants(store, { clientId, status: 'live' }, now());
    const grants = await read(null, LOOKED_AT + 1);
    const live = await match(grants.slice(0, LOOKED_AT));
    return { people: new Set(live.map((grant) => grant.resourceOwnerId)).size, more: grants.length > LOOKED_AT };
  }

  /** People, newest first; by id if an email address or a user name is asked for. */
  users(asked: UserAsked, page: AskedPage): Promise<ListPage<ListedAccount> | null> {
    return this.#page('users', asked, walkUsers(this.#parts.store, asked), page, (some) => this.#withUse(some));
  }

  /** People for a page, newest first, or by the beginning of a user name or an email address. */
  async people({ beginning }: PeopleAsked, page: AskedPage): Promise<ListPage<ListedPerson> | null> {
    const { store } = this.#parts;
    const listed = async (accounts: readonly Account[]) => {
      const signIns = await store.findLastSignIns(accounts.map(({ id }) => id));
      return accounts.map((account) => ({ account, lastSignIn: signIns.get(account.id) ?? 'never' }));
    };
    if (beginning === undefined) return this.#page('people', {}, walkAll(store), page, listed);
    const walk = walkBeginning(store, beginning);
    return this.#page('people', { beginning }, walk, page, (some) => listed(some.map(({ account }) => account)));
  }

  /** Grants, newest first; those of one person by app. */
  grants(asked: GrantAsked, page: AskedPage): Promise<ListPage<ListedGrant> | null> {
    const { store, now } = this.#parts;
    const whole = (grants: readonly { readonly id: Buffer }[]) => store.listGrantsById(grants.map(({ id }) => id));
    return this.#page('grants', asked, walkGrants(store, asked, now()), page, whole);
  }

  /** The number of live grants, counted to 10,000 and for as long as a page is searched; `more` is true if there may be more. */
  async countGrants(of: GrantsOf): Promise<{ readonly grants: number; readonly more: boolean }> {
    const { store, now, stopwatch } = this.#parts;
    const walk = walkGrants(store, { ...of, status: 'live' }, now());
    const { found, next } = await readPage(walk, null, MAX_COUNTED, stopwatch);
    return { grants: found.length, more: next !== null };
  }

  /** Events of the audit trail, newest or oldest first. */
  async events(asked: EventAsked, page: AskedPage): Promise<ListPage<NamedAuditEvent> | null> {
    const { store } = this.#parts;
    return this.#page('events', asked, await walkEvents(store, asked), page, (places) =>
      store.listNamedAuditEventsAt(places.map(({ sequence }) => sequence)),
    );
  }

  /** Returns the cursor of `events` behind the event at a place of the trail. */
  eventsCursor(asked: EventAsked, sequence: number): string {
    const { keyring, now } = this.#parts;
    return sealCursor(keyring, { list: 'events', filter: asked }, sequence, now());
  }

  /** The events and recorded failures of a request, as far as a page looks; null for a text that is no cursor of it. */
  async request(
    requestId: string,
    after: string | undefined,
  ): Promise<(Omit<FoundRequest, 'next'> & { readonly next: string | null }) | null> {
    const { store, keyring, now, stopwatch } = this.#parts;
    const name = { list: 'request', filter: { requestId } };
    const start: RequestPlace = { events: null, failures: null };
    const place = after === undefined ? start : openCursor<RequestPlace>(keyring, name, after, now());
    if (place === null) return null;
    const found = await findRequest(store, requestId, place, stopwatch);
    return { ...found, next: found.next && sealCursor(keyring, name, found.next, now()) };
  }

  /** APIs, by id. */
  resourceServers(page: AskedPage): Promise<ListPage<ResourceServer> | null> {
    return this.#few('resource-servers', page, 'id', (store) => store.listResourceServers());
  }

  /** Products, by id. */
  identityProviders(page: AskedPage): Promise<ListPage<IdentityProvider> | null> {
    return this.#few('identity-providers', page, 'id', (store) => store.listIdentityProviders());
  }

  /** Scopes, by name. */
  scopes(page: AskedPage): Promise<ListPage<ScopeDefinition> | null> {
    return this.#few('scopes', page, 'name', (store) => store.listScopes());
  }

  async #withUse(accounts: readonly Account[]): Promise<ListedAccount[]> {
    const uses = await this.#parts.store.findAccountUses(accounts.map(({ id }) => id));
    return accounts.map((account) => ({ account, use: uses.get(account.id) ?? NO_USE }));
  }

  /** A page of a list that is read whole for other requests too: an installation has some dozens. */
  #few<Key extends string, Item extends Readonly<Record<Key, string>>>(
    list: string,
    page: AskedPage,
    key: Key,
    all: (store: ListsParts['store']) => Promise<Item[]>,
  ) {
    const walk: Walk<Item, string> = {
      read: async (after, limit) =>
        (await all(this.#parts.store))
          .filter((item) => after === null || item[key] > after)
          .sort((one, other) => (one[key] < other[key] ? -1 : 1))
          .slice(0, limit),
      placeOf: (item) => item[key],
    };
    return this.#page(list, {}, walk, page, async (items) => items);
  }

  async #page<Row, Place, Item>(
    list: string,
    filter: object,
    walk: Walk<Row, Place>,
    { limit, after }: AskedPage,
    whole: (rows: readonly Row[]) => Promise<readonly Item[]>,
  ): Promise<ListPage<Item> | null> {
    const { keyring, now, stopwatch } = this.#parts;
    const name = { list, filter };
    const place = after === undefined ? null : openCursor<Place>(keyring, name, after, now());
    if (after !== undefined && place === null) return null;
    const { found, next } = await readPage(walk, place, limit, stopwatch);
    return { items: await whole(found), next: next === null ? null : sealCursor(keyring, name, next, now()) };
  }
}
