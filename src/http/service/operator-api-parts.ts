/** The domain as the operators' API sees it. */
import type { AccountListStore, AccountStore } from '../../accounts/people/store.ts';
import type { GrantStore } from '../../oauth/protocol/grant-store.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import type { Idempotency } from '../../operator/idempotency.ts';
import type { Status } from '../../operator/installation/installation-status.ts';
import type { OperatorDomain } from '../../operator/installation/operator-domain.ts';
import type { Lists } from '../../operator/lists/lists.ts';

/** The parts of the domain that only the operators' API uses. */
export type OperatorApiParts = OperatorDomain & {
  readonly lists: Lists;
  readonly status: () => Promise<Status>;
  readonly idempotency: Idempotency;
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
