/** The operator's acts on resource servers (RFC 7662 §2.1: only registered ones may introspect). */

import type { ClientStore } from '../oauth/clients/client-store.ts';
import { newId } from '../oauth/clients/registered-id.ts';
import type { ResourceServer } from '../oauth/clients/resource-server.ts';
import type { ResourceServerStore } from '../oauth/clients/resource-server-store.ts';
import { isSameResource, resourceProblem } from '../oauth/clients/resource-uri.ts';
import type { ScopeStore } from '../oauth/clients/scope-store.ts';
import { NothingThere, OperatorError } from '../oauth/error.ts';
import { makeSecret } from '../oauth/keys/secret.ts';
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../oauth/trail/audit.ts';
import type { DetailArgument } from '../oauth/trail/event-members.ts';
import { refuseCommaListOfScopes } from './comma-lists.ts';
import { lostDefaults } from './default-resource.ts';
import type { NewHandOver } from './hand-over/hand-over.ts';
import type { HandOverStore } from './hand-over/hand-over-store.ts';
import { registerHandedOver } from './hand-over/registration.ts';
import { checkName, checkScopeNames } from './registration.ts';
import { changesOf } from './registration-changes.ts';
import { type WhichSecret, withNewSecret, withoutSecret } from './secret-rotation.ts';

/** The settings of a resource server. */
export type ResourceServerSettings = Pick<ResourceServer, 'name' | 'resource' | 'acceptsUnbound' | 'scopes'>;

/** The settings of a new resource server: it takes no unbound token unless they say so. */
export type NewResourceServerSettings = Omit<ResourceServerSettings, 'acceptsUnbound'> &
  Partial<Pick<ResourceServerSettings, 'acceptsUnbound'>>;

/** The parts of the registry. `ownResource` is this service's own API; `now` returns ms since the epoch. */
export type ResourceServerRegistryParts = {
  readonly store: ResourceServerStore &
    Pick<ScopeStore, 'listScopes'> &
    Pick<ClientStore, 'listDefaultResources'> &
    Pick<HandOverStore, 'registerHandedOver'>;
  readonly prefix: string;
  readonly ownResource: string;
  readonly now: () => number;
};

/** The operator's acts on resource servers. Each throws an `OperatorError` when it is refused, and then changed nothing. */
export class ResourceServerRegistry {
  readonly #parts: ResourceServerRegistryParts;

  constructor(parts: ResourceServerRegistryParts) {
    this.#parts = parts;
  }

  /** Registers a resource server. Its secret's text is returned this once; null for one that is handed over, which has a hand-over instead. */
  async register(
    said: NewResourceServerSettings,
    operator: Actor,
    isHandedOver?: false,
  ): Promise<{ resourceServer: ResourceServer; secret: string; handOver: null }>;
  async register(
    said: NewResourceServerSettings,
    operator: Actor,
    isHandedOver: boolean,
  ): Promise<{ resourceServer: ResourceServer; secret: string | null; handOver: NewHandOver | null }>;
  async register(
    said: NewResourceServerSettings,
    operator: Actor,
    isHandedOver = false,
  ): Promise<{ resourceServer: ResourceServer; secret: string | null; handOver: NewHandOver | null }> {
    const { store, prefix, now } = this.#parts;
    const settings = { acceptsUnbound: false, ...said };
    this.#check(settings);
    await refuseCommaListOfScopes(settings.scopes ?? [], store);
    const createdAt = now();
    const made = isHandedOver ? null : makeSecret(prefix, 'rs', createdAt);
    const resourceServer = { ...settings, id: newId('rs'), secrets: made ? [made.secret] : [], createdAt };
    const event = this.#event('resource_server_registered', operator, resourceServer.id, { name: settings.name });
    const subject = { kind: 'resource_server', row: resourceServer } as const;
    const handOver = isHandedOver ? await registerHandedOver(store, subject, event) : null;
    if (!isHandedOver) await store.registerResourceServer(resourceServer, event);
    return { resourceServer, secret: made?.text ?? null, handOver };
  }

  /** All resource servers, oldest first. */
  list(): Promise<ResourceServer[]> {
    return this.#parts.store.listResourceServers();
  }

  /** One resource server by its id. */
  async show(id: string): Promise<ResourceServer> {
    const found = await this.#parts.store.findResourceServer(id);
    if (!found)
      throw new NothingThere(`there is no API ${JSON.stringify(id)}`, null, {
        command: '"resource-server list" shows all',
      });
    return found;
  }

  /** The default resources of apps that no resource server has. */
  lostDefaults(): Promise<string[]> {
    return lostDefaults(this.#parts.store);
  }

  /** Changes some settings and returns the changed resource server. */
  async update(id: string, changes: Partial<ResourceServerSettings>, operator: Actor): Promise<ResourceServer> {
    const before = await this.show(id);
    const changed = { ...before, ...changes };
    this.#check(changed);
    await refuseCommaListOfScopes(changes.scopes ?? [], this.#parts.store);
    const event = this.#event('resource_server_updated', operator, id, {
      changes: changesOf<ResourceServerSettings>(before, changes),
    });
    mustBeThere(await this.#parts.store.updateResourceServer(changed, before, event), id);
    return changed;
  }

  /** Adds a new secret, shown this once; the one before stays live until it is retired. */
  async rotateSecret(id: string, operator: Actor): Promise<{ resourceServer: ResourceServer; secret: string }> {
    const server = await this.show(id);
    const { text, secret } = makeSecret(this.#parts.prefix, 'rs', this.#parts.now());
    const secrets = withNewSecret(server.secrets, secret, `resource-server retire-secret ${id}`);
    await this.#replaceSecrets(server, secrets, 'resource_server_secret_rotated', operator);
    return { resourceServer: { ...server, secrets }, secret: text };
  }

  /** Ends one of two live secrets. */
  async retireSecret(id: string, operator: Actor, which: WhichSecret = 'older'): Promise<ResourceServer> {
    const server = await this.show(id);
    const secrets = withoutSecret(server, which, `resource-server rotate-secret ${id}`);
    await this.#replaceSecrets(server, secrets, 'resource_server_secret_retired', operator);
    return { ...server, secrets };
  }

  /** Deletes a resource server: from then on it is told nothing. */
  async delete(id: string, operator: Actor): Promise<ResourceServer> {
    const server = await this.show(id);
    const event = this.#event('resource_server_deleted', operator, id, { name: server.name });
    mustBeThere(await this.#parts.store.deleteResourceServer(id, event), id);
    return server;
  }

  #check({ name, resource, acceptsUnbound, scopes }: ResourceServerSettings): void {
    checkName(name);
    checkScopeNames(scopes ?? []);
    if (scopes?.length === 0)
      throw new OperatorError(
        'a resource server that sees no scope would refuse every token: give at least one, or all',
        'scopes',
      );
    if (acceptsUnbound && resource === null)
      throw new OperatorError('an API without a resource always accepts unbound tokens', 'accepts_unbound', {
        remedy: 'give a resource too, or set accepts_unbound to false',
        command: 'give --resource, or omit --accept-unbound (when updating: --no-accept-unbound)',
      });
    if (resource === null) return;
    const problem = resourceProblem(resource);
    if (problem) throw new OperatorError(`resource ${JSON.stringify(resource)}: ${problem}`, 'resource');
    if (isSameResource(resource, this.#parts.ownResource))
      throw new OperatorError(`resource ${JSON.stringify(resource)} is this service's own API`, 'resource');
  }

  async #replaceSecrets(
    server: ResourceServer,
    secrets: ResourceServer['secrets'],
    action: 'resource_server_secret_rotated' | 'resource_server_secret_retired',
    operator: Actor,
  ) {
    const { store } = this.#parts;
    const event = this.#event(action, operator, server.id);
    if (!(await store.replaceResourceServerSecrets(server, secrets, event)))
      throw new OperatorError('somebody else changed the secrets of this API at the same time', null, {
        remedy: 'look at them again, and try again',
        command: 'check "resource-server show", and try again',
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

function mustBeThere(there: boolean, id: string): void {
  if (!there)
    throw new OperatorError(`the API ${id} changed or was deleted at the same time`, null, {
      remedy: 'look at it again, and try again',
      command: 'check "resource-server list", and try again',
    });
}
