/** The domain as the operators' API sees it. */
import type { AccountListStore, AccountStore } from '../../accounts/people/store.ts';
import type { GrantStore } from '../../oauth/protocol/grant-store.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import type { AppActivity } from '../../operator/apps/app-activity.ts';
import type { ClientRegistry } from '../../operator/apps/client-registry.ts';
import type { Endpoints } from '../../operator/apps/endpoints.ts';
import type { HandOvers } from '../../operator/hand-over/hand-overs.ts';
import type { Idempotency } from '../../operator/idempotency.ts';
import type { Status } from '../../operator/installation/installation-status.ts';
import type { Identification } from '../../operator/leaks/identify-credential.ts';
import type { Lists } from '../../operator/lists/lists.ts';
import type { IdentityProviderRegistry } from '../../operator/products-and-apis/identity-provider-registry.ts';
import type { ProviderFinding } from '../../operator/products-and-apis/provider-test.ts';
import type { ResourceServerRegistry } from '../../operator/products-and-apis/resource-server-registry.ts';
import type { ScopeRegistry } from '../../operator/products-and-apis/scope-registry.ts';
import type { SecretUses } from '../../operator/secrets/secret-last-uses.ts';

/** The parts of the domain that only the operators' API uses. */
export type OperatorApiParts = {
  readonly lists: Lists;
  readonly appActivity: AppActivity;
  readonly identification: Identification;
  readonly secretUses: SecretUses;
  readonly status: () => Promise<Status>;
  readonly clients: ClientRegistry;
  readonly resourceServers: ResourceServerRegistry;
  readonly identityProviders: IdentityProviderRegistry;
  readonly scopes: ScopeRegistry;
  readonly testProvider: (id: string) => Promise<ProviderFinding[]>;
  readonly handOvers: HandOvers;
  readonly idempotency: Idempotency;
  readonly endpoints: Endpoints;
  /** The page where an invited user sets a password; takes the token in its query. */
  readonly newPasswordUrl: string;
  readonly store: Pick<ResourceServerStore, 'findResourceServer'> &
    Pick<ScopeStore, 'listScopes'> &
    Pick<AccountStore, 'findIdentityProvider' | 'findAccount' | 'listIdentities' | 'listSessions'> &
    Pick<AccountListStore, 'findAccountUses' | 'findLastSignIns'> &
    Pick<GrantStore, 'findGrant' | 'findPresentation'> &
    Pick<
      AuditStore,
      'listNamedAuditEvents' | 'listAuditPlaces' | 'listNamedAuditEventsAt' | 'countIncidents' | 'listIncidents'
    >;
};
