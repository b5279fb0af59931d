/** The operator's acts on identity providers: products that sign in their own users. */

import {
  homePageProblem,
  type IdentityProvider,
  isProviderId,
  PROVIDER_RIGHTS,
  type ProviderRight,
  signInUrlProblem,
} from '../../accounts/people/identity-provider.ts';
import type { AccountStore, IdentityProviderStore } from '../../accounts/people/store.ts';
import { OperatorError } from '../../oauth/error.ts';
import type { Actor, AuditEvent } from '../../oauth/trail/audit.ts';
import { checkName, usableKeys } from '../registration/registration-checks.ts';
import { PausingRegistry, type Registered, type RegistryParts } from '../registration/registry.ts';
import {
  countThroughProvider,
  type EndedThroughProvider,
  endThroughProvider,
  type ProviderEndingParts,
} from './provider-ending.ts';

/** The operator's decisions about a provider, which may change. */
export type IdentityProviderSettings = Pick<
  IdentityProvider,
  'name' | 'signInUrl' | 'homePage' | 'keys' | 'rights' | 'sessionLifetime'
>;

/** The settings of a new provider. Its `id` and `ownIds` cannot be changed later. */
export type NewIdentityProvider = IdentityProviderSettings & Pick<IdentityProvider, 'id' | 'ownIds'>;

/** The parts of the registry. */
export type IdentityProviderRegistryParts = RegistryParts & {
  readonly store: IdentityProviderStore & Pick<AccountStore, 'hasAccounts'> & ProviderEndingParts['store'];
};

/** Minimum and maximum lifetime of a session of a provider (s): a minute, and 30 days. */
const MIN_SESSION = 60;
const MAX_SESSION = 30 * 24 * 3600;

/** The operator's acts on providers. While one is paused nobody can sign in there; sessions and grants stay alive. */
export class IdentityProviderRegistry extends PausingRegistry<
  'identity_provider',
  IdentityProvider,
  IdentityProviderSettings
> {
  readonly #parts: IdentityProviderRegistryParts;

  constructor(parts: IdentityProviderRegistryParts) {
    const { store } = parts;
    super('identity_provider', parts, {
      find: (id) => store.findIdentityProvider(id),
      register: (provider, event) => store.registerIdentityProvider(provider, event),
      update: (provider, expected, event) => store.updateIdentityProvider(provider, expected, event),
      replaceSecrets: (expected, secrets, event) => store.replaceIdentityProviderSecrets(expected, secrets, event),
      delete: (id, event) => store.deleteIdentityProvider(id, event),
    });
    this.#parts = parts;
  }

  /** Registers a provider; one with public keys has no secret. */
  async register(
    settings: NewIdentityProvider,
    operator: Actor,
    isHandedOver = false,
  ): Promise<Registered<IdentityProvider>> {
    if (!isProviderId(settings.id))
      throw new OperatorError(
        'the id of a provider has 1 to 40 of a-z, 0-9 and -, and is not "password"',
        'provider_id',
      );
    checkSettings(settings);
    await this.#checkOwnIds(settings);
    const keys = usableKeys(settings.keys);
    const make = (secrets: IdentityProvider['secrets'], createdAt: number): IdentityProvider => ({
      ...settings,
      keys,
      status: 'active',
      secrets,
      createdAt,
    });
    return this.add(isHandedOver ? 'hand-over' : keys.length > 0 ? 'no secret' : 'secret', operator, make);
  }

  /** All providers, oldest first. */
  list(): Promise<IdentityProvider[]> {
    return this.#parts.store.listIdentityProviders();
  }

  protected override async checked(
    before: IdentityProvider,
    given: Partial<IdentityProviderSettings>,
  ): Promise<Partial<IdentityProviderSettings>> {
    const changes = given.keys === undefined ? given : { ...given, keys: usableKeys(given.keys) };
    const changed = { ...before, ...changes };
    checkSettings(changed);
    if (changed.keys.length > 0 && changed.secrets.length > 0)
      throw new OperatorError('this provider authenticates with a secret', 'keys', {
        remedy: 'register another one with keys',
        command: 'register another one with --jwks',
      });
    return changes;
  }

  protected override requireNewSecret({ keys }: IdentityProvider): void {
    if (keys.length > 0)
      throw new OperatorError('this provider authenticates with its keys', null, {
        remedy: 'change them instead',
        command: 'change them with "identity-provider update --jwks"',
      });
  }

  protected override taken(id: string): OperatorError {
    return new OperatorError(`the identity provider ${JSON.stringify(id)} exists already: choose another ID`);
  }

  protected override setStatus(id: string, status: IdentityProvider['status'], event: AuditEvent): Promise<boolean> {
    return this.#parts.store.setIdentityProviderStatus(id, status, event);
  }

  /** Only a provider that nobody has an identity at is deleted. */
  protected override notDeleted(id: string): OperatorError {
    return new OperatorError(
      `accounts are linked to ${JSON.stringify(id)}: stop it with "identity-provider pause", or delete those accounts first`,
    );
  }

  /** Ends what was given through a provider since a time (ms), in the way of `provider-ending.ts`. */
  async endAll(
    id: string,
    since: number,
    operator: Actor,
    report?: (ended: EndedThroughProvider) => void,
    until?: number,
  ): Promise<{ readonly provider: IdentityProvider; readonly ended: EndedThroughProvider }> {
    const provider = await this.show(id);
    const parts = report ? { ...this.#parts, report } : this.#parts;
    return { provider, ended: await endThroughProvider(parts, provider, since, operator, until) };
  }

  /** Counts what that would end, until a time (ms). */
  async countThrough(provider: IdentityProvider, since: number, until: number): Promise<EndedThroughProvider> {
    return countThroughProvider(this.#parts, provider, since, until);
  }

  /**
   * A provider whose subjects are the account ids must be the only one: otherwise another one could sign in to one of its
   * accounts.
   */
  async #checkOwnIds({ ownIds }: NewIdentityProvider): Promise<void> {
    const others = await this.list();
    const alone = others.find((other) => other.ownIds);
    if (alone)
      throw new OperatorError(
        `${alone.id} gives all people their IDs, so it must be the only identity provider`,
        null,
        { command: 'it was registered with --own-ids' },
      );
    if (!ownIds) return;
    if (others.length > 0)
      throw new OperatorError(
        `a provider that gives all people their IDs must be the only one, and ${others[0]?.id} is registered`,
        'own_ids',
        { command: 'omit --own-ids' },
      );
    if (await this.#parts.store.hasAccounts())
      throw new OperatorError(
        'a provider that gives all people their IDs needs an installation without accounts',
        'own_ids',
        { remedy: 'start a new one', command: 'start a new one, or omit --own-ids' },
      );
  }
}

function checkSettings({ name, signInUrl, homePage, rights, sessionLifetime }: IdentityProviderSettings): void {
  checkName(name);
  const problem = signInUrlProblem(signInUrl);
  if (problem) throw new OperatorError(`the sign-in address ${JSON.stringify(signInUrl)}: ${problem}`, 'sign_in_url');
  const wrongHome = homePage === null ? null : homePageProblem(homePage);
  if (wrongHome) throw new OperatorError(`the home page ${JSON.stringify(homePage)}: ${wrongHome}`, 'home_page');
  if (rights.length === 0 || new Set(rights).size < rights.length || !rights.every(isRight))
    throw new OperatorError(`rights are ${PROVIDER_RIGHTS.join(' and ')}, each once`, 'rights');
  if (sessionLifetime !== null && (sessionLifetime < MIN_SESSION || sessionLifetime > MAX_SESSION))
    throw new OperatorError('a session lasts from 60 s to 30 days', 'session');
}

function isRight(text: string): text is ProviderRight {
  return (PROVIDER_RIGHTS as readonly string[]).includes(text);
}
