/** The domain as the operators' API sees it. */
import type { AccountStore } from '../../../accounts/people/store.ts';
import type { ResourceServerStore } from '../../../oauth/clients/resource-server-store.ts';
import type { ScopeStore } from '../../../oauth/clients/scope-store.ts';
import type { GrantStore } from '../../../oauth/protocol/grant-store.ts';
import type { AuditStore } from '../../../oauth/trail/audit-store.ts';
import type { AppActivity } from '../../../operator/app-activity.ts';
import type { Identification } from '../../../operator/identify.ts';
import type { SecretUses } from '../../../operator/last-uses.ts';
import type { Lists } from '../../../operator/lists/lists.ts';
import type { Status } from '../../../operator/status.ts';

/** The parts of the domain that only the operators' API uses. */
export type OperatorApiParts = {
  readonly lists: Lists;
  readonly appActivity: AppActivity;
  readonly identification: Identification;
  readonly secretUses: SecretUses;
  readonly status: () => Promise<Status>;
  readonly store: Pick<ResourceServerStore, 'findResourceServer'> &
    Pick<ScopeStore, 'listScopes'> &
    Pick<AccountStore, 'findIdentityProvider' | 'findAccount' | 'findAccountUses' | 'listIdentities'> &
    Pick<GrantStore, 'findGrant'> &
    Pick<AuditStore, 'listNamedAuditEvents' | 'listNamedAuditEventsAt'>;
};
