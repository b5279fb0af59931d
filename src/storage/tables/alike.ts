/** The verbs of the ports that both stores run alike, put together: a new table's are added here. */
import type { Runner } from '../acts.ts';
import { accountStore } from './accounts.ts';
import { trail } from './audit-events.ts';
import { externalSignInStore } from './external-sign-ins.ts';
import { foreignPasswordStore } from './foreign-passwords.ts';
import { identityStore } from './identities.ts';
import { identityProviderStore } from './identity-providers.ts';
import { rootKeyStore } from './root-keys.ts';
import { scopeStore } from './scopes.ts';
import { secretUseStore } from './secret-uses.ts';
import { sessionStore } from './sessions.ts';

/** Those verbs; `close` writes what they still have to write. */
export function alike(runner: Runner) {
  const secretUses = secretUseStore(runner);
  return {
    verbs: {
      ...accountStore(runner),
      ...externalSignInStore(runner),
      ...foreignPasswordStore(runner),
      ...identityProviderStore(runner),
      ...identityStore(runner),
      ...rootKeyStore(runner),
      ...scopeStore(runner),
      ...secretUses.store,
      ...sessionStore(runner),
      ...trail(runner),
    },
    close: () => secretUses.close(),
  };
}
