/** All guards, by area. */
import { accountsGuards } from './accounts.ts';
import { agentsGuards } from './agents.ts';
import { auditTrailGuards } from './audit-trail.ts';
import { connectedAppsGuards } from './connected-apps.ts';
import { consoleGuards } from './console.ts';
import { externalSignInGuards } from './external-sign-in.ts';
import type { Guard } from './guard.ts';
import { handOverGuards } from './hand-overs.ts';
import { httpGuards } from './http.ts';
import { idTokenGuards } from './id-tokens.ts';
import { mainGuards } from './main.ts';
import { oauthGuards } from './oauth.ts';
import { openIdGuards } from './openid.ts';
import { operatorApiGuards } from './operator-api.ts';
import { operatorGuards } from './operators.ts';
import { passkeyGuards } from './passkeys.ts';
import { postgresqlGuards } from './postgresql.ts';
import { productPackageGuards } from './product-package.ts';
import { restoreGuards } from './restore.ts';
import { revocationGuards } from './revocations.ts';
import { rootKeyGuards } from './root-keys.ts';
import { storageGuards } from './storage.ts';

/** Area → its guards. */
export const GUARDS: Readonly<Record<string, readonly Guard[]>> = {
  accounts: accountsGuards,
  agents: agentsGuards,
  'audit trail': auditTrailGuards,
  'connected apps': connectedAppsGuards,
  console: consoleGuards,
  'external sign-in': externalSignInGuards,
  'hand-overs': handOverGuards,
  http: httpGuards,
  'ID tokens': idTokenGuards,
  main: mainGuards,
  oauth: oauthGuards,
  openid: openIdGuards,
  operators: operatorGuards,
  passkeys: passkeyGuards,
  'operator api': operatorApiGuards,
  postgresql: postgresqlGuards,
  'product package': productPackageGuards,
  restore: restoreGuards,
  revocations: revocationGuards,
  'root keys': rootKeyGuards,
  storage: storageGuards,
};
