/**
 * Assembles a store: the operations that both stores share, and those that each implements itself. A new table's
 * operations are added here.
 */

import type { AccountStore } from '../../accounts/people/store.ts';
import type { ActivityStore } from '../../oauth/activity/activity-store.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import type { ResourceServerStore } from '../../oauth/clients/resource-server-store.ts';
import type { ScopeStore } from '../../oauth/clients/scope-store.ts';
import type { DeviceRequestStore } from '../../oauth/device/device-request-store.ts';
import type { BackupStore } from '../../oauth/installation/restore.ts';
import type { RootKeyStore } from '../../oauth/installation/root-key-store.ts';
import type { SigningKeyStore } from '../../oauth/installation/signing-key-store.ts';
import type { SecretUseStore } from '../../oauth/keys/secret-use-store.ts';
import type { GrantStore } from '../../oauth/protocol/grant-store.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import type { IdempotencyStore } from '../../oauth/trail/request-conditions.ts';
import type { OperatorStore } from '../../operator/access/operator-store.ts';
import type { HandOverStore } from '../../operator/hand-over/hand-over-store.ts';
import type { Runner } from '../acts.ts';
import type { UseMarks } from '../use-marks.ts';
import { accountLists } from './account-lists.ts';
import { accountStore } from './accounts.ts';
import { activityStore } from './activity.ts';
import { trail } from './audit-events.ts';
import { backupStore } from './backups.ts';
import { clientStore } from './clients.ts';
import { externalSignInStore } from './external-sign-ins.ts';
import { foreignPasswordStore } from './foreign-passwords.ts';
import { grantStore, type OwnGrants } from './grants.ts';
import { handOverStore } from './hand-overs.ts';
import { idempotencyStore } from './idempotency-keys.ts';
import { identityStore } from './identities.ts';
import { identityProviderStore } from './identity-providers.ts';
import { operatorStore } from './operators.ts';
import { resourceServerStore } from './resource-servers.ts';
import { rootKeyStore } from './root-keys.ts';
import { scopeStore } from './scopes.ts';
import { secretUseStore } from './secret-uses.ts';
import { sessionStore } from './sessions.ts';
import { signingKeyStore } from './signing-keys.ts';

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
      ...trail(runner),
    },
    close: () => Promise.all([marks.close(), secretUses.close()]),
  };
}
