/** The check of the sign-in methods (VALETKEY_SIGN_IN_METHODS) against the registered identity providers. */
import type { IdentityProvider } from '../../accounts/people/identity-provider.ts';

/**
 * The faults that keep a service from serving: an unregistered sign-in method, or passwords beside a provider with its own
 * ids.
 */
export function methodProblems(methods: readonly string[], providers: readonly IdentityProvider[]) {
  const unknown = methods.filter((id) => id !== 'password' && !providers.some((provider) => provider.id === id));
  const problems = unknown.map((id) => ({
    problem: `VALETKEY_SIGN_IN_METHODS names ${id}, which is not registered`,
    remedy: `"valetkey identity-provider register --id ${id}"`,
  }));
  const alone = providers.find(({ ownIds }) => ownIds);
  if (alone && methods.includes('password'))
    problems.push({
      problem: `VALETKEY_SIGN_IN_METHODS holds password, but ${alone.id} was registered with --own-ids`,
      remedy: `set it to ${alone.id} alone`,
    });
  return problems;
}

/** The ids of the active providers that are not among the sign-in methods. */
export function unlistedProviders(methods: readonly string[], providers: readonly IdentityProvider[]): string[] {
  return providers.filter(({ id, status }) => status === 'active' && !methods.includes(id)).map(({ id }) => id);
}
