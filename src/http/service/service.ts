/** The parts that faces and pages get: the domain and the installation's settings. They decide nothing themselves. */

import type { ExternalSignIns } from '../../accounts/providers/external-sign-ins.ts';
import type { ProviderAuthenticator } from '../../accounts/providers/provider-authenticator.ts';
import type { ProviderUsers } from '../../accounts/providers/provider-users.ts';
import type { Accounts } from '../../accounts/sign-in/accounts.ts';
import type { Throttles } from '../../accounts/sign-in/rate-limits.ts';
import type { PageFailures } from '../../oauth/activity/page-failures.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import type { GrantRegistry } from '../../oauth/connected-apps/grant-registry.ts';
import type { DeviceFlow } from '../../oauth/device/device-flow.ts';
import type { Lifetimes } from '../../oauth/grants/grant.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import type { SigningKeys } from '../../oauth/openid/signing-keys.ts';
import type { AuthorizationServer } from '../../oauth/protocol/authorization-server.ts';
import type { Introspection } from '../../oauth/protocol/introspection.ts';
import type { OpenIdConnect } from '../../oauth/protocol/openid-connect.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import type { OperatorAccess } from '../../operator/access/access.ts';
import type { OperatorSignIn } from '../../operator/access/operator-sign-in.ts';
import type { OperatorStore } from '../../operator/access/operator-store.ts';
import type { OperatorRegistry } from '../../operator/access/operators.ts';
import type { HandOvers } from '../../operator/hand-over/hand-overs.ts';
import type { Brand } from '../../pages/layout/brand.ts';
import type { PagePaths } from '../../pages/layout/page-paths.ts';
import type { OperatorApiParts } from './operator-api-parts.ts';
import type { RequestTally } from './request-tally.ts';

/** Maximum number of connections in all, and of one source. */
export type MaxConnections = { readonly inAll: number; readonly ofSource: number };

/** The operators, as their address sees them. */
export type OperatorService = {
  readonly access: OperatorAccess;
  readonly signIn: OperatorSignIn;
  readonly registry: OperatorRegistry;
  /** For lists; whatever changes goes through the others. */
  readonly store: Pick<OperatorStore, 'listPasskeys' | 'listOperatorSessions'>;
};

/** The running service, as HTTP sees it. */
export type Service = {
  readonly authorizationServer: AuthorizationServer;
  readonly deviceFlow: DeviceFlow;
  readonly introspection: Introspection;
  readonly openIdConnect: OpenIdConnect;
  readonly signingKeys: Pick<SigningKeys, 'published'>;
  readonly accounts: Accounts;
  readonly grants: GrantRegistry;
  readonly externalSignIns: ExternalSignIns;
  readonly providers: ProviderAuthenticator;
  readonly providerUsers: ProviderUsers;
  readonly handOvers: HandOvers;
  /** The last refusals on the authorization page, in this process. */
  readonly pageFailures: PageFailures;
  readonly clients: Pick<ClientStore, 'findClient' | 'hasDocumentClient' | 'listClients' | 'listClientsNamed'>;
  readonly scopes: Pick<ScopeStore, 'listScopes'>;
  readonly resourceServers: Pick<ResourceServerStore, 'findResourceServer'>;
  readonly audit: Pick<AuditStore, 'lastAuditSequence' | 'listAuditEventsAfter' | 'listNamedAuditEvents'>;
  readonly keyring: Keyring;
  readonly operators: OperatorService;
  readonly operatorApi: OperatorApiParts;
  readonly brand: Brand;
  /** The logos for light and dark pages, with the paths that serve them; null if there is none. */
  readonly logos: readonly {
    readonly path: string;
    readonly logo: { readonly type: string; readonly bytes: Buffer } | null;
  }[];
  /** `{app_url}` and `{api_url}`, without a slash at the end. */
  readonly appUrl: string;
  readonly apiUrl: string;
  /** The operators' address, without a slash at the end; null if they have none. */
  readonly operatorUrl: string | null;
  /** The configured ways to sign in: `password`, and the ids of identity providers. */
  readonly signInMethods: readonly string[];
  /** The paths of pages below `{app_url}`. */
  readonly paths: PagePaths;
  readonly lifetimes: Lifetimes;
  readonly throttles: Throttles;
  readonly maxConnections: MaxConnections;
  /** True for the address of a trusted proxy, which may name the source of a request. */
  readonly isTrustedProxy: (address: string) => boolean;
  /** Counts of requests; null if metrics are off. */
  readonly tally: RequestTally | null;
  /** Resolves to true if requests can be served now. */
  readonly isReady: () => Promise<boolean>;
  /** Aborted when the stop begins. */
  readonly stopping: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};
