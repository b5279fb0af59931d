/** The domain as each face of operators has it: the commands, the API and the console. */
import type { AppActivity } from '../apps/app-activity.ts';
import type { ClientRegistry } from '../apps/client-registry.ts';
import type { Endpoints } from '../apps/endpoints.ts';
import type { HandOvers } from '../hand-over/hand-overs.ts';
import type { Identification } from '../leaks/identify-credential.ts';
import type { IdentityProviderRegistry } from '../products-and-apis/identity-provider-registry.ts';
import type { ProviderFinding } from '../products-and-apis/provider-test.ts';
import type { ResourceServerRegistry } from '../products-and-apis/resource-server-registry.ts';
import type { ScopeRegistry } from '../products-and-apis/scope-registry.ts';
import type { SecretUses } from '../secrets/secret-last-uses.ts';

/** The objects that operators look at and act on. */
export type OperatorDomain = {
  readonly clients: ClientRegistry;
  readonly resourceServers: ResourceServerRegistry;
  readonly identityProviders: IdentityProviderRegistry;
  readonly scopes: ScopeRegistry;
  /** Tests the setup of an identity provider, by its id. */
  readonly testProvider: (id: string) => Promise<ProviderFinding[]>;
  readonly appActivity: AppActivity;
  readonly identification: Identification;
  readonly handOvers: HandOvers;
  readonly secretUses: SecretUses;
  readonly endpoints: Endpoints;
  /** The page where an invited user sets a password; takes the token in its query. */
  readonly newPasswordUrl: string;
};
