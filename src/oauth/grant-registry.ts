/** What users and operators see of grants, and taking them back (ASVS 10.4.9). */
import { type Actor, auditEvent } from './audit.ts';
import { OperatorError } from './error.ts';
import { grantStatus, lastUse, parseGrantId } from './grant.ts';
import { scopeNames } from './scope.ts';
import type { GrantFilter, GrantStore, ListedGrant } from './store.ts';

/** An app that a user allowed: all its live grants as one. Times in ms since the epoch. */
export type ConnectedApp = {
  readonly clientId: string;
  readonly clientName: string;
  /** The scope names of all live grants together. */
  readonly scope: readonly string[];
  readonly since: number;
  /** The last check or refresh; null when the app never came. */
  readonly lastUsedAt: number | null;
};

/** More grants of one user for one app than this are not looked at. */
const MOST_GRANTS_OF_ONE_APP = 1000;

/** Grants as people see them. `now` answers ms since the epoch. */
export class GrantRegistry {
  readonly #store: GrantStore;
  readonly #now: () => number;

  constructor(store: GrantStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** The apps that can act for a user right now, by name. */
  async connectedApps(resourceOwnerId: string): Promise<ConnectedApp[]> {
    const now = this.#now();
    const clientIds = await this.#store.listClientsOf(resourceOwnerId, now);
    const listed = await Promise.all(clientIds.map((clientId) => this.#liveGrants(resourceOwnerId, clientId, now)));
    const apps = listed.filter((grants) => grants.length > 0).map(asConnectedApp);
    return apps.sort((a, b) => a.clientName.localeCompare(b.clientName));
  }

  /** What a client may do for a user already, for one resource or for any (null); null when it has no live grant. */
  async grantedScope(resourceOwnerId: string, clientId: string, resource: string | null): Promise<string[] | null> {
    const now = this.#now();
    const grants = await this.#liveGrants(resourceOwnerId, clientId, now);
    const live = grants.filter(({ grant }) => grant.resource === resource);
    return live.length === 0 ? null : [...new Set(live.flatMap(({ grant }) => scopeNames(grant.scope)))];
  }

  /** The newest grants that a client can use for a user right now. */
  async #liveGrants(resourceOwnerId: string, clientId: string, now: number): Promise<ListedGrant[]> {
    const filter = { resourceOwnerId, clientId, liveAt: now, limit: MOST_GRANTS_OF_ONE_APP };
    const listed = await this.#store.listGrants(filter);
    return listed.filter(({ grant, standing }) => grantStatus(grant, standing, now) === 'active');
  }

  /** A user takes back everything from an app: its next call is refused. Answers how many grants ended. */
  disconnect(resourceOwnerId: string, clientId: string, actor: Actor): Promise<number> {
    const event = auditEvent('grant_revoked', actor, this.#now(), {
      resourceOwnerId,
      clientId,
      detail: 'all grants for this client',
    });
    return this.#store.revokeGrantsOfClient(resourceOwnerId, clientId, event);
  }

  /** Grants for the operator, newest first. */
  list(filter: GrantFilter): Promise<ListedGrant[]> {
    return this.#store.listGrants(filter);
  }

  /** The operator ends one grant, named by its id as text. */
  async revoke(idText: string, operator: Actor): Promise<void> {
    const id = parseGrantId(idText);
    const found = id && (await this.#store.findGrant(id));
    if (!found) throw new OperatorError(`there is no grant ${JSON.stringify(idText)}: "grant list" shows all`);
    const { grant } = found;
    const about = { grantId: idText.toLowerCase(), clientId: grant.clientId, resourceOwnerId: grant.resourceOwnerId };
    const revoked = await this.#store.revokeGrant(
      grant.id,
      'operator',
      auditEvent('grant_revoked', operator, this.#now(), about),
    );
    if (!revoked) throw new OperatorError('the grant was revoked already');
  }

  /** The operator ends every grant of the installation. */
  revokeAll(operator: Actor): Promise<void> {
    return this.#store.revokeAllGrants(auditEvent('all_grants_revoked', operator, this.#now(), {}));
  }
}

function asConnectedApp(grants: readonly ListedGrant[]): ConnectedApp {
  const [first] = grants as [ListedGrant];
  return {
    clientId: first.grant.clientId,
    clientName: first.clientName,
    scope: [...new Set(grants.flatMap(({ grant }) => scopeNames(grant.scope)))],
    since: Math.min(...grants.map(({ grant }) => grant.grantedAt)),
    lastUsedAt: Math.max(...grants.map(({ grant }) => lastUse(grant) ?? 0)) || null,
  };
}
