/** The wiring of the domain: one installation over an open database, for the service and for each command. */
import { endpointsOf } from '../http/service/paths.ts';
import type { Keyring } from '../oauth/keys/keyring.ts';
import { pagePaths } from '../pages/layout/page-paths.ts';
import type { Configuration } from '../settings/configuration.ts';
import type { Storage } from '../storage/opening/opened-storage.ts';
import { makeKeysAndTrail, makeOperators, makeRegistries, makeViews } from './operator-tasks.ts';
import { makeAccounts, makeProviders } from './people.ts';
import { makeProtocol } from './protocol.ts';
import { makeProviderTests } from './provider-tests.ts';
import { makeSharedParts, type WiringWorld } from './shared-parts.ts';

/** A wired installation. */
export type WiredInstallation = ReturnType<typeof makeInstallation>;

/** Wires the domain over an open database. */
export function makeInstallation(configuration: Configuration, keyring: Keyring, storage: Storage, world: WiringWorld) {
  const { appUrl, pagesBasePath, productName } = configuration;
  const paths = pagePaths(pagesBasePath);
  const shared = makeSharedParts(configuration, keyring, storage, world);
  const protocol = makeProtocol(shared);
  const providers = makeProviders(shared, protocol.grants);
  const registries = makeRegistries(shared, configuration, protocol.signingKeys, appUrl + paths.pickUp);
  const operators = makeOperators(shared, configuration);
  return {
    ...protocol,
    ...makeAccounts(shared, productName),
    ...providers,
    ...registries,
    ...makeProviderTests(shared, storage.installation, world, {
      identityProviders: registries.identityProviders,
      externalSignIns: providers.externalSignIns,
      continueTo: paths.apps,
    }),
    ...makeKeysAndTrail(shared, storage, world),
    ...makeViews(shared),
    operators,
    operatorRegistry: operators.registry,
    activity: shared.activity,
    throttles: shared.throttles,
    tally: shared.tally,
    signIns: shared.signIns,
    audit: storage.store,
    secretUses: storage.store,
    /** The operator of this process, by whom commands act. */
    operator: { kind: 'operator', id: world.operator, source: null, requestId: null } as const,
    endpoints: endpointsOf(appUrl),
    /** The page where an invited user sets a password; takes the token in its query. */
    newPasswordUrl: appUrl + paths.newPassword,
    close: storage.close,
  };
}
