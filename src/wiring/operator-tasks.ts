/** The wiring of the operators' tasks: registries, root keys and the trail, operators themselves, and lists. */
import { PageFailures } from '../oauth/activity/page-failures.ts';
import type { SigningKeys } from '../oauth/openid/signing-keys.ts';
import { OperatorAccess } from '../operator/access/access.ts';
import { OperatorSignIn } from '../operator/access/operator-sign-in.ts';
import { OperatorRegistry } from '../operator/access/operators.ts';
import { relyingParty } from '../operator/access/webauthn.ts';
import { AppActivity } from '../operator/apps/app-activity.ts';
import { ClientDocuments } from '../operator/apps/client-documents.ts';
import { ClientRegistry } from '../operator/apps/client-registry.ts';
import { HandOvers } from '../operator/hand-over/hand-overs.ts';
import { Idempotency } from '../operator/idempotency.ts';
import { Backups } from '../operator/installation/backups.ts';
import { Identification } from '../operator/leaks/identify-credential.ts';
import { Lists } from '../operator/lists/lists.ts';
import { IdentityProviderRegistry } from '../operator/products-and-apis/identity-provider-registry.ts';
import { ResourceServerRegistry } from '../operator/products-and-apis/resource-server-registry.ts';
import { ScopeRegistry } from '../operator/products-and-apis/scope-registry.ts';
import { KeyRegistry } from '../operator/root-keys/key-registry.ts';
import { AuditTrail } from '../operator/trail/audit-trail.ts';
import { type Configuration, outboundRules } from '../settings/configuration.ts';
import type { Storage } from '../storage/opening/opened-storage.ts';
import type { SharedParts, WiringWorld } from './shared-parts.ts';

/** Wires the registries of apps, APIs, scopes and products. */
export function makeRegistries(
  shared: SharedParts,
  configuration: Configuration,
  signingKeys: SigningKeys,
  pickUpUrl: string,
) {
  const { store, now, lifetimes } = shared;
  const makeSigningKeys = () => signingKeys.ensure();
  const clients = new ClientRegistry({ ...shared, accessTokenLifetime: lifetimes.accessToken, makeSigningKeys });
  return {
    clients,
    clientDocuments: new ClientDocuments({ ...shared, clients, isLocal: outboundRules(configuration).isLocal }),
    resourceServers: new ResourceServerRegistry(shared),
    scopes: new ScopeRegistry(store, now),
    identityProviders: new IdentityProviderRegistry(shared),
    handOvers: new HandOvers({ ...shared, pickUpUrl }),
  };
}

/** Wires root keys, the audit trail that they prove, and backups. */
export function makeKeysAndTrail(
  { store, keyring, now }: SharedParts,
  { installation, instances, countKeyUses }: Storage,
  { wait }: WiringWorld,
) {
  const auditTrail = new AuditTrail({ store, keyring, installation: installation.id, now });
  return {
    auditTrail,
    rootKeys: new KeyRegistry({
      store,
      keyring,
      now,
      wait,
      listRunning: instances.listRunning,
      proveTrail: (isAccepted, operator) => auditTrail.prove(isAccepted, operator),
      countUses: countKeyUses,
    }),
    backups: new Backups(store, auditTrail, now),
  };
}

/** Wires operators, their access and their sign-in. */
export function makeOperators(shared: SharedParts, { operatorUrl, appUrl, productName }: Configuration) {
  const { store, throttles } = shared;
  const registry = new OperatorRegistry({ ...shared, operatorUrl });
  return {
    registry,
    access: new OperatorAccess({ ...shared, throttle: throttles.operatorKeys }),
    signIn: new OperatorSignIn({ ...shared, rp: relyingParty(operatorUrl ?? appUrl, productName) }),
    store,
  };
}

/** Wires what operators read, and what keeps a repeated request from acting twice. */
export function makeViews(shared: SharedParts) {
  const { store, now } = shared;
  return {
    lists: new Lists(shared),
    identification: new Identification(shared),
    appActivity: new AppActivity(store, now),
    pageFailures: new PageFailures(now),
    idempotency: new Idempotency(store, now),
  };
}
