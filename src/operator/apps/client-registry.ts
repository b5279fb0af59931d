/** The operator's acts on clients. A client cannot be registered in any other way (RFC 6749 §2). */

import type { Client, ClientSettings, ClientType } from '../../oauth/clients/client.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import { newId } from '../../oauth/clients/registered-id.ts';
import { OperatorError } from '../../oauth/error.ts';
import type { SecretUseStore } from '../../oauth/keys/secret-use-store.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';
import type { Actor, AuditEvent } from '../../oauth/trail/audit.ts';
import { CLIENT_SETTINGS } from '../fields/client-fields.ts';
import { withDefaults } from '../fields/setting.ts';
import { type ClientAsked, walkClients, withUses } from '../lists/client-pages.ts';
import { everyPage } from '../lists/page.ts';
import { registeredResource } from '../registration/default-resource.ts';
import { refuseCommaListOfScopes } from '../registration/refuse-comma-lists.ts';
import { usableKeys } from '../registration/registration-checks.ts';
import { PausingRegistry, type Registered, type RegistryParts } from '../registration/registry.ts';
import type { ListedClient } from '../secrets/secret-last-uses.ts';
import { misleadingParts } from './app-profile.ts';
import { checkSettings, type NewClientSettings, scopeNamesOf } from './client-settings.ts';
import { changesOfUpdate } from './client-update.ts';
import { documentChanges, type RefreshedDocument, refreshedClient } from './document-refresh.ts';

/**
 * The metadata document that a client is registered from: its address, its SHA-256 (hex), the address of its keys or null, and
 * when the fetch of both began (ms).
 */
export type RegisteredDocument = {
  readonly address: string;
  readonly sha256: string;
  readonly jwksUri: string | null;
  readonly fetchedAt: number;
};

/** Maximum number of clients that are looked at for a name. */
const MAX_NAMED = 20;

/** The parts of the registry. The access token's lifetime is in seconds. */
export type ClientRegistryParts = RegistryParts & {
  readonly store: ClientStore &
    Pick<ScopeStore, 'listScopes'> &
    Pick<SecretUseStore, 'findSecretUse'> &
    Pick<ResourceServerStore, 'listResources'>;
  readonly accessTokenLifetime: number;
  /** Makes the keys that an app with sign-in needs. */
  readonly makeSigningKeys?: () => Promise<unknown>;
};

/** The operator's acts on clients. */
export class ClientRegistry extends PausingRegistry<'client', Client, ClientSettings> {
  readonly #parts: ClientRegistryParts;

  constructor(parts: ClientRegistryParts) {
    const { store, makeSigningKeys } = parts;
    // After the write: a refused one makes none. Where they cannot be made now, the service makes them within a minute.
    const thenKeys = async <T>({ signIn }: Client, done: T): Promise<T> => {
      if (signIn) await makeSigningKeys?.().catch(() => null);
      return done;
    };
    super('client', parts, {
      find: (id) => store.findClient(id),
      register: async (client, event) => thenKeys(client, await store.registerClient(client, event)),
      update: async (client, expected, event) => thenKeys(client, await store.updateClient(client, expected, event)),
      replaceSecrets: (expected, secrets, event) => store.replaceClientSecrets(expected, secrets, event),
      delete: (id, event) => store.deleteClient(id, event),
    });
    this.#parts = parts;
  }

  /**
   * Registers a client. Its secret's text is returned this once; null for a public client, for one with keys, and for one that
   * is handed over: that has a hand-over instead. The address of a metadata document is its id.
   */
  async register(
    type: ClientType,
    said: NewClientSettings,
    operator: Actor,
    document: RegisteredDocument | null = null,
    isHandedOver = false,
  ): Promise<Registered<Client>> {
    const { store, accessTokenLifetime } = this.#parts;
    const defaultResource = await registeredResource(said.defaultResource ?? null, store);
    const settings = { ...withDefaults(CLIENT_SETTINGS, said), keys: usableKeys(said.keys ?? []), defaultResource };
    const documentSha256 = document?.sha256 ?? null;
    checkSettings(type, { ...settings, documentSha256 }, accessTokenLifetime);
    await refuseCommaListOfScopes(scopeNamesOf(settings), store);
    const needsSecret = type === 'confidential' && settings.keys.length === 0;
    const proof = isHandedOver ? 'hand-over' : needsSecret ? 'secret' : 'no secret';
    const jwksFetchedAt = document?.jwksUri ? document.fetchedAt : null;
    const make = (secrets: Client['secrets'], createdAt: number): Client => ({
      ...settings,
      id: document?.address ?? newId('app'),
      type,
      status: 'active',
      epoch: 0,
      secrets,
      createdAt,
      remembersSince: null,
      documentSha256,
      jwksUri: document?.jwksUri ?? null,
      jwksFetchedAt,
      jwksAskedAt: jwksFetchedAt,
    });
    return this.add(proof, operator, make, { document: document?.address, sha256: document?.sha256 });
  }

  /** Returns true if a client exists. */
  hasAny(): Promise<boolean> {
    return this.#parts.store.hasClients();
  }

  /** The clients that match, oldest first, after one that is named (null: from the first), a page at a time. */
  async *list(asked: ClientAsked, after: string | null): AsyncGenerator<readonly ListedClient[]> {
    const { store, now } = this.#parts;
    const walk = walkClients(store, asked, now());
    const place = after === null ? null : walk.placeOf(await this.show(after));
    for await (const clients of everyPage(walk, place)) yield withUses(store, clients);
  }

  /** One client by its id, or by its exact name where no other has it. */
  override async show(name: string): Promise<Client> {
    const client = await this.find(name);
    if (!client) throw this.nothing(name);
    return client;
  }

  /** The same; null when there is none. */
  async find(name: string): Promise<Client | null> {
    const { store } = this.#parts;
    const byId = await store.findClient(name);
    if (byId) return byId;
    const alike = await store.listClientsNamed(name, MAX_NAMED);
    const [client, ...others] = alike.filter((each) => each.name === name);
    if (client === undefined || others.length === 0) return client ?? null;
    const ids = [client, ...others].map(({ id }) => id).join(', ');
    throw new OperatorError(`several apps have the name ${JSON.stringify(name)}: name one by its id (${ids})`);
  }

  /** Warnings for the operator about a client's registration that could mislead users, each with a remedy. */
  async warnings(client: Client): Promise<string[]> {
    const { store } = this.#parts;
    // Two, since the client itself may be the first.
    return misleadingParts(client, await store.listClientsNamed(client.name, 2), await store.listScopes());
  }

  /** Returns the changes in the way of `client-update.ts`. */
  protected override async checked(before: Client, given: Partial<ClientSettings>): Promise<Partial<ClientSettings>> {
    const { store, accessTokenLifetime } = this.#parts;
    const { defaultResource: named } = given;
    const resource = named === undefined ? {} : { defaultResource: await registeredResource(named, store) };
    const keys = given.keys === undefined ? {} : { keys: usableKeys(given.keys) };
    const changes = changesOfUpdate(before, { ...given, ...keys, ...resource });
    checkSettings(before.type, { ...before, ...changes }, accessTokenLifetime);
    await refuseCommaListOfScopes(scopeNamesOf({ scopes: changes.scopes ?? [] }), store);
    return changes;
  }

  /**
   * Applies the current metadata document of a client. `before` is the compared client: if it has changed since, nothing is
   * written.
   */
  async refresh(before: Client, document: RefreshedDocument, operator: Actor): Promise<Client> {
    const { id } = before;
    const client = refreshedClient(before, document, this.#parts.now());
    checkSettings(client.type, client, this.#parts.accessTokenLifetime);
    const detail = { changes: documentChanges(before, client), sha256: document.sha256 };
    const event = this.event('client_document_refreshed', operator, id, detail);
    this.requireWritten(await this.#parts.store.refreshClient(client, before, event), id);
    return client;
  }

  protected override requireSecrets({ type }: Client): void {
    if (type === 'public') throw new OperatorError('a public app has no secret');
  }

  protected override requireNewSecret(client: Client): void {
    if (client.documentSha256 !== null)
      throw new OperatorError('this app has a public metadata document, so it has no secret', null, {
        command: `"client refresh ${client.id}" fetches its keys`,
      });
    this.requireSecrets(client);
  }

  /** Ends every grant of a client at once; the client itself stays. */
  async revokeGrants(id: string, operator: Actor): Promise<Client> {
    await this.exact(id);
    const event = this.event('client_grants_revoked', operator, id);
    this.requireWritten(await this.#parts.store.revokeClientGrants(id, event), id);
    return this.exact(id);
  }

  protected override setStatus(id: string, status: Client['status'], event: AuditEvent): Promise<boolean> {
    return this.#parts.store.setClientStatus(id, status, event);
  }

  protected override taken(id: string): OperatorError {
    return registeredAlready(id);
  }
}

/** The refusal to register a client whose id is taken. */
export function registeredAlready(id: string): OperatorError {
  return new OperatorError(`the app ${id} is already registered`, null, {
    command: '"client refresh" applies its current document, and "client update" changes the other settings',
  });
}
