/** What the operator does with clients: registering them out of band is the only way one comes to be (RFC 6749 §2). */
import { randomBytes } from 'node:crypto';
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from './audit.ts';
import { type Client, type ClientType, makeClientSecret } from './client.ts';
import { OperatorError } from './error.ts';
import type { Keyring } from './keyring.ts';
import { MAX_REDIRECT_URIS, redirectUriProblem } from './redirect-uri.ts';
import { type Scope, scopeNameProblem } from './scope.ts';
import type { ClientStore } from './store.ts';

/** What the operator decides about a client; seconds, or null for the installation's default. */
export type ClientSettings = {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly Scope[];
  readonly requirePkce: boolean;
  readonly refreshOverlap: number | null;
  readonly refreshRetryWindow: number | null;
};

/** What the registry works with. `now` answers ms since the epoch; the access token's lifetime is in seconds. */
export type ClientRegistryParts = {
  readonly store: ClientStore;
  readonly keyring: Keyring;
  readonly prefix: string;
  readonly accessTokenLifetime: number;
  readonly now: () => number;
};

/** The operator's acts on clients. Each throws an `OperatorError` when it is refused, and then changed nothing. */
export class ClientRegistry {
  readonly #parts: ClientRegistryParts;
  readonly #operator: Actor;

  constructor(parts: ClientRegistryParts, operator: Actor) {
    this.#parts = parts;
    this.#operator = operator;
  }

  /** Registers a client; the answer holds the secret's text, this once (null for a public client). */
  async register(type: ClientType, settings: ClientSettings): Promise<{ client: Client; clientSecret: string | null }> {
    checkSettings(type, settings, this.#parts.accessTokenLifetime);
    const { store, keyring, prefix, now } = this.#parts;
    const createdAt = now();
    const made = type === 'confidential' ? makeClientSecret(keyring, prefix, createdAt) : null;
    const client: Client = {
      ...settings,
      id: newClientId(),
      type,
      status: 'active',
      epoch: 0,
      secrets: made ? [made.secret] : [],
      createdAt,
    };
    await store.registerClient(client, this.#event('client_registered', client.id, client.name));
    return { client, clientSecret: made?.text ?? null };
  }

  /** All clients, oldest first. */
  list(): Promise<Client[]> {
    return this.#parts.store.listClients();
  }

  /** One client by its id. */
  async show(id: string): Promise<Client> {
    const client = await this.#parts.store.findClient(id);
    if (!client) throw new OperatorError(`there is no client ${JSON.stringify(id)}: "client list" shows all`);
    return client;
  }

  /** Changes some settings of a client and answers it as it is then. */
  async update(id: string, changes: Partial<ClientSettings>): Promise<Client> {
    const client = { ...(await this.show(id)), ...changes };
    checkSettings(client.type, client, this.#parts.accessTokenLifetime);
    mustBeThere(
      await this.#parts.store.updateClient(client, this.#event('client_updated', id, Object.keys(changes).join(' '))),
      id,
    );
    return client;
  }

  /** Adds a new secret, shown this once; the one before stays live until it is retired. */
  async rotateSecret(id: string): Promise<{ client: Client; clientSecret: string }> {
    const client = await this.show(id);
    if (client.type === 'public') throw new OperatorError('a public client has no secret');
    if (client.secrets.length > 1)
      throw new OperatorError(
        `two secrets are live already: end the older one first with "client retire-secret ${id}"`,
      );
    const { text, secret } = makeClientSecret(this.#parts.keyring, this.#parts.prefix, this.#parts.now());
    const secrets = [secret, ...client.secrets];
    await this.#replaceSecrets(client, secrets, 'client_secret_rotated');
    return { client: { ...client, secrets }, clientSecret: text };
  }

  /** Ends the older of two live secrets. */
  async retireSecret(id: string): Promise<Client> {
    const client = await this.show(id);
    if (client.secrets.length < 2)
      throw new OperatorError(`only one secret is live: make the next one first with "client rotate-secret ${id}"`);
    const secrets = client.secrets.slice(0, 1);
    await this.#replaceSecrets(client, secrets, 'client_secret_retired');
    return { ...client, secrets };
  }

  /** Refuses everything of a client while it lasts, and ends nothing. */
  pause(id: string): Promise<Client> {
    return this.#setStatus(id, 'paused', 'client_paused');
  }

  /** Ends a pause: everything that was not revoked or expired meanwhile works again. */
  resume(id: string): Promise<Client> {
    return this.#setStatus(id, 'active', 'client_resumed');
  }

  /** Ends every grant of a client at once; the client itself stays. */
  async revokeGrants(id: string): Promise<Client> {
    await this.show(id);
    mustBeThere(await this.#parts.store.revokeClientGrants(id, this.#event('client_grants_revoked', id)), id);
    return this.show(id);
  }

  /** Deletes a client with all its grants. */
  async delete(id: string): Promise<Client> {
    const client = await this.show(id);
    mustBeThere(await this.#parts.store.deleteClient(id, this.#event('client_deleted', id, client.name)), id);
    return client;
  }

  async #setStatus(id: string, status: Client['status'], action: AuditAction): Promise<Client> {
    const client = await this.show(id);
    if (client.status === status) throw new OperatorError(`the client is ${status} already`);
    mustBeThere(await this.#parts.store.setClientStatus(id, status, this.#event(action, id)), id);
    return { ...client, status };
  }

  async #replaceSecrets(client: Client, secrets: Client['secrets'], action: AuditAction): Promise<void> {
    const replaced = await this.#parts.store.replaceClientSecrets(
      client.id,
      client.secrets,
      secrets,
      this.#event(action, client.id),
    );
    if (!replaced)
      throw new OperatorError(
        'somebody else changed the secrets of this client at the same time: look with "client show", and try again',
      );
  }

  #event(action: AuditAction, clientId: string, detail?: string): AuditEvent {
    return auditEvent(action, this.#operator, this.#parts.now(), { clientId, ...(detail ? { detail } : {}) });
  }
}

/** 80 random bits in lower-case base 32: easy to copy, and never like an account's id (RFC 9700 §4.15). */
function newClientId(): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  return `app_${[...randomBytes(16)].map((byte) => alphabet[byte & 31]).join('')}`;
}

function mustBeThere(there: boolean, id: string): void {
  if (!there)
    throw new OperatorError(
      `the client ${id} changed or was deleted at the same time: look with "client list", and try again`,
    );
}

function checkSettings(type: ClientType, settings: ClientSettings, accessTokenLifetime: number): void {
  checkName(settings.name);
  checkRedirectUris(type, settings.redirectUris);
  checkScopes(settings.scopes);
  const times = { 'refresh overlap': settings.refreshOverlap, 'refresh retry window': settings.refreshRetryWindow };
  for (const [what, seconds] of Object.entries(times)) {
    if (seconds === null) continue;
    if (!Number.isInteger(seconds) || seconds < 0)
      throw new OperatorError(`the ${what} must be a whole number of seconds, 0 or more`);
    if (seconds > accessTokenLifetime)
      throw new OperatorError(
        `the ${what} must not be longer than the access token's lifetime (${accessTokenLifetime} s)`,
      );
  }
}

function checkName(name: string): void {
  const length = [...name].length;
  if (name.trim() !== name || length < 1 || length > 100)
    throw new OperatorError('a name has 1 to 100 characters and no space around it');
  if (/\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}/u.test(name))
    throw new OperatorError('a name must not hold control, direction or invisible characters');
}

function checkRedirectUris(type: ClientType, uris: readonly string[]): void {
  if (uris.length === 0) throw new OperatorError('a client needs at least one redirect URI: give --redirect-uri');
  if (uris.length > MAX_REDIRECT_URIS)
    throw new OperatorError(`a client has at most ${MAX_REDIRECT_URIS} redirect URIs`);
  if (new Set(uris).size < uris.length) throw new OperatorError('a redirect URI was given twice');
  for (const uri of uris) {
    const problem = redirectUriProblem(uri, type);
    if (problem) throw new OperatorError(`redirect URI ${JSON.stringify(uri)}: ${problem}`);
  }
}

function checkScopes(scopes: readonly Scope[]): void {
  if (new Set(scopes.map((scope) => scope.name)).size < scopes.length)
    throw new OperatorError('a scope was given twice');
  if (scopes.length > 100) throw new OperatorError('a client has at most 100 scopes');
  for (const { name, sentence } of scopes) {
    const problem = scopeNameProblem(name);
    if (problem) throw new OperatorError(`scope ${JSON.stringify(name)}: ${problem}`);
    if (sentence !== null && (sentence.trim() === '' || sentence.length > 200 || /\p{Cc}|\p{Cf}/u.test(sentence))) {
      throw new OperatorError(
        `scope ${JSON.stringify(name)}: its sentence has 1 to 200 characters, none of them invisible`,
      );
    }
  }
}
