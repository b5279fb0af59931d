/** The ways to sign in (VALETKEY_SIGN_IN_METHODS) beside the identity providers that are registered. */
import type { IdentityProvider } from '../accounts/people/identity-provider.ts';

/** Sentences on what keeps a service from serving: a way that nobody registered, or a password beside a provider's own ids. */
export function methodProblems(methods: readonly string[], providers: readonly IdentityProvider[]): string[] {
  const unknown = methods.filter((id) => id !== 'password' && !providers.some((provider) => provider.id === id));
  const problems = unknown.map(
    (id) =>
      `VALETKEY_SIGN_IN_METHODS names ${id}, which is not registered: "valetkey identity-provider register --id ${id}"`,
  );
  const alone = providers.find(({ ownIds }) => ownIds);
  if (alone && methods.includes('password'))
    problems.push(
      `VALETKEY_SIGN_IN_METHODS holds password, but ${alone.id} was registered with --own-ids: set it to ${alone.id} alone`,
    );
  return problems;
}

/** The ids of the active providers that the ways to sign in leave out. */
export function leftOut(methods: readonly string[], providers: readonly IdentityProvider[]): string[] {
  return providers.filter(({ id, status }) => status === 'active' && !methods.includes(id)).map(({ id }) => id);
}
