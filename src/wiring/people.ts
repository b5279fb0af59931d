/** The wiring of people: accounts, their passwords, and their sign-ins here and at products. */
import { UserImport } from '../accounts/import/user-import.ts';
import { UserLinks } from '../accounts/import/user-links.ts';
import { PasswordHasher } from '../accounts/passwords/password-hash.ts';
import { PasswordRenewal } from '../accounts/passwords/password-renewal.ts';
import { ExternalSignIns } from '../accounts/providers/external-sign-ins.ts';
import { ProviderAuthenticator } from '../accounts/providers/provider-authenticator.ts';
import { ProviderUsers } from '../accounts/providers/provider-users.ts';
import { Accounts } from '../accounts/sign-in/accounts.ts';
import { makeSignInLimits } from '../accounts/sign-in/rate-limits.ts';
import { SignInFloor } from '../accounts/sign-in/sign-in-floor.ts';
import { WrongSignIns } from '../accounts/sign-in/wrong-sign-ins.ts';
import type { GrantRegistry } from '../oauth/connected-apps/grant-registry.ts';
import type { SharedParts } from './shared-parts.ts';

/** Wires accounts with their passwords. */
export function makeAccounts(shared: SharedParts, productName: string) {
  const { store, keyring, now, throttles } = shared;
  const hasher = new PasswordHasher(keyring);
  const wrongSignIns = new WrongSignIns(store, now);
  const guessable = [productName, 'valetkey'];
  const accounts = new Accounts({
    ...shared,
    ...makeSignInLimits(shared),
    hasher,
    floor: new SignInFloor({ ...shared, hasher }),
    wrongSignIns,
    guessable,
    signInThrottle: throttles.signIns,
  });
  return {
    accounts,
    wrongSignIns,
    imports: new UserImport({ store, hasher, now }),
    links: new UserLinks({ store, accounts, now }),
    ...makeRenewals(shared, hasher),
  };
}

/** Wires the renewals of stored passwords: imported hashes, and those sealed with an earlier root key. */
function makeRenewals({ store, keyring, later }: SharedParts, hasher: PasswordHasher) {
  return {
    startWrapping: (report: (error: Error) => void) =>
      new PasswordRenewal({
        list: (after, limit) => store.listUnwrapped(after, limit),
        renew: (password) => hasher.wrap(password),
        store,
        later,
        report,
      }),
    startResealing: (report: (error: Error) => void) =>
      new PasswordRenewal({
        list: async (after, limit) => {
          for (const keyId of keyring.keyIds.filter((id) => id !== keyring.currentKeyId)) {
            const found = await store.listSealedWith(keyId, after, limit);
            if (found.length > 0) return found;
          }
          return [];
        },
        renew: (password) => hasher.reseal(password),
        store,
        later,
        report,
      }),
  };
}

/** Wires products that sign in users of theirs. */
export function makeProviders(shared: SharedParts, grants: GrantRegistry) {
  const { throttles } = shared;
  const providers = new ProviderAuthenticator({ ...shared, throttle: throttles.clientAndSource });
  return {
    providers,
    externalSignIns: new ExternalSignIns({ ...shared, providers, throttle: throttles.signIns }),
    providerUsers: new ProviderUsers({
      ...shared,
      grants,
      providers,
      calls: throttles.providerCalls,
      endings: throttles.providerEndings,
    }),
  };
}
