/** Users' and operators' views of grants, and their revocation (ASVS 10.4.9). */

import type { Client } from '../clients/client.ts';
import type { ProviderProof } from '../clients/provider-proof.ts';
import { isRegisteredRedirectUri, lastingRedirectHost } from '../clients/redirect-uri.ts';
import { OperatorError } from '../error.ts';
import { isForDevice } from '../grants/device-grant.ts';
import {
  type Grant,
  type GrantedResource,
  type GrantSummary,
  grantIdText,
  parseGrantId,
  revokerOf,
} from '../grants/grant.ts';
import type { LiveAccess } from '../grants/granted-access.ts';
import { type PersonField, personFieldsOf } from '../grants/person-fields.ts';
import { scopeNames, withoutSignIn } from '../grants/scope.ts';
import type { EarlierConsent, RememberedConsent } from '../protocol/consent.ts';
import type { GrantCount, GrantFilter, GrantStore, ListedGrant } from '../protocol/grant-store.ts';
import { type Actor, auditEvent } from '../trail/audit.ts';
import { byName, type ConnectedApp, type ConnectionName, type LineKind } from './connected-apps.ts';
import { findGrantLife, type GrantLife, type LifeStore } from './grant-life.ts';

/** The access that a user revokes, as it was shown: the app may have fetched it since. */
export type TakenBack = Pick<ConnectedApp, 'clientId' | 'grantId' | 'isWaiting'>;

/** A request of a client that may have asked before; `openid` if it asks to sign in. */
type AskedAgain = GrantedResource & { readonly openid?: object | null };

/** Maximum number of counted grants, so that a confirmation question comes fast. */
export const MAX_COUNTED = 100_000;

/** Grants as people see them. `now` returns ms since the epoch. */
export class GrantRegistry {
  readonly #store: GrantStore & LifeStore;
  readonly #now: () => number;

  constructor(store: GrantStore & LifeStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** The apps that can act for a user now, or once they fetch their tokens, by name; entries of one app are oldest first. */
  async connectedApps(resourceOwnerId: string): Promise<ConnectedApp[]> {
    const summaries = await this.#store.summarizeGrants(resourceOwnerId, this.#now());
    const lines = Map.groupBy(summaries, keyOfLine);
    return [...lines.values()].map(asConnectedApp).sort(byName);
  }

  /** Returns true if any app can act for a user now, or once it fetches its tokens. */
  async hasConnectedApps(resourceOwnerId: string): Promise<boolean> {
    const { grants } = await this.#store.countGrants({ resourceOwnerId, limit: 1, liveAt: this.#now() });
    return grants > 0;
  }

  /** The earlier decision of a user on a client, for the same resource; null when it has no live grant that counts. */
  async earlierConsent(resourceOwnerId: string, clientId: string, request: AskedAgain): Promise<EarlierConsent | null> {
    return together(await this.#redeemed(resourceOwnerId, clientId, request), request);
  }

  /**
   * Returns the remembered consent for a redirect URI (on loopback: at any port): allowed for that same URI, after the
   * client's last resume. Reads epochs first: an earlier revocation is visible in the grants, and a later one ends new grants
   * with these epochs.
   */
  async rememberedConsent(
    resourceOwnerId: string,
    { id, type, remembersSince }: Client,
    redirectUri: string,
    request: AskedAgain,
  ): Promise<RememberedConsent | null> {
    const epochs = await this.#store.findEpochs(id, resourceOwnerId);
    const live = await this.#redeemed(resourceOwnerId, id, request);
    const remembered = live.filter(
      (summary) =>
        isRegisteredRedirectUri([summary.redirectUri], redirectUri, type) &&
        (remembersSince === null || summary.lastGrantedAt > remembersSince),
    );
    const consent = together(remembered, request);
    return consent && epochs && { ...consent, epochs, grantIds: remembered.map((summary) => summary.id) };
  }

  /**
   * A client's live grants for a user and a resource. A default resource counts as a different one: its tokens also work at
   * this service's own API.
   */
  async #redeemed(
    resourceOwnerId: string,
    clientId: string,
    { resource, resourceIsDefault }: GrantedResource,
  ): Promise<GrantSummary[]> {
    const summaries = await this.#store.summarizeGrants(resourceOwnerId, this.#now(), clientId);
    return summaries.filter(
      (summary) =>
        summary.isRedeemed && summary.resource === resource && summary.resourceIsDefault === resourceIsDefault,
    );
  }

  /**
   * Revokes all grants of a user for an app, for the user, or for a provider as long as its proof holds. The app's next call
   * is refused. Returns the number of ended grants.
   */
  disconnect(resourceOwnerId: string, clientId: string, actor: Actor, proof?: ProviderProof): Promise<number> {
    const about = { resourceOwnerId, clientId };
    const event = auditEvent('grant_revoked', actor, this.#now(), about, { all_of_app: true });
    return this.#store.revokeGrantsOfClient(resourceOwnerId, clientId, event, 'all', proof);
  }

  /** Revokes all grants of a user, with an event for each app. Grants that remain after a failure stay listed. */
  async disconnectAll(resourceOwnerId: string, actor: Actor): Promise<void> {
    const clientIds = new Set((await this.connectedApps(resourceOwnerId)).map(({ clientId }) => clientId));
    await Promise.all([...clientIds].map((clientId) => this.disconnect(resourceOwnerId, clientId, actor)));
  }

  /**
   * Revokes one entry of the connected apps: the grant of a device or an installation, an unredeemed grant, or all except
   * those of devices. The last also ends pending codes, which would soon reconnect the app. The user does it, or an operator.
   * Returns the ended access; null if this user has no such grant.
   */
  async takeBack(resourceOwnerId: string, taken: TakenBack, actor: Actor): Promise<LineKind | null> {
    const { clientId } = taken;
    const id = parseGrantId(taken.grantId);
    const found = id && (await this.#store.findGrant(id));
    const grant = found?.grant;
    if (grant?.resourceOwnerId !== resourceOwnerId || grant.clientId !== clientId) return null;
    const about = { resourceOwnerId, clientId };
    const kind = lineKind(grant, found?.client.documentSha256 != null);
    if (taken.isWaiting || kind !== 'app') {
      const event = auditEvent('grant_revoked', actor, this.#now(), { ...about, grantId: grantIdText(grant.id) });
      await this.#store.revokeGrant(grant.id, revokerOf(event), event);
    } else {
      const event = auditEvent('grant_revoked', actor, this.#now(), about, { all_of_app: true, but_for_devices: true });
      await this.#store.revokeGrantsOfClient(resourceOwnerId, clientId, event, 'butForDevices');
    }
    return kind;
  }

  /**
   * Revokes one entry of the connected apps for a provider as long as its proof holds, whichever grants it consists of by
   * now. Returns true if that ended any.
   */
  async endConnection(
    resourceOwnerId: string,
    name: ConnectionName,
    actor: Actor,
    proof: ProviderProof,
  ): Promise<boolean> {
    if ('clientId' in name) {
      const { clientId } = name;
      const about = { resourceOwnerId, clientId };
      const event = auditEvent('grant_revoked', actor, this.#now(), about, { all_of_app: true, but_for_devices: true });
      return (await this.#store.revokeGrantsOfClient(resourceOwnerId, clientId, event, 'butForDevices', proof)) > 0;
    }
    const id = parseGrantId(name.grantId);
    const grant = id && (await this.#store.findGrant(id))?.grant;
    if (grant?.resourceOwnerId !== resourceOwnerId) return false;
    const about = { resourceOwnerId, clientId: grant.clientId, grantId: grantIdText(grant.id) };
    const event = auditEvent('grant_revoked', actor, this.#now(), about);
    return this.#store.revokeGrant(grant.id, revokerOf(event), event, proof);
  }

  /** Returns the access that the live grants of a user give right now. */
  liveAccess(resourceOwnerId: string): Promise<LiveAccess[]> {
    return this.#store.listLiveAccess(resourceOwnerId, this.#now());
  }

  /** Grants for the operator, newest first. */
  list(filter: GrantFilter): Promise<ListedGrant[]> {
    return this.#store.listGrants(filter);
  }

  /** The number of live grants, and of their users and apps, counted up to `MAX_COUNTED`. */
  count(filter: Omit<GrantFilter, 'limit'>): Promise<GrantCount> {
    return this.#store.countGrants({ ...filter, limit: MAX_COUNTED, liveAt: this.#now() });
  }

  /** A grant's whole life, named by its id as text. */
  async show(idText: string): Promise<GrantLife> {
    const life = await findGrantLife(this.#store, idText);
    if (!life) throw noGrant(idText);
    return life;
  }

  /** The operator ends one grant, named by its id as text. */
  async revoke(idText: string, operator: Actor): Promise<void> {
    const id = parseGrantId(idText);
    const found = id && (await this.#store.findGrant(id));
    if (!found) throw noGrant(idText);
    const { grant } = found;
    const about = { grantId: idText.toLowerCase(), clientId: grant.clientId, resourceOwnerId: grant.resourceOwnerId };
    const revoked = await this.#store.revokeGrant(
      grant.id,
      'operator',
      auditEvent('grant_revoked', operator, this.#now(), about),
    );
    if (!revoked) throw new OperatorError('the grant has ended already');
  }

  /** The operator ends every grant of the installation. */
  revokeAll(operator: Actor): Promise<void> {
    return this.#store.revokeAllGrants(auditEvent('all_grants_revoked', operator, this.#now(), {}));
  }
}

function noGrant(idText: string): OperatorError {
  return new OperatorError(`there is no grant ${JSON.stringify(idText)}`, null, { command: '"grant list" shows all' });
}

/** The kind of line that a redeemed grant belongs to. */
function lineKind(grant: Pick<Grant, 'redirectUri'>, hasDocument: boolean): LineKind {
  if (isForDevice(grant)) return 'device';
  return hasDocument ? 'installation' : 'app';
}

/** Equal for the grants that are one connected app. */
function keyOfLine(summary: GrantSummary): string {
  const { clientId, id, isRedeemed, hasDocument } = summary;
  return isRedeemed && lineKind(summary, hasDocument) === 'app' ? clientId : grantIdText(id);
}

function asConnectedApp(summaries: readonly GrantSummary[]): ConnectedApp {
  const [newest] = summaries.toSorted((one, other) => Buffer.compare(other.id, one.id)) as [GrantSummary];
  return {
    clientId: newest.clientId,
    clientName: newest.clientName,
    grantId: grantIdText(newest.id),
    kind: lineKind(newest, newest.hasDocument),
    isWaiting: !newest.isRedeemed,
    redirectHosts: isForDevice(newest)
      ? []
      : [...new Set(summaries.map((each) => lastingRedirectHost(each.redirectUri)))],
    signsIn: summaries.some(({ signsIn }) => signsIn),
    scope: [...new Set(summaries.flatMap(accessOf))],
    personFields: fieldsOf(summaries),
    since: Math.min(...summaries.map(({ grantedAt }) => grantedAt)),
    lastUsedAt: Math.max(...summaries.map(lastUseOf)) || null,
    expiresAt: Math.max(...summaries.map(({ expiresAt }) => expiresAt)),
    absoluteExpiresAt: Math.max(...summaries.map(({ absoluteExpiresAt }) => absoluteExpiresAt)),
  };
}

/** Returns the scope names besides those of a sign-in. */
function accessOf({ signsIn, scope }: GrantSummary): string[] {
  return signsIn ? withoutSignIn(scope) : scopeNames(scope);
}

/** A sign-in is a use of its own; an app need not present its token anywhere. */
function lastUseOf({ lastUsedAt, signsIn, isRedeemed, lastGrantedAt }: GrantSummary): number {
  return Math.max(lastUsedAt ?? 0, signsIn && isRedeemed ? lastGrantedAt : 0);
}

function fieldsOf(summaries: readonly GrantSummary[]): PersonField[] {
  return [...new Set(summaries.flatMap(personFieldsOf))];
}

/** Returns the scope names; those of a sign-in only where they mean the same to the request: an app may have had its own. */
function scopesOf(summaries: readonly GrantSummary[], asksToSignIn: boolean): string[] {
  const meant = ({ signsIn, scope }: GrantSummary) =>
    signsIn === asksToSignIn ? scopeNames(scope) : withoutSignIn(scope);
  return [...new Set(summaries.flatMap(meant))];
}

/**
 * The combined decisions behind some grants; null without grants that count. Of two decisions on the same scope, the later one
 * wins. Consent to sign in alone is none to a request without `openid`: an app without scopes of its own would get lasting access
 * by it.
 */
function together(summaries: readonly GrantSummary[], { openid }: AskedAgain): EarlierConsent | null {
  const asksToSignIn = Boolean(openid);
  const counts = (summary: GrantSummary) => asksToSignIn || !summary.signsIn || accessOf(summary).length > 0;
  if (!summaries.some(counts)) return null;
  const leftOut = new Set<string>();
  for (const summary of summaries.toSorted((one, other) => one.lastGrantedAt - other.lastGrantedAt)) {
    for (const name of scopeNames(summary.scope)) leftOut.delete(name);
    for (const name of scopeNames(summary.leftOut)) leftOut.add(name);
  }
  return { granted: scopesOf(summaries, asksToSignIn), leftOut: [...leftOut], personFields: fieldsOf(summaries) };
}
