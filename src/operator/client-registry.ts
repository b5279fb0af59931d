/** The operator's acts on clients. A client cannot be registered in any other way (RFC 6749 §2). */

import type { Client, ClientSettings, ClientType } from '../oauth/clients/client.ts';
import type { ClientStore } from '../oauth/clients/client-store.ts';
import { newId } from '../oauth/clients/registered-id.ts';
import type { ResourceServerStore } from '../oauth/clients/resource-server-store.ts';
import type { ScopeStore } from '../oauth/clients/scope-store.ts';
import { NothingThere, OperatorError } from '../oauth/error.ts';
import { makeSecret } from '../oauth/keys/secret.ts';
import type { SecretUseStore } from '../oauth/keys/secret-use-store.ts';
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../oauth/trail/audit.ts';
import type { DetailArgument } from '../oauth/trail/event-members.ts';
import { misleading } from './app-profile.ts';
import { type ClientFilter, type ListedClient, listClients } from './client-list.ts';
import { checkSettings, type NewClientSettings, scopeNamesOf } from './client-settings.ts';
import { changesOfUpdate } from './client-update.ts';
import { refuseCommaListOfScopes } from './comma-lists.ts';
import { registeredResource } from './default-resource.ts';
import { documentChanges, type RefreshedDocument, refreshedClient } from './document-refresh.ts';
import { CLIENT_SETTINGS } from './fields/client-fields.ts';
import { withDefaults } from './fields/setting.ts';
import type { NewHandOver } from './hand-over/hand-over.ts';
import type { HandOverStore } from './hand-over/hand-over-store.ts';
import { registerHandedOver } from './hand-over/registration.ts';
import { usableKeys } from './registration.ts';
import { changesOf } from './registration-changes.ts';
import { type WhichSecret, withNewSecret, withoutSecret } from './secret-rotation.ts';

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

/** The parts of the registry. `now` returns ms since the epoch; the access token's lifetime is in seconds. */
export type ClientRegistryParts = {
  readonly store: ClientStore &
    Pick<ScopeStore, 'listScopes'> &
    Pick<SecretUseStore, 'findSecretUse'> &
    Pick<ResourceServerStore, 'listResources'> &
    Pick<HandOverStore, 'registerHandedOver'>;
  readonly prefix: string;
  readonly accessTokenLifetime: number;
  readonly now: () => number;
};

/**
 * The operator's acts on clients. Each throws an `OperatorError` when it is refused, and then changed nothing. Acts take ids and
 * no names: the id of a deleted client may be the name of another.
 */
export class ClientRegistry {
  readonly #parts: ClientRegistryParts;

  constructor(parts: ClientRegistryParts) {
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
  ): Promise<{ client: Client; clientSecret: string | null; handOver: NewHandOver | null }> {
    const { store, prefix, now, accessTokenLifetime } = this.#parts;
    const defaultResource = await registeredResource(said.defaultResource ?? null, store);
    const settings = { ...withDefaults(CLIENT_SETTINGS, said), keys: usableKeys(said.keys ?? []), defaultResource };
    checkSettings(type, settings, accessTokenLifetime);
    await refuseCommaListOfScopes(scopeNamesOf(settings), store);
    const createdAt = now();
    const needsSecret = type === 'confidential' && settings.keys.length === 0 && !isHandedOver;
    const made = needsSecret ? makeSecret(prefix, 'cs', createdAt) : null;
    const jwksFetchedAt = document?.jwksUri ? document.fetchedAt : null;
    const client: Client = {
      ...settings,
      id: document?.address ?? newId('app'),
      type,
      status: 'active',
      epoch: 0,
      secrets: made ? [made.secret] : [],
      createdAt,
      remembersSince: null,
      documentSha256: document?.sha256 ?? null,
      jwksUri: document?.jwksUri ?? null,
      jwksFetchedAt,
      jwksAskedAt: jwksFetchedAt,
    };
    const event = this.#event('client_registered', operator, client.id, {
      ...{ name: client.name, document: document?.address, sha256: document?.sha256 },
    });
    const handOver = isHandedOver ? await registerHandedOver(store, { kind: 'client', row: client }, event) : null;
    if (!handOver && (isHandedOver || !(await store.registerClient(client, event)))) throw registeredAlready(client.id);
    return { client, clientSecret: made?.text ?? null, handOver };
  }

  /** Returns true if a client exists. */
  hasAny(): Promise<boolean> {
    return this.#parts.store.hasClients();
  }

  /** The clients that match, oldest first, after one that is named (null: from the first), a page at a time. */
  async *list(filter: ClientFilter, after: string | null): AsyncGenerator<readonly ListedClient[]> {
    yield* listClients(this.#parts.store, filter, after === null ? null : await this.show(after));
  }

  /** One client by its id, or by its exact name where no other has it. */
  async show(name: string): Promise<Client> {
    const client = await this.find(name);
    if (!client) throw noClient(name);
    return client;
  }

  /** One client by its id alone. */
  async exact(id: string): Promise<Client> {
    const client = await this.#parts.store.findClient(id);
    if (!client) throw noClient(id);
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
    return misleading(client, await store.listClientsNamed(client.name, 2), await store.listScopes());
  }

  /**
   * Changes some settings of a client, in the way of `client-update.ts`, and returns the changed client. `permit` throws if the
   * operator may not change this client so: the write replaces the very row that it was asked about.
   */
  async update(
    id: string,
    given: Partial<ClientSettings>,
    operator: Actor,
    permit: (before: Client) => Promise<void> | void = () => {},
  ): Promise<Client> {
    const before = await this.exact(id);
    await permit(before);
    const { defaultResource: named } = given;
    const resource = named === undefined ? {} : { defaultResource: await registeredResource(named, this.#parts.store) };
    const keys = given.keys === undefined ? {} : { keys: usableKeys(given.keys) };
    const changes = changesOfUpdate(before, { ...given, ...keys, ...resource });
    const client = { ...before, ...changes };
    checkSettings(client.type, client, this.#parts.accessTokenLifetime);
    await refuseCommaListOfScopes(scopeNamesOf({ scopes: changes.scopes ?? [] }), this.#parts.store);
    const event = this.#event('client_updated', operator, id, {
      changes: changesOf<ClientSettings>(before, changes),
    });
    mustBeThere(await this.#parts.store.updateClient(client, before, event), id);
    return client;
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
    const event = this.#event('client_document_refreshed', operator, id, detail);
    mustBeThere(await this.#parts.store.refreshClient(client, before, event), id);
    return client;
  }

  /** Adds a new secret, shown this once; the one before stays live until it is retired. */
  async rotateSecret(id: string, operator: Actor): Promise<{ client: Client; clientSecret: string }> {
    const client = await this.exact(id);
    if (client.documentSha256 !== null)
      throw new OperatorError('this app has a public metadata document, so it has no secret', null, {
        command: `"client refresh ${client.id}" fetches its keys`,
      });
    if (client.type === 'public') throw new OperatorError('a public app has no secret');
    const { text, secret } = makeSecret(this.#parts.prefix, 'cs', this.#parts.now());
    const secrets = withNewSecret(client.secrets, secret, `client retire-secret ${client.id}`);
    await this.#replaceSecrets(client, secrets, 'client_secret_rotated', operator);
    return { client: { ...client, secrets }, clientSecret: text };
  }

  /** Ends one of two live secrets, or the only one of a client that can prove itself by a key. */
  async retireSecret(id: string, operator: Actor, which: WhichSecret = 'older'): Promise<Client> {
    const client = await this.exact(id);
    if (client.type === 'public') throw new OperatorError('a public app has no secret');
    const secrets = withoutSecret(client, which, `client rotate-secret ${client.id}`);
    await this.#replaceSecrets(client, secrets, 'client_secret_retired', operator);
    return { ...client, secrets };
  }

  /** Refuses all requests of a client until it is resumed, and ends nothing. */
  pause(id: string, operator: Actor): Promise<Client> {
    return this.#setStatus(id, 'paused', 'client_paused', operator);
  }

  /** Ends a pause: everything that was not revoked or expired meanwhile works again. */
  resume(id: string, operator: Actor): Promise<Client> {
    return this.#setStatus(id, 'active', 'client_resumed', operator);
  }

  /** Ends every grant of a client at once; the client itself stays. */
  async revokeGrants(id: string, operator: Actor): Promise<Client> {
    await this.exact(id);
    mustBeThere(await this.#parts.store.revokeClientGrants(id, this.#event('client_grants_revoked', operator, id)), id);
    return this.exact(id);
  }

  /** Deletes a client with all its grants. */
  async delete(id: string, operator: Actor): Promise<Client> {
    const client = await this.exact(id);
    mustBeThere(
      await this.#parts.store.deleteClient(id, this.#event('client_deleted', operator, id, { name: client.name })),
      id,
    );
    return client;
  }

  async #setStatus(
    id: string,
    status: Client['status'],
    action: 'client_paused' | 'client_resumed',
    operator: Actor,
  ): Promise<Client> {
    const client = await this.exact(id);
    if (client.status === status) throw new OperatorError(`the app is ${status} already`);
    mustBeThere(await this.#parts.store.setClientStatus(id, status, this.#event(action, operator, id)), id);
    return { ...client, status };
  }

  async #replaceSecrets(
    client: Client,
    secrets: Client['secrets'],
    action: 'client_secret_rotated' | 'client_secret_retired',
    operator: Actor,
  ): Promise<void> {
    const replaced = await this.#parts.store.replaceClientSecrets(
      client,
      secrets,
      this.#event(action, operator, client.id),
    );
    if (!replaced)
      throw new OperatorError('somebody else changed the secrets or keys of this app at the same time', null, {
        remedy: 'look at them again, and try again',
        command: 'check "client show", and try again',
      });
  }

  #event<Action extends AuditAction>(
    action: Action,
    operator: Actor,
    clientId: string,
    ...detail: DetailArgument<Action>
  ): AuditEvent {
    return auditEvent(action, operator, this.#parts.now(), { clientId }, ...detail);
  }
}

function noClient(name: string): OperatorError {
  return new NothingThere(`there is no app ${JSON.stringify(name)}`, null, { command: '"client list" shows all' });
}

/** The refusal to register a client whose id is taken. */
export function registeredAlready(id: string): OperatorError {
  return new OperatorError(`the app ${id} is already registered`, null, {
    command: '"client refresh" applies its current document, and "client update" changes the other settings',
  });
}

function mustBeThere(there: boolean, id: string): void {
  if (!there)
    throw new OperatorError(`the app ${id} changed or was deleted at the same time`, null, {
      remedy: 'look at it again, and try again',
      command: 'check "client list", and try again',
    });
}
