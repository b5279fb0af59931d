/** Identity providers' calls about their users. A provider reaches only its own users, each by its own subject. */

import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import type { ConnectedApp, ConnectionName } from '../../oauth/connected-apps/connected-apps.ts';
import type { GrantRegistry } from '../../oauth/connected-apps/grant-registry.ts';
import { invalidRequest, Refusal, Unavailable } from '../../oauth/error.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { StoreUnavailable } from '../../oauth/store.ts';
import { type Actor, type AuditEvent, auditEvent } from '../../oauth/trail/audit.ts';
import { TurnedAway } from '../guessing/fair-line.ts';
import { FairSlot } from '../guessing/fair-slot.ts';
import type { Throttle } from '../guessing/throttle.ts';
import type { Account } from '../people/account.ts';
import { type IdentityProvider, identityId, type ProvenProvider, providerActor } from '../people/identity-provider.ts';
import { type Members, type PersonStatement, readProfile, readSubject } from '../people/profile.ts';
import { bringUpToDate, type PeopleParts, refusedSubject } from '../people/provider-people.ts';
import type { AccountStore, ExternalSignInStore } from '../people/store.ts';
import { type DisconnectPage, type DisconnectsParts, listDisconnects } from './disconnects.ts';
import type { ProviderAuthenticator } from './provider-authenticator.ts';

/**
 * The parts of the calls. `endings` counts a provider's calls that end access, `calls` all others, so that a long
 * synchronization never delays an ending. `now` returns ms since the epoch.
 */
export type ProviderUsersParts = PeopleParts & {
  readonly store: PeopleParts['store'] &
    DisconnectsParts['store'] &
    Pick<AccountStore, 'setAccountStatus' | 'endAccountSessions' | 'deleteAccount'> &
    Pick<ExternalSignInStore, 'endTickets'>;
  readonly keyring: Keyring;
  readonly grants: GrantRegistry;
  readonly providers: Pick<ProviderAuthenticator, 'refusalNow'>;
  readonly calls: Throttle;
  readonly endings: Throttle;
};

/** The kinds of calls, each with its own counter. */
export type CallKind = 'calls' | 'endings';

/** Maximum number of users in one request. */
const MAX_PEOPLE = 200;
/** Maximum number of tries to write users that other requests change at the same time. */
const MAX_TRIES = 50;
/** Maximum number of waiting write requests of a provider: with 200 users each, they take about ten seconds. */
const MAX_WRITERS = 50;
/** Maximum number of requests of a provider that wait for a page of disconnects; a page takes some milliseconds. */
const MAX_READERS = 100;

/** The users of providers, as the providers see them. The provider is authenticated, with the right `users`. */
export class ProviderUsers {
  readonly #parts: ProviderUsersParts;

  /**
   * One request at a time: concurrent writes of the same users wait for each other's rows, each with a connection. Many of
   * them would leave no connection for other requests.
   */
  readonly #writing = new FairSlot({ ofOneShare: MAX_WRITERS, inAll: 4 * MAX_WRITERS });

  /** One page at a time: simultaneous readers would otherwise hold the event loop for all of their pages. */
  readonly #reading = new FairSlot({ ofOneShare: MAX_READERS, inAll: 4 * MAX_READERS });

  constructor(parts: ProviderUsersParts) {
    this.#parts = parts;
  }

  /** Counts a call of a provider; returns a refusal if there were too many recent ones of this kind. */
  countCall({ id }: IdentityProvider, kind: CallKind): Refusal | null {
    const { [kind]: throttle, now } = this.#parts;
    const wait = throttle.wait([id], now());
    if (wait > 0) return new Refusal('temporarily_unavailable', TOO_OFTEN, 'throttled', wait);
    throttle.count([id], now());
    return null;
  }

  /** Creates or updates the users in an object or in its `users`; all of them, or none. */
  async put(provider: ProvenProvider, members: Members, origin: RequestOrigin): Promise<Refusal | null> {
    const people = readPeople(provider, members);
    if (people instanceof Refusal) return people;
    const actor = providerActor(provider, origin);
    try {
      return await this.#writing.run(provider.id, () => this.#write(provider, people, actor));
    } catch (error) {
      if (error instanceof TurnedAway) return new Unavailable(TOO_MANY_WRITERS, TOO_MANY_WRITERS, 1);
      throw error;
    }
  }

  /** The account of a subject. */
  async find(provider: IdentityProvider, subject: string): Promise<Account | Refusal> {
    const found = await this.#parts.store.findIdentity(provider.id, subject);
    if (!found) return new Refusal('not_found', 'this identity provider has no user with this subject');
    return found.account;
  }

  /** Disables a user, which ends their sessions, or enables them; a repetition changes nothing. */
  setStatus(
    provider: ProvenProvider,
    subject: string,
    status: Account['status'],
    origin: RequestOrigin,
  ): Promise<Refusal | null> {
    const action = status === 'disabled' ? 'user_disabled' : 'user_enabled';
    return this.#act(provider, subject, action, origin, ({ store }, id, event) =>
      store.setAccountStatus(id, status, event, provider.proof),
    );
  }

  /** Ends all sessions of a person, as when they sign out of the product. */
  endSessions(provider: ProvenProvider, subject: string, origin: RequestOrigin): Promise<Refusal | null> {
    return this.#act(provider, subject, 'user_sessions_ended', origin, ({ store }, id, event) =>
      store.endAccountSessions(id, event, provider.proof),
    );
  }

  /** Erases a user: account, identities, sessions and grants. A later sign-in of the subject makes a new user. */
  delete(provider: ProvenProvider, subject: string, origin: RequestOrigin): Promise<Refusal | null> {
    return this.#act(provider, subject, 'user_deleted', origin, ({ store }, id, event) =>
      store.deleteAccount(id, event, provider.ownIds, provider.proof),
    );
  }

  /** The account of a subject, and the apps that are connected to it, as `/account/apps` shows them. */
  async connections(
    provider: IdentityProvider,
    subject: string,
  ): Promise<{ readonly account: Account; readonly apps: ConnectedApp[] } | Refusal> {
    const account = await this.find(provider, subject);
    if (account instanceof Refusal) return account;
    return { account, apps: await this.#parts.grants.connectedApps(account.id) };
  }

  /** A page of disconnects of its users' apps; see `disconnects.ts`. */
  async disconnects(
    provider: IdentityProvider,
    after: string | undefined,
    limit: number,
  ): Promise<DisconnectPage | Refusal> {
    try {
      return await this.#reading.run(provider.id, () => listDisconnects(this.#parts, provider, after, limit));
    } catch (error) {
      if (error instanceof TurnedAway) return new Unavailable(TOO_MANY_READERS, TOO_MANY_READERS, 1);
      throw error;
    }
  }

  /** Takes everything back from an app of a person, its devices too. An app that has nothing is fine. */
  async disconnect(
    provider: ProvenProvider,
    subject: string,
    clientId: string,
    origin: RequestOrigin,
  ): Promise<Refusal | null> {
    const account = await this.find(provider, subject);
    if (account instanceof Refusal) return account;
    const { grants, providers } = this.#parts;
    const ended = await grants.disconnect(account.id, clientId, providerActor(provider, origin), provider.proof);
    return ended > 0 ? null : providers.refusalNow(provider);
  }

  /** Takes one connection of a person back. One that has ended is fine. */
  async endConnection(
    provider: ProvenProvider,
    subject: string,
    name: ConnectionName,
    origin: RequestOrigin,
  ): Promise<Refusal | null> {
    const account = await this.find(provider, subject);
    if (account instanceof Refusal) return account;
    const { grants, providers } = this.#parts;
    const ended = await grants.endConnection(account.id, name, providerActor(provider, origin), provider.proof);
    return ended ? null : providers.refusalNow(provider);
  }

  async #act(
    provider: ProvenProvider,
    subject: string,
    action: 'user_disabled' | 'user_enabled' | 'user_sessions_ended' | 'user_deleted',
    origin: RequestOrigin,
    act: (parts: ProviderUsersParts, id: string, event: AuditEvent) => Promise<boolean>,
  ): Promise<Refusal | null> {
    const find = () => (action === 'user_enabled' ? this.find(provider, subject) : this.#findToEnd(provider, subject));
    const account = await find();
    if (account instanceof Refusal) return account;
    const { id } = account;
    const event = auditEvent(action, providerActor(provider, origin), this.#parts.now(), { resourceOwnerId: id });
    if (await act(this.#parts, id, event)) return null;
    const refused = await this.#parts.providers.refusalNow(provider);
    if (refused) return refused;
    // The account was already in that state, or was deleted since.
    const now = await find();
    return now instanceof Refusal ? now : null;
  }

  /** The account of a subject. If there is none, a pending sign-in cannot make one afterwards. */
  async #findToEnd(provider: ProvenProvider, subject: string): Promise<Account | Refusal> {
    const { store, now } = this.#parts;
    const found = await this.find(provider, subject);
    if (!(found instanceof Refusal) || found.code !== 'not_found') return found;
    await store.endTickets(identityId(provider.id, subject), now(), provider.proof);
    return this.find(provider, subject);
  }

  /** Writes users that other requests may change at the same time. */
  async #write(provider: ProvenProvider, people: readonly PersonStatement[], actor: Actor): Promise<Refusal | null> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const written = await bringUpToDate(this.#parts, provider, people, actor);
      if (written instanceof Refusal) return written;
      if (written) return null;
      const refused = await this.#parts.providers.refusalNow(provider);
      if (refused) return refused;
    }
    throw new StoreUnavailable('others change the same people all the time');
  }
}

const TOO_MANY_WRITERS = 'too many requests of this identity provider wait to write its people: send fewer at once';
const TOO_MANY_READERS = 'too many requests of this identity provider wait for disconnects: send fewer at once';
const TOO_OFTEN = 'this identity provider asked too often about its people: try again later';

/** The users in an object (the object itself, or the list in `users`), or a refusal that names index and field. */
function readPeople(provider: IdentityProvider, members: Members): PersonStatement[] | Refusal {
  const { users } = members;
  if (users === undefined) {
    const person = readPerson(provider, members, '');
    return person instanceof Refusal ? person : [person];
  }
  if (members['subject'] !== undefined) return invalidRequest('send either subject or users, not both');
  if (!Array.isArray(users) || users.length < 1 || users.length > MAX_PEOPLE)
    return invalidRequest(`users must be an array of 1 to ${MAX_PEOPLE} objects`);
  const people: PersonStatement[] = [];
  const places = new Map<string, number>();
  for (const [index, each] of users.entries()) {
    const person = readPerson(provider, each, `users[${index}].`);
    if (person instanceof Refusal) return person;
    const earlier = places.get(person.subject);
    if (earlier !== undefined)
      return invalidRequest(`users[${index}].subject equals users[${earlier}].subject: send each user once`);
    places.set(person.subject, index);
    people.push(person);
  }
  return people;
}

function readPerson(provider: IdentityProvider, value: unknown, at: string): PersonStatement | Refusal {
  if (typeof value !== 'object' || value === null) return invalidRequest(`${at.slice(0, -1)} must be an object`);
  const members = value as Members;
  const subject = readSubject(members, at);
  if (subject instanceof Refusal) return subject;
  const profile = readProfile(members, at);
  if (profile instanceof Refusal) return profile;
  return refusedSubject(provider, subject, at) ?? { subject, profile };
}
