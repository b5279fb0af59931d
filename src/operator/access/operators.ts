/** The acts on operators, their one-time addresses, passkeys, sessions and keys. */
import { OperatorError } from '../../oauth/error.ts';
import { makeSecret } from '../../oauth/keys/secret.ts';
import type { SecretUseStore } from '../../oauth/keys/secret-use-store.ts';
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../../oauth/trail/audit.ts';
import type { DetailArgument } from '../../oauth/trail/event-members.ts';
import { changesOf } from '../registration/registration-changes.ts';
import { checkName } from '../registration/registration-checks.ts';
import { ADDRESS_LIFETIMES, addressText, type OneTimeAddress } from './one-time-address.ts';
import { includesRole, newOperatorId, type Operator, type Role } from './operator.ts';
import { KEY_LIFETIME, MAX_KEYS_OF_OPERATOR, type OperatorKey } from './operator-key.ts';
import {
  isLiveOperatorSession,
  newOperatorToken,
  type OperatorSession,
  operatorTokenDigest,
} from './operator-session.ts';
import type { AdminBound, OperatorProblem, OperatorStore } from './operator-store.ts';
import type { Passkey } from './passkey.ts';
import { RIGHTS, type Right } from './rights.ts';

/** The parts of the registry. `now` returns ms. */
export type OperatorRegistryParts = {
  readonly store: OperatorStore & Pick<SecretUseStore, 'findSecretUse'>;
  readonly prefix: string;
  /** URL of the console, or null if operators have no address. */
  readonly operatorUrl: string | null;
  readonly now: () => number;
};

/** A one-time address, whose text is shown once; `expiresAt` in ms. */
export type MadeAddress = { readonly operator: Operator; readonly url: string; readonly expiresAt: number };

/** A key with its last use (ms, or null). */
export type UsedKey = OperatorKey & { readonly lastUsedAt: number | null };

/** All that belongs to an operator; of sessions those that are live. */
export type OperatorInFull = {
  readonly operator: Operator;
  readonly passkeys: readonly Passkey[];
  readonly sessions: readonly OperatorSession[];
  readonly keys: readonly UsedKey[];
};

/** The settings of a new key. Lifetime in ms. */
export type NewKey = { readonly name: string; readonly rights: readonly Right[]; readonly lifetime?: number };

/** The acts on operators. Each throws an `OperatorError` if it is refused, and then changed nothing. */
export class OperatorRegistry {
  readonly #parts: OperatorRegistryParts;

  constructor(parts: OperatorRegistryParts) {
    this.#parts = parts;
  }

  /** Adds an operator, who enrolls a passkey at a one-time address. */
  async add(name: string, role: Role, actor: Actor): Promise<MadeAddress> {
    const operator = this.#newOperator(name, role);
    const { address, url } = this.#newAddress(operator.id, 'enroll');
    await this.#add(operator, address, actor);
    return { operator, url, expiresAt: address.expiresAt };
  }

  /** Adds an operator without a one-time address: a program, which has keys alone. */
  async addProgram(name: string, role: Role, actor: Actor): Promise<Operator> {
    const operator = this.#newOperator(name, role);
    await this.#add(operator, null, actor);
    return operator;
  }

  #newOperator(name: string, role: Role): Operator {
    checkName(name);
    return { id: newOperatorId('opr'), name, role, status: 'active', epoch: 0, createdAt: this.#parts.now() };
  }

  async #add(operator: Operator, address: OneTimeAddress | null, actor: Actor): Promise<void> {
    const { name, role } = operator;
    const event = this.#event('operator_added', actor, operator, { name, role });
    if (!(await this.#parts.store.addOperator(operator, address, event))) throw nameTaken(name);
  }

  /** All operators, oldest first. */
  list(): Promise<Operator[]> {
    return this.#parts.store.listOperators();
  }

  /** Returns true if an active admin has a passkey, without which the pages change no operator: a program has none. */
  async hasAdminOnPages(): Promise<boolean> {
    const admins = (await this.list()).filter(({ role, status }) => role === 'admin' && status === 'active');
    const passkeys = await Promise.all(admins.map(({ id }) => this.#parts.store.listPasskeys(id)));
    return passkeys.some(({ length }) => length > 0);
  }

  /** One operator by id or name. */
  async find(idOrName: string): Promise<Operator> {
    const { store } = this.#parts;
    const found = (await store.findOperator(idOrName)) ?? (await store.findOperatorByName(idOrName));
    if (!found)
      throw new OperatorError(`there is no operator ${JSON.stringify(idOrName)}`, null, {
        command: '"operator list" shows all',
      });
    return found;
  }

  /** One operator with passkeys, live sessions and keys. */
  async show(idOrName: string): Promise<OperatorInFull> {
    const { store, now } = this.#parts;
    const operator = await this.find(idOrName);
    const [passkeys, sessions, keys] = await Promise.all([
      store.listPasskeys(operator.id),
      store.listOperatorSessions(operator.id),
      this.#keysOf(operator),
    ]);
    return { operator, passkeys, sessions: sessions.filter((each) => isLiveOperatorSession(each, now())), keys };
  }

  /** Changes name and role. */
  async update(idOrName: string, changes: Partial<Pick<Operator, 'name' | 'role'>>, actor: Actor): Promise<Operator> {
    const before = await this.find(idOrName);
    if (changes.name !== undefined) checkName(changes.name);
    const isLower = changes.role !== undefined && !includesRole(changes.role, before.role);
    const changed = { ...before, ...changes, epoch: before.epoch + (isLower ? 1 : 0) };
    const event = this.#event('operator_updated', actor, before, {
      name: before.name,
      changes: changesOf(before, changes),
    });
    const problem = await this.#parts.store.updateOperator(changed, before, boundOf(actor), event);
    if (problem) throw refusal(problem, changed);
    return changed;
  }

  /** Refuses everything of an operator, and ends sessions, keys and one-time addresses. */
  async disable(idOrName: string, actor: Actor): Promise<Operator> {
    const operator = await this.find(idOrName);
    if (operator.status === 'disabled') throw new OperatorError(`${operator.name} is disabled already`);
    const event = this.#event('operator_disabled', actor, operator, { name: operator.name });
    const problem = await this.#parts.store.disableOperator(operator.id, boundOf(actor), event);
    if (problem) throw refusal(problem, operator);
    return { ...operator, status: 'disabled', epoch: operator.epoch + 1 };
  }

  /** Lets a disabled operator sign in again, with the passkeys from before. */
  async enable(idOrName: string, actor: Actor): Promise<Operator> {
    const operator = await this.find(idOrName);
    const isDone = await this.#parts.store.enableOperator(
      operator.id,
      this.#event('operator_enabled', actor, operator, { name: operator.name }),
    );
    if (!isDone) throw new OperatorError(`${operator.name} is active already`);
    return { ...operator, status: 'active' };
  }

  /** Deletes an operator with all that belongs to it. The audit trail keeps the id and the name. */
  async delete(idOrName: string, actor: Actor): Promise<Operator> {
    const operator = await this.find(idOrName);
    const event = this.#event('operator_deleted', actor, operator, { name: operator.name });
    const problem = await this.#parts.store.deleteOperator(operator.id, boundOf(actor), event);
    if (problem) throw refusal(problem, operator);
    return operator;
  }

  /** Ends passkeys and sessions, and returns a one-time address to enroll at. Keys stay. */
  async reset(idOrName: string, actor: Actor): Promise<MadeAddress> {
    const operator = await this.find(idOrName);
    const { address, url } = this.#newAddress(operator.id, 'enroll');
    const isDone = await this.#parts.store.resetOperator(
      address,
      this.#event('operator_reset', actor, operator, { name: operator.name }),
    );
    if (!isDone) throw notActive(operator);
    return { operator, url, expiresAt: address.expiresAt };
  }

  /** Returns a one-time address that begins a session without a passkey. A newer one ends the older. */
  async signInAddress(idOrName: string, actor: Actor): Promise<MadeAddress> {
    const operator = await this.find(idOrName);
    const { address, url } = this.#newAddress(operator.id, 'sign-in');
    const event = this.#event('operator_sign_in_address_made', actor, operator, { name: operator.name });
    if (!(await this.#parts.store.addOneTimeAddress(address, event))) throw notActive(operator);
    return { operator, url, expiresAt: address.expiresAt };
  }

  /** Ends all sessions and open one-time addresses of an operator. */
  async endSessions(idOrName: string, actor: Actor): Promise<Operator> {
    const operator = await this.find(idOrName);
    const event = this.#event('operator_sessions_ended', actor, operator, { name: operator.name });
    if (!(await this.#parts.store.endOperatorSessions(operator.id, event))) throw refusal('gone', operator);
    return operator;
  }

  /** Adds a key; its text is returned this once. */
  async addKey(idOrName: string, settings: NewKey, actor: Actor): Promise<{ key: OperatorKey; text: string }> {
    const { store, prefix, now } = this.#parts;
    const { name, rights, lifetime = KEY_LIFETIME.usual } = settings;
    const operator = await this.find(idOrName);
    checkName(name);
    checkRights(rights);
    if (lifetime < 1000 || lifetime > KEY_LIFETIME.most) throw new OperatorError('a key lasts from 1 s to 365 days');
    const { text, secret } = makeSecret(prefix, 'ok', now());
    const { digest, createdAt } = secret;
    const id = newOperatorId('opk');
    const key = { id, operatorId: operator.id, name, digest, rights, createdAt, expiresAt: createdAt + lifetime };
    const event = this.#event('operator_key_added', actor, operator, {
      name: operator.name,
      key: id,
      key_name: name,
      rights,
    });
    if (await store.addOperatorKey(key, event)) return { key, text };
    throw (await this.find(operator.id)).status === 'disabled'
      ? notActive(operator)
      : new OperatorError(`${operator.name} has ${MAX_KEYS_OF_OPERATOR} keys`, null, {
          remedy: 'end one first',
          command: 'end one with "operator key end" first',
        });
  }

  /** The keys of an operator with their last uses, oldest first. */
  async listKeys(idOrName: string): Promise<UsedKey[]> {
    return this.#keysOf(await this.find(idOrName));
  }

  /** Ends a key of an operator. */
  async endKey(idOrName: string, keyId: string, actor: Actor): Promise<OperatorKey> {
    const { store } = this.#parts;
    const operator = await this.find(idOrName);
    const key = (await store.listOperatorKeys(operator.id)).find(({ id }) => id === keyId);
    const event = this.#event('operator_key_ended', actor, operator, {
      name: operator.name,
      key: keyId,
      key_name: key?.name,
    });
    if (key && (await store.endOperatorKey(keyId, operator.id, event))) return key;
    throw new OperatorError(`${operator.name} has no key ${JSON.stringify(keyId)}`, null, {
      remedy: 'look at the keys of the operator again',
      command: '"operator key list" shows the keys of an operator',
    });
  }

  async #keysOf({ id }: Operator): Promise<UsedKey[]> {
    const { store } = this.#parts;
    const used = async (key: OperatorKey) => ({ ...key, lastUsedAt: await store.findSecretUse(key) });
    return Promise.all((await store.listOperatorKeys(id)).map(used));
  }

  #newAddress(operatorId: string, purpose: OneTimeAddress['purpose']): { address: OneTimeAddress; url: string } {
    const { operatorUrl, now } = this.#parts;
    if (operatorUrl === null)
      throw new OperatorError('operators have no address yet: set VALETKEY_OPERATOR_URL, and try again');
    const token = newOperatorToken();
    const createdAt = now();
    const expiresAt = createdAt + ADDRESS_LIFETIMES[purpose];
    const address = { digest: operatorTokenDigest(token), operatorId, purpose, createdAt, expiresAt };
    return { address, url: addressText(operatorUrl, purpose, token) };
  }

  #event<Action extends AuditAction>(
    action: Action,
    actor: Actor,
    { id }: Operator,
    ...detail: DetailArgument<Action>
  ): AuditEvent {
    return auditEvent(action, actor, this.#parts.now(), { clientId: id }, ...detail);
  }
}

/** Only a command, whose actor has no standing, may leave no admin. */
function boundOf({ standing }: Actor): AdminBound {
  return standing === undefined ? 'no bound' : 'an admin stays';
}

function checkRights(rights: readonly Right[]): void {
  const isKnown = rights.every((right) => RIGHTS.includes(right));
  if (rights.length === 0 || new Set(rights).size < rights.length || !isKnown)
    throw new OperatorError(`rights are some of ${RIGHTS.join(', ')}, each once`);
}

function refusal(problem: OperatorProblem, { name }: Operator): OperatorError {
  if (problem === 'name') return nameTaken(name);
  if (problem === 'last admin')
    return new OperatorError(`${name} is the last admin: add another one, or use the command "valetkey operator"`);
  return new OperatorError(`the operator ${name} was changed or deleted at the same time`, null, {
    remedy: 'look at the operator again, and try again',
    command: 'look with "operator list", and try again',
  });
}

function nameTaken(name: string): OperatorError {
  return new OperatorError(`there is an operator ${JSON.stringify(name)} already: choose another name`);
}

function notActive({ name }: Operator): OperatorError {
  return new OperatorError(`${name} is disabled`, null, {
    remedy: 'enable the operator first',
    command: '"operator enable" comes first',
  });
}
