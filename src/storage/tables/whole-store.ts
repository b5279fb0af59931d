/**
 * Assembles a store: the operations that both stores share, and those that each implements itself. A new table's
 * operations are added here.
 */

import type { AccountStore } from '../../accounts/people/store.ts';
import type { ActivityStore } from '../../oauth/activity/activity-store.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import type { DeviceRequestStore } from '../../oauth/device/device-request-store.ts';
import type { BackupStore } from '../../oauth/installation/restore.ts';
import type { RootKeyStore } from '../../oauth/installation/root-key-store.ts';
import type { SecretUseStore } from '../../oauth/keys/secret-use-store.ts';
import type { SigningKeyStore } from '../../oauth/openid/signing-key-store.ts';
import type { GrantStore } from '../../oauth/protocol/grant-store.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import type { IdempotencyStore } from '../../oauth/trail/request-conditions.ts';
import type { OperatorStore } from '../../operator/access/operator-store.ts';
import type { HandOverStore } from '../../operator/hand-over/hand-over-store.ts';
import type { UseMarks } from '../late-writes/use-marks.ts';
import type { Runner } from '../statements/shared-operations.ts';
import { accountLists } from './account-lists.ts';
import { accountStore } from './accounts/accounts.ts';
import { externalSignInStore } from './accounts/external-sign-ins.ts';
import { foreignPasswordStore } from './accounts/foreign-passwords.ts';
import { identityStore } from './accounts/identities.ts';
import { sessionStore } from './accounts/sessions.ts';
import { backupStore } from './backups/backups.ts';
import { grantStore, type OwnGrants } from './grants/grants.ts';
import { rootKeyStore } from './installation/root-keys.ts';
import { signingKeyStore } from './installation/signing-keys.ts';
import { idempotencyStore } from './operators/idempotency-keys.ts';
import { operatorStore } from './operators/operators.ts';
import { activityStore } from './registrations/activity.ts';
import { clientStore } from './registrations/clients.ts';
import { handOverStore } from './registrations/hand-overs.ts';
import { identityProviderStore } from './registrations/identity-providers.ts';
import { resourceServerStore } from './registrations/resource-servers.ts';
import { scopeStore } from './registrations/scopes.ts';
import { secretUseStore } from './registrations/secret-uses.ts';
import { auditEventStore } from './trail/audit-events.ts';

/** The operations of the protocol's ports. */
export type Store = GrantStore &
  ClientStore &
  ResourceServerStore &
  SecretUseStore &
  ScopeStore &
  DeviceRequestStore &
  ActivityStore &
  AuditStore &
  IdempotencyStore &
  HandOverStore;

/** The operations of all ports. */
export type WholeStore = Store & OperatorStore & AccountStore & RootKeyStore & SigningKeyStore & BackupStore;

/** The operations that each store implements itself. */
export type OwnVerbs = DeviceRequestStore &
  Pick<ClientStore, 'useClientAssertion'> &
  Pick<AuditStore, 'lastAuditSequence' | 'listAuditEventsAfter'>;

/**
 * Assembles the store. `restore` has the statements of a restore in this store alone; `close` writes the pending marks.
 */
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
      ...handOverStore(runner),
      ...accountStore(runner),
      ...accountLists(runner),
      ...activityStore(runner),
      ...backupStore(runner, restore),
      ...clientStore(runner, own),
      ...externalSignInStore(runner),
      ...foreignPasswordStore(runner),
      ...idempotencyStore(runner),
      ...identityProviderStore(runner),
      ...identityStore(runner),
      ...operatorStore(runner),
      ...resourceServerStore(runner),
      ...rootKeyStore(runner),
      ...scopeStore(runner),
      ...secretUses.store,
      ...sessionStore(runner),
      ...signingKeyStore(runner),
      ...auditEventStore(runner),
    },
    close: () => Promise.all([marks.close(), secretUses.close()]),
  };
}
