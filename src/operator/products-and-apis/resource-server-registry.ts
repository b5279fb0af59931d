/** The operator's acts on resource servers (RFC 7662 §2.1: only registered ones may introspect). */

import type { ClientStore } from '../../oauth/clients/client-store.ts';
import { newId } from '../../oauth/clients/registered-id.ts';
import { OperatorError } from '../../oauth/error.ts';
import type { ResourceServer } from '../../oauth/resource-servers/resource-server.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';
import { isSameResource, resourceProblem } from '../../oauth/resource-servers/resource-uri.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';
import type { Actor } from '../../oauth/trail/audit.ts';
import { lostDefaults } from '../registration/default-resource.ts';
import { refuseCommaListOfScopes } from '../registration/refuse-comma-lists.ts';
import { checkName, checkScopeNames } from '../registration/registration-checks.ts';
import { type Registered, Registry, type RegistryParts } from '../registration/registry.ts';

/** The settings of a resource server. */
export type ResourceServerSettings = Pick<ResourceServer, 'name' | 'resource' | 'acceptsUnbound' | 'scopes'>;

/** The settings of a new resource server: it takes no unbound token unless they say so. */
export type NewResourceServerSettings = Omit<ResourceServerSettings, 'acceptsUnbound'> &
  Partial<Pick<ResourceServerSettings, 'acceptsUnbound'>>;

/** The parts of the registry. `ownResource` is this service's own API. */
export type ResourceServerRegistryParts = RegistryParts & {
  readonly store: ResourceServerStore & Pick<ScopeStore, 'listScopes'> & Pick<ClientStore, 'listDefaultResources'>;
  readonly ownResource: string;
};

/** The operator's acts on resource servers. */
export class ResourceServerRegistry extends Registry<'resource_server', ResourceServer, ResourceServerSettings> {
  readonly #parts: ResourceServerRegistryParts;

  constructor(parts: ResourceServerRegistryParts) {
    const { store } = parts;
    super('resource_server', parts, {
      find: (id) => store.findResourceServer(id),
      register: (server, event) => store.registerResourceServer(server, event),
      update: (server, expected, event) => store.updateResourceServer(server, expected, event),
      replaceSecrets: (expected, secrets, event) => store.replaceResourceServerSecrets(expected, secrets, event),
      delete: (id, event) => store.deleteResourceServer(id, event),
    });
    this.#parts = parts;
  }

  /** Registers a resource server. */
  async register<IsHandedOver extends boolean = false>(
    said: NewResourceServerSettings,
    operator: Actor,
    isHandedOver?: IsHandedOver,
  ): Promise<Registered<ResourceServer, IsHandedOver extends true ? null : string>> {
    const settings = { acceptsUnbound: false, ...said };
    this.#check(settings);
    await refuseCommaListOfScopes(settings.scopes ?? [], this.#parts.store);
    const make = (secrets: ResourceServer['secrets'], createdAt: number) => ({
      ...settings,
      id: newId('rs'),
      secrets,
      createdAt,
    });
    return this.add<IsHandedOver extends true ? null : string>(isHandedOver ? 'hand-over' : 'secret', operator, make);
  }

  /** All resource servers, oldest first. */
  list(): Promise<ResourceServer[]> {
    return this.#parts.store.listResourceServers();
  }

  /** The default resources of apps that no resource server has. */
  lostDefaults(): Promise<string[]> {
    return lostDefaults(this.#parts.store);
  }

  protected override async checked(
    before: ResourceServer,
    changes: Partial<ResourceServerSettings>,
  ): Promise<Partial<ResourceServerSettings>> {
    this.#check({ ...before, ...changes });
    await refuseCommaListOfScopes(changes.scopes ?? [], this.#parts.store);
    return changes;
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
}
