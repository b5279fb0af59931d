/** The wiring of the tests of products: with the settings of the running service, also in a command. */
import type { ExternalSignIns } from '../accounts/providers/external-sign-ins.ts';
import { endpointsOf } from '../http/service/paths.ts';
import type { IdentityProviderRegistry } from '../operator/products-and-apis/identity-provider-registry.ts';
import { type SignInSettings, testMethods, testProvider } from '../operator/products-and-apis/provider-test.ts';
import type { OpenInstallation } from '../storage/opening/opened-storage.ts';
import type { SharedParts, WiringWorld } from './shared-parts.ts';

/** The parts of the tests. `continueTo` is the page of ours that a tested sign-in would lead to. */
type ProviderTestsParts = {
  readonly identityProviders: IdentityProviderRegistry;
  readonly externalSignIns: ExternalSignIns;
  readonly continueTo: string;
};

/** Wires the tests. */
export function makeProviderTests(
  { store, issuer, methods, now }: SharedParts,
  { differences }: OpenInstallation,
  { outbound, askMethods }: WiringWorld,
  parts: ProviderTestsParts,
) {
  const settings = async (): Promise<SignInSettings> => {
    const { signInEndpoint } = endpointsOf(issuer);
    if (!askMethods) return { of: 'service', methods, signInEndpoint };
    // A terminal that lacks the service's variables has the default address.
    const unlike = differences.find(({ variable }) => variable === 'VALETKEY_APP_URL');
    const servedUrl = unlike?.recorded || issuer;
    const served = await askMethods(servedUrl);
    return served
      ? { of: 'service', methods: served, signInEndpoint: endpointsOf(servedUrl).signInEndpoint }
      : { of: 'command', methods, signInEndpoint };
  };
  const testParts = { ...parts, people: store, get: (url: string) => outbound.head(url), settings, now };
  return {
    signInSettings: settings,
    testProvider: (id: string) => testProvider(testParts, id),
    testMethods: () => testMethods(testParts),
  };
}
