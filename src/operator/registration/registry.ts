/** The operator's acts on apps, APIs and products alike: registering, changing, secrets, pausing and deleting. */
import { NothingThere, OperatorError } from '../../oauth/error.ts';
import { makeSecret, type StoredSecret } from '../../oauth/keys/secret.ts';
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../../oauth/trail/audit.ts';
import type { DetailArgument } from '../../oauth/trail/event-members.ts';
import { type HandOverKind, type HandOverSubject, type NewHandOver, REGISTERED } from '../hand-over/hand-over.ts';
import type { HandOverStore } from '../hand-over/hand-over-store.ts';
import { registerHandedOver } from '../hand-over/registration.ts';
import { type WhichSecret, withNewSecret, withoutSecret } from '../secrets/secret-rotation.ts';
import { changesOf } from './registration-changes.ts';

/** A row with secrets. */
export type RegisteredRow = {
  readonly id: string;
  readonly name: string;
  readonly secrets: readonly StoredSecret[];
  readonly keys?: readonly unknown[];
};

/** Something new. Its secret's text is returned this once; null if it has none, and if it is handed over. */
export type Registered<Row, Secret = string | null> = {
  readonly row: Row;
  readonly secret: Secret;
  readonly handOver: NewHandOver | null;
};

/** The rows of a kind, in the store: each write returns false if it does not apply any more. */
type Rows<Row extends RegisteredRow> = {
  find(id: string): Promise<Row | null>;
  register(row: Row, event: AuditEvent): Promise<boolean>;
  update(row: Row, expected: Row, event: AuditEvent): Promise<boolean>;
  replaceSecrets(expected: Row, secrets: Row['secrets'], event: AuditEvent): Promise<boolean>;
  delete(id: string, event: AuditEvent): Promise<boolean>;
};

/** The parts of every registry. `now` returns ms since the epoch. */
export type RegistryParts = {
  readonly store: Pick<HandOverStore, 'registerHandedOver'>;
  readonly prefix: string;
  readonly now: () => number;
};

/**
 * The operator's acts on one kind of registrations. Each throws an `OperatorError` when it is refused, and then changed nothing.
 * Acts take ids and no names: the id of a deleted app may be the name of another.
 */
export abstract class Registry<Kind extends HandOverKind, Row extends RegisteredRow & Settings, Settings> {
  readonly kind: Kind;
  readonly #rows: Rows<Row>;
  readonly #parts: RegistryParts;

  constructor(kind: Kind, parts: RegistryParts, rows: Rows<Row>) {
    this.kind = kind;
    this.#parts = parts;
    this.#rows = rows;
  }

  /** One by its id alone. */
  async exact(id: string): Promise<Row> {
    const row = await this.#rows.find(id);
    if (!row) throw this.nothing(id);
    return row;
  }

  /** One as a command names it: by its id. */
  show(named: string): Promise<Row> {
    return this.exact(named);
  }

  /**
   * Changes some settings, and returns the changed row. `permit` throws if the operator may not change this one so: the write
   * replaces the very row that it was asked about.
   */
  async update(
    id: string,
    given: Partial<Settings>,
    operator: Actor,
    permit: (before: Row) => Promise<void> | void = () => {},
  ): Promise<Row> {
    const before = await this.exact(id);
    await permit(before);
    const changes = await this.checked(before, given);
    const changed = { ...before, ...changes };
    const event = this.event(`${this.kind}_updated`, operator, id, {
      changes: changesOf<object>(before, changes),
    });
    this.requireWritten(await this.#rows.update(changed, before, event), id);
    return changed;
  }

  /** Adds a new secret, shown this once; the one before stays live until it is retired. */
  async rotateSecret(id: string, operator: Actor): Promise<{ readonly row: Row; readonly secret: string }> {
    const row = await this.exact(id);
    this.requireNewSecret(row);
    const { text, secret } = this.#makeSecret();
    const secrets = withNewSecret(row.secrets, secret, `${REGISTERED[this.kind].command} retire-secret ${id}`);
    await this.#replaceSecrets(row, secrets, 'rotated', operator);
    return { row: { ...row, secrets }, secret: text };
  }

  /** Ends one of two live secrets, or the only one of what can prove itself by a key. */
  async retireSecret(id: string, operator: Actor, which: WhichSecret = 'older'): Promise<Row> {
    const row = await this.exact(id);
    this.requireSecrets(row);
    const secrets = withoutSecret(row, which, `${REGISTERED[this.kind].command} rotate-secret ${id}`);
    await this.#replaceSecrets(row, secrets, 'retired', operator);
    return { ...row, secrets };
  }

  /** Deletes one. */
  async delete(id: string, operator: Actor): Promise<Row> {
    const row = await this.exact(id);
    const event = this.event(`${this.kind}_deleted`, operator, id, { name: row.name });
    if (!(await this.#rows.delete(id, event))) throw this.notDeleted(id);
    return row;
  }

  /** Returns the changes that are written for those that are given. Throws `OperatorError`. */
  protected abstract checked(before: Row, given: Partial<Settings>): Promise<Partial<Settings>>;

  /** Throws an `OperatorError` for one that authenticates otherwise. */
  protected requireSecrets(_row: Row): void {}

  /** Throws an `OperatorError` for one that gets no new secret. */
  protected requireNewSecret(row: Row): void {
    this.requireSecrets(row);
  }

  /** The refusal of something new whose id is taken. */
  protected taken(id: string): OperatorError {
    return new OperatorError(`the ${REGISTERED[this.kind].word} ${JSON.stringify(id)} exists already`);
  }

  /** The refusal to delete one. */
  protected notDeleted(id: string): OperatorError {
    return this.#changedMeanwhile(id);
  }

  /** The refusal of a name or id that none has. */
  protected nothing(named: string): OperatorError {
    const { word, command } = REGISTERED[this.kind];
    return new NothingThere(`there is no ${word} ${JSON.stringify(named)}`, null, {
      command: `"${command} list" shows all`,
    });
  }

  /** Writes something new: with a secret, without one, or with a hand-over in its place. `about` goes into the event. */
  protected async add<Secret extends string | null>(
    proof: 'secret' | 'no secret' | 'hand-over',
    operator: Actor,
    make: (secrets: Row['secrets'], createdAt: number) => Row,
    about: { readonly document?: string | undefined; readonly sha256?: string | undefined } = {},
  ): Promise<Registered<Row, Secret>> {
    const { store, now } = this.#parts;
    const made = proof === 'secret' ? this.#makeSecret() : null;
    const row = make(made ? [made.secret] : [], made?.secret.createdAt ?? now());
    const event = this.event(`${this.kind}_registered`, operator, row.id, { name: row.name, ...about });
    const subject = { kind: this.kind, row } as unknown as HandOverSubject;
    const handOver = proof === 'hand-over' ? await registerHandedOver(store, subject, event) : null;
    const isNew = proof === 'hand-over' ? handOver !== null : await this.#rows.register(row, event);
    if (!isNew) throw this.taken(row.id);
    return { row, secret: (made?.text ?? null) as Secret, handOver };
  }

  /** Throws an `OperatorError` unless a write applied. */
  protected requireWritten(isWritten: boolean, id: string): void {
    if (!isWritten) throw this.#changedMeanwhile(id);
  }

  /** Returns the event of an act on one. */
  protected event<Action extends AuditAction>(
    action: Action,
    operator: Actor,
    id: string,
    ...detail: DetailArgument<Action>
  ): AuditEvent {
    return auditEvent(action, operator, this.#parts.now(), { clientId: id }, ...detail);
  }

  async #replaceSecrets(row: Row, secrets: Row['secrets'], how: 'rotated' | 'retired', operator: Actor): Promise<void> {
    const { command, proof } = REGISTERED[this.kind];
    const event = this.event(`${this.kind}_secret_${how}`, operator, row.id);
    if (!(await this.#rows.replaceSecrets(row, secrets, event)))
      throw new OperatorError(`somebody else changed the ${proof} at the same time`, null, {
        remedy: 'look at them again, and try again',
        command: `check "${command} show", and try again`,
      });
  }

  #makeSecret() {
    return makeSecret(this.#parts.prefix, REGISTERED[this.kind].secret, this.#parts.now());
  }

  #changedMeanwhile(id: string): OperatorError {
    const { command, word } = REGISTERED[this.kind];
    return new OperatorError(`the ${word} ${id} changed or was deleted at the same time`, null, {
      remedy: 'look at it again, and try again',
      command: `check "${command} list", and try again`,
    });
  }
}

/** A row that can be paused. */
type Pausable = RegisteredRow & { readonly status: 'active' | 'paused' };

/** The acts on a kind of registrations that can be paused. */
export abstract class PausingRegistry<
  Kind extends Exclude<HandOverKind, 'resource_server'>,
  Row extends Pausable & Settings,
  Settings,
> extends Registry<Kind, Row, Settings> {
  /** Refuses all requests of one until it is resumed, and ends nothing. */
  pause(id: string, operator: Actor): Promise<Row> {
    return this.#setStatus(id, 'paused', operator);
  }

  /** Ends a pause: everything that was not revoked or expired meanwhile works again. */
  resume(id: string, operator: Actor): Promise<Row> {
    return this.#setStatus(id, 'active', operator);
  }

  /** Writes a status; false if it is so already. */
  protected abstract setStatus(id: string, status: Row['status'], event: AuditEvent): Promise<boolean>;

  async #setStatus(id: string, status: Row['status'], operator: Actor): Promise<Row> {
    const row = await this.exact(id);
    if (row.status === status) throw new OperatorError(`the ${REGISTERED[this.kind].word} is ${status} already`);
    const event = this.event(`${this.kind}_${status === 'paused' ? 'paused' : 'resumed'}`, operator, id);
    this.requireWritten(await this.setStatus(id, status, event), id);
    return { ...row, status };
  }
}
