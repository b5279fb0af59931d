/** The life of signing keys: made for the first app with sign-in, turned every 90 days, replaced after a leak. */
import type { KeyObject } from 'node:crypto';
import type { ClientStore } from '../clients/client-store.ts';
import { OperatorError } from '../error.ts';
import type { Keyring } from '../keys/keyring.ts';
import { type Actor, auditEvent } from '../trail/audit.ts';
import {
  makeSigningKey,
  makeSigningKeys,
  openSigningKey,
  type PublishedKey,
  publishedKey,
  resealSigningKey,
  type SigningKey,
} from './signing-key.ts';
import type { SigningKeyStore } from './signing-key-store.ts';

/** Parts of the life of signing keys. `now` returns ms; `actor` is this process in the audit trail. */
export type SigningKeysParts = {
  readonly store: SigningKeyStore & Pick<ClientStore, 'hasSignInClient'>;
  readonly keyring: Keyring;
  readonly now: () => number;
  readonly actor: Actor;
};

/** A signing key in a list, and if this process can open its private key. A former key has none to open. */
export type ListedSigningKey = SigningKey & { readonly opens: boolean };

const DAY_MS = 24 * 3_600_000;
/** Time that a key signs. For as long before that, relying parties could read it in the key set. */
export const SIGNS_FOR_MS = 90 * DAY_MS;
/**
 * Time that a former key stays in the key set: a day after its last signature. A request that read the keys before the turn
 * may sign with it for some seconds after, for which an hour is ample.
 */
export const FORMER_KEPT_MS = DAY_MS + 3_600_000;

/** Returns all keys that are in the key set, oldest first. */
export async function listSigningKeys({ keyring, ...parts }: Omit<SigningKeysParts, 'actor'>) {
  const opens = (key: SigningKey) => key.state === 'former' || openSigningKey(keyring, key) !== null;
  return (await liveKeys(parts)).map((key): ListedSigningKey => ({ ...key, opens: opens(key) }));
}

async function liveKeys({ store, now }: Pick<SigningKeysParts, 'store' | 'now'>): Promise<SigningKey[]> {
  const at = now();
  return (await store.listSigningKeys()).filter(({ dropAt }) => dropAt === null || dropAt > at);
}

/** The signing keys of an installation. */
export class SigningKeys {
  readonly #parts: SigningKeysParts;
  #making: Promise<unknown> | null = null;
  /** The last opened key, by its sealed text: opening takes as long as half a signature. */
  #opened: { readonly sealedKey: string; readonly key: KeyObject } | null = null;

  constructor(parts: SigningKeysParts) {
    this.#parts = parts;
  }

  /** All keys that are in the key set, oldest first. */
  list(): Promise<ListedSigningKey[]> {
    return listSigningKeys(this.#parts);
  }

  /**
   * The keys of the key set. If there are none, makes two, but only for an app with sign-in; of several who ask, one does. If
   * that app is deleted meanwhile, they wait for the next.
   */
  async ensure(): Promise<SigningKey[]> {
    const { store, actor } = this.#parts;
    for (;;) {
      const keys = await liveKeys(this.#parts);
      if (keys.length > 0 || !(await store.hasSignInClient())) return keys;
      this.#making ??= this.#replace(null, 'signing_keys_made', actor).finally(() => {
        this.#making = null;
      });
      await this.#making;
    }
  }

  /** The public keys of the key set (RFC 7517 §5). A read makes none: anybody may ask. */
  async published(): Promise<PublishedKey[]> {
    return (await liveKeys(this.#parts)).map(publishedKey);
  }

  /** The key that signs now; null if it cannot be opened. */
  async signing(): Promise<{ readonly kid: string; readonly key: KeyObject } | null> {
    const signing = (await this.ensure()).find(({ state }) => state === 'signing');
    if (!signing) return null;
    const key = this.#open(signing);
    return key && { kid: signing.id, key };
  }

  /**
   * Turns the keys when it is time, and seals those of an earlier root key again. Makes those that a process which ended could
   * not make. For the service, once a minute.
   */
  async keep(): Promise<void> {
    const { store, keyring, now, actor } = this.#parts;
    const keys = await this.ensure();
    for (const key of keys) {
      const sealed = resealSigningKey(keyring, key);
      if (sealed) await store.resealSigningKey(key, sealed);
    }
    const signing = keys.find(({ state }) => state === 'signing');
    const next = keys.find(({ state }) => state === 'next');
    if (!signing || !next) return;
    // A time far in the future is one from before the clock stepped back.
    const isDue = Math.abs(now() - (signing.signsSince ?? 0)) >= SIGNS_FOR_MS;
    // A next key that this instance cannot open must not sign: ID tokens would end.
    if (!isDue || !openSigningKey(keyring, next)) return;
    const made = await makeSigningKey(keyring, now());
    const at = now();
    const detail = { signing_key: next.id, next_key: made.id, former_key: signing.id };
    await store.turnSigningKeys(
      { signing: signing.id, next: next.id, made, dropAt: at + FORMER_KEPT_MS },
      auditEvent('signing_keys_turned', actor, at, {}, detail),
    );
  }

  /**
   * Drops all keys and makes two, after a leak: no ID token of an earlier key verifies with the key set from now on. Returns
   * the keys. Throws an `OperatorError` if there are none.
   */
  async replace(operator: Actor): Promise<ListedSigningKey[]> {
    for (;;) {
      const signing = (await this.ensure()).find(({ state }) => state === 'signing');
      if (!signing) throw new OperatorError('there are no keys for ID tokens, because no app has sign-in');
      if (await this.#replace(signing.id, 'signing_keys_replaced', operator)) return this.list();
    }
  }

  async #replace(signing: string | null, action: 'signing_keys_made' | 'signing_keys_replaced', actor: Actor) {
    const { store, keyring, now } = this.#parts;
    const pair = await makeSigningKeys(keyring, now());
    const detail = { signing_key: pair.signing.id, next_key: pair.next.id };
    return store.replaceSigningKeys(signing, pair, auditEvent(action, actor, now(), {}, detail));
  }

  #open(signing: SigningKey): KeyObject | null {
    if (this.#opened?.sealedKey === signing.sealedKey) return this.#opened.key;
    const key = openSigningKey(this.#parts.keyring, signing);
    if (key && signing.sealedKey !== null) this.#opened = { sealedKey: signing.sealedKey, key };
    return key;
  }
}
