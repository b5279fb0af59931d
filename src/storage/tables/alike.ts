/** A store put together: the verbs that both stores run alike, with those that each has in its own way. A new table's are added here. */

import type { AccountStore } from '../../accounts/people/store.ts';
import type { ActivityStore } from '../../oauth/activity/activity-store.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import type { ResourceServerStore } from '../../oauth/clients/resource-server-store.ts';
import type { ScopeStore } from '../../oauth/clients/scope-store.ts';
import type { DeviceRequestStore } from '../../oauth/device/device-request-store.ts';
import type { BackupStore } from '../../oauth/installation/restore.ts';
import type { RootKeyStore } from '../../oauth/installation/root-key-store.ts';
import type { SecretUseStore } from '../../oauth/keys/secret-use-store.ts';
import type { GrantStore } from '../../oauth/protocol/grant-store.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import type { Runner } from '../acts.ts';
import type { UseMarks } from '../use-marks.ts';
import { accountStore } from './accounts.ts';
import { activityStore } from './activity.ts';
import { trail } from './audit-events.ts';
import { backupStore } from './backups.ts';
import { clientStore } from './clients.ts';
import { externalSignInStore } from './external-sign-ins.ts';
import { foreignPasswordStore } from './foreign-passwords.ts';
import { grantStore, type OwnGrants } from './grants.ts';
import { identityStore } from './identities.ts';
import { identityProviderStore } from './identity-providers.ts';
import { resourceServerStore } from './resource-servers.ts';
import { rootKeyStore } from './root-keys.ts';
import { scopeStore } from './scopes.ts';
import { secretUseStore } from './secret-uses.ts';
import { sessionStore } from './sessions.ts';

/** The verbs of the protocol's ports. */
export type Store = GrantStore &
  ClientStore &
  ResourceServerStore &
  SecretUseStore &
  ScopeStore &
  DeviceRequestStore &
  ActivityStore &
  AuditStore;

/** All verbs of the ports. */
export type WholeStore = Store & AccountStore & RootKeyStore & BackupStore;

/** What each store does in its own way. */
export type OwnVerbs = DeviceRequestStore &
  Pick<ClientStore, 'useClientAssertion'> &
  Pick<AuditStore, 'lastAuditSequence' | 'listAuditEventsAfter'>;

/** The store. `restore` has the statements that a restore runs in this store alone; `close` writes what it still has to write. */
export function wholeStore(
  runner: Runner,
  grants: OwnGrants,
  marks: UseMarks,
  own: OwnVerbs,
  restore: readonly string[],
): { readonly store: WholeStore; close(): Promise<unknown> } {
  const secretUses = secretUseStore(runner);
  return {
    store: {
      ...own,
      ...grantStore(grants, runner, marks),
      ...accountStore(runner),
      ...activityStore(runner),
      ...backupStore(runner, restore),
      ...clientStore(runner, own),
      ...externalSignInStore(runner),
      ...foreignPasswordStore(runner),
      ...identityProviderStore(runner),
      ...identityStore(runner),
      ...resourceServerStore(runner),
      ...rootKeyStore(runner),
      ...scopeStore(runner),
      ...secretUses.store,
      ...sessionStore(runner),
      ...trail(runner),
    },
    close: () => Promise.all([marks.close(), secretUses.close()]),
  };
}
