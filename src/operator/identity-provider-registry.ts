/** The operator's acts on identity providers: products that sign in their own users. */
import {
  homePageProblem,
  type IdentityProvider,
  isProviderId,
  PROVIDER_RIGHTS,
  type ProviderRight,
  signInUrlProblem,
} from '../accounts/people/identity-provider.ts';
import type { AccountStore, IdentityProviderStore } from '../accounts/people/store.ts';
import { NothingThere, OperatorError } from '../oauth/error.ts';
import { makeSecret } from '../oauth/keys/secret.ts';
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../oauth/trail/audit.ts';
import type { DetailArgument } from '../oauth/trail/event-members.ts';
import type { NewHandOver } from './hand-over/hand-over.ts';
import type { HandOverStore } from './hand-over/hand-over-store.ts';
import { registerHandedOver } from './hand-over/registration.ts';
import {
  countThroughProvider,
  type EndedThroughProvider,
  endThroughProvider,
  type ProviderEndingParts,
} from './provider-ending.ts';
import { checkName, usableKeys } from './registration.ts';
import { changesOf } from './registration-changes.ts';
import { type WhichSecret, withNewSecret, withoutSecret } from './secret-rotation.ts';

/** The operator's decisions about a provider, which may change. */
export type IdentityProviderSettings = Pick<
  IdentityProvider,
  'name' | 'signInUrl' | 'homePage' | 'keys' | 'rights' | 'sessionLifetime'
>;

/** The settings of a new provider. Its `id` and `ownIds` cannot be changed later. */
export type NewIdentityProvider = IdentityProviderSettings & Pick<IdentityProvider, 'id' | 'ownIds'>;

/** The parts of the registry. `now` returns ms since the epoch. */
export type IdentityProviderRegistryParts = {
  readonly store: IdentityProviderStore &
    Pick<AccountStore, 'hasAccounts'> &
    Pick<HandOverStore, 'registerHandedOver'> &
    ProviderEndingParts['store'];
  readonly prefix: string;
  readonly now: () => number;
};

/** Minimum and maximum lifetime of a session of a provider (s): a minute, and 30 days. */
const MIN_SESSION = 60;
const MAX_SESSION = 30 * 24 * 3600;

/** The operator's acts on providers. Each throws an `OperatorError` when it is refused, and then changed nothing. */
export class IdentityProviderRegistry {
  readonly #parts: IdentityProviderRegistryParts;

  constructor(parts: IdentityProviderRegistryParts) {
    this.#parts = parts;
  }

  /**
   * Registers a provider. Its secret's text is returned this once; null with public keys, and for one that is handed over,
   * which has a hand-over instead.
   */
  async register(
    settings: NewIdentityProvider,
    operator: Actor,
    isHandedOver = false,
  ): Promise<{ provider: IdentityProvider; secret: string | null; handOver: NewHandOver | null }> {
    const { store, now } = this.#parts;
    if (!isProviderId(settings.id))
      throw new OperatorError(
        'the id of a provider has 1 to 40 of a-z, 0-9 and -, and is not "password"',
        'provider_id',
      );
    checkSettings(settings);
    await this.#checkOwnIds(settings);
    const createdAt = now();
    const keys = usableKeys(settings.keys);
    const made = keys.length > 0 || isHandedOver ? null : this.#makeSecret(createdAt);
    const secrets = made ? [made.secret] : [];
    const provider: IdentityProvider = { ...settings, keys, status: 'active', secrets, createdAt };
    const event = this.#event('identity_provider_registered', operator, provider.id, { name: provider.name });
    const subject = { kind: 'identity_provider', row: provider } as const;
    const handOver = isHandedOver ? await registerHandedOver(store, subject, event) : null;
    if (!handOver && (isHandedOver || !(await store.registerIdentityProvider(provider, event))))
      throw new OperatorError(`the identity provider ${JSON.stringify(provider.id)} exists already: choose another ID`);
    return { provider, secret: made?.text ?? null, handOver };
  }

  /** All providers, oldest first. */
  list(): Promise<IdentityProvider[]> {
    return this.#parts.store.listIdentityProviders();
  }

  /** One provider by its id. */
  async show(id: string): Promise<IdentityProvider> {
    const found = await this.#parts.store.findIdentityProvider(id);
    if (!found)
      throw new NothingThere(`there is no identity provider ${JSON.stringify(id)}`, null, {
        command: '"identity-provider list" shows all',
      });
    return found;
  }

  /** Changes some settings and returns the changed provider. */
  async update(id: string, given: Partial<IdentityProviderSettings>, operator: Actor): Promise<IdentityProvider> {
    const before = await this.show(id);
    const changes = given.keys === undefined ? given : { ...given, keys: usableKeys(given.keys) };
    const changed = { ...before, ...changes };
    checkSettings(changed);
    if (changed.keys.length > 0 && changed.secrets.length > 0)
      throw new OperatorError('this provider authenticates with a secret', 'keys', {
        remedy: 'register another one with keys',
        command: 'register another one with --jwks',
      });
    const event = this.#event('identity_provider_updated', operator, id, {
      changes: changesOf<IdentityProviderSettings>(before, changes),
    });
    mustBeThere(await this.#parts.store.updateIdentityProvider(changed, before, event), id);
    return changed;
  }

  /** Adds a new secret, shown this once; the one before stays live until it is retired. */
  async rotateSecret(id: string, operator: Actor): Promise<{ provider: IdentityProvider; secret: string }> {
    const provider = await this.show(id);
    if (provider.keys.length > 0)
      throw new OperatorError('this provider authenticates with its keys', null, {
        remedy: 'change them instead',
        command: 'change them with "identity-provider update --jwks"',
      });
    const { text, secret } = this.#makeSecret(this.#parts.now());
    const secrets = withNewSecret(provider.secrets, secret, `identity-provider retire-secret ${id}`);
    await this.#replaceSecrets(provider, secrets, 'identity_provider_secret_rotated', operator);
    return { provider: { ...provider, secrets }, secret: text };
  }

  /** Ends one of two live secrets. */
  async retireSecret(id: string, operator: Actor, which: WhichSecret = 'older'): Promise<IdentityProvider> {
    const provider = await this.show(id);
    const secrets = withoutSecret(provider, which, `identity-provider rotate-secret ${id}`);
    await this.#replaceSecrets(provider, secrets, 'identity_provider_secret_retired', operator);
    return { ...provider, secrets };
  }

  /**
   * Refuses all requests of a provider until it is resumed, so that nobody can sign in there. Sessions and grants stay
   * alive.
   */
  pause(id: string, operator: Actor): Promise<IdentityProvider> {
    return this.#setStatus(id, 'paused', 'identity_provider_paused', operator);
  }

  /** Lets people sign in there again. */
  resume(id: string, operator: Actor): Promise<IdentityProvider> {
    return this.#setStatus(id, 'active', 'identity_provider_resumed', operator);
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

  /** Deletes a provider that nobody has an identity at. */
  async delete(id: string, operator: Actor): Promise<IdentityProvider> {
    const provider = await this.show(id);
    const event = this.#event('identity_provider_deleted', operator, id, { name: provider.name });
    if (!(await this.#parts.store.deleteIdentityProvider(id, event)))
      throw new OperatorError(
        `accounts are linked to ${JSON.stringify(id)}: stop it with "identity-provider pause", or delete those accounts first`,
      );
    return provider;
  }

  async #setStatus(
    id: string,
    status: IdentityProvider['status'],
    action: 'identity_provider_paused' | 'identity_provider_resumed',
    operator: Actor,
  ): Promise<IdentityProvider> {
    const provider = await this.show(id);
    if (!(await this.#parts.store.setIdentityProviderStatus(id, status, this.#event(action, operator, id))))
      throw new OperatorError(`the identity provider is ${status} already`);
    return { ...provider, status };
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

  async #replaceSecrets(
    provider: IdentityProvider,
    secrets: IdentityProvider['secrets'],
    action: 'identity_provider_secret_rotated' | 'identity_provider_secret_retired',
    operator: Actor,
  ) {
    const { store } = this.#parts;
    const event = this.#event(action, operator, provider.id);
    if (!(await store.replaceIdentityProviderSecrets(provider, secrets, event)))
      throw new OperatorError('somebody else changed the secrets or keys of this provider at the same time', null, {
        remedy: 'look at them again, and try again',
        command: 'check "identity-provider show", and try again',
      });
  }

  #makeSecret(at: number) {
    return makeSecret(this.#parts.prefix, 'ps', at);
  }

  #event<Action extends AuditAction>(
    action: Action,
    operator: Actor,
    id: string,
    ...detail: DetailArgument<Action>
  ): AuditEvent {
    return auditEvent(action, operator, this.#parts.now(), { clientId: id }, ...detail);
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

function mustBeThere(there: boolean, id: string): void {
  if (!there)
    throw new OperatorError(`the identity provider ${id} changed or was deleted at the same time`, null, {
      remedy: 'look at it again, and try again',
      command: 'check "identity-provider list", and try again',
    });
}
