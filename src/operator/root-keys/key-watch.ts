/**
 * A running instance follows the root keys of its installation: it reads keys that were added, notes which it has, issues
 * with the current one, and drops retired ones. So a rotation needs no restart. It also warns as soon as its keys are no
 * longer where they are kept, because then the next start would be refused.
 */

import type { RootKeyStore } from '../../oauth/installation/root-key-store.ts';
import { keyIdOf, type LiveKeyring } from '../../oauth/keys/keyring.ts';
import { type RootKey, rootKeyName } from '../../oauth/keys/root-key.ts';

/** The parts of following. `later` acts after a number of ms, and returns a function that cancels it. */
export type KeyWatchParts = {
  readonly store: Pick<RootKeyStore, 'findRootKeys' | 'noteInstance'>;
  readonly keyring: LiveKeyring;
  /** The id of this instance, and what an operator knows it by. */
  readonly instance: { readonly id: string; readonly name: string };
  /**
   * Reads the root keys from where they are kept. Throws with a sentence for the operator when that fails. Null when they
   * cannot change while the process runs.
   */
  readonly read: (() => readonly Buffer[]) | null;
  readonly later: (act: () => void, ms: number) => () => void;
  /** Gets what an operator has to do: once, as long as that does not change. */
  readonly report: (sentence: string) => void;
};

/** Time between two checks (ms). Credentials that an instance issues with an earlier key until then are valid too. */
const LOOK_EVERY_MS = 1000;

/** Follows the root keys until it is stopped. */
export class KeyWatch {
  readonly #parts: KeyWatchParts;
  #isStopped = false;
  #cancel: () => void = () => {};
  #told: readonly string[] = [];
  #noted = '';

  constructor(parts: KeyWatchParts) {
    this.#parts = parts;
  }

  /**
   * Notes this instance with its keys, and then looks for the first time. In this order an instance that begins and a
   * rotation cannot both miss each other. Returns the key that this instance lacks and must not serve without, or null.
   */
  async begin(): Promise<number | null> {
    await this.#note();
    const { nextKeyId } = await this.#look();
    const { keyring } = this.#parts;
    const lacks = nextKeyId !== null && !keyring.keyIds.includes(nextKeyId) ? nextKeyId : null;
    if (lacks === null) this.#goOn();
    return lacks;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #goOn(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#parts.later(() => {
      this.#look()
        .catch(() => {}) // The next look tries again; requests tell that the store is not there.
        .finally(() => this.#goOn());
    }, LOOK_EVERY_MS);
  }

  async #look() {
    const { store, keyring, read } = this.#parts;
    const found = await store.findRootKeys();
    const live = found.keys.filter(({ retiredAt }) => retiredAt === null).map(({ keyId }) => keyId);
    const wrong = read ? this.#follow(read, live) : [];
    if (keyring.keyIds.includes(found.currentKeyId)) keyring.issueWith(found.currentKeyId);
    for (const { keyId, retiredAt } of found.keys)
      if (retiredAt !== null && keyId !== keyring.currentKeyId && keyring.keyIds.includes(keyId)) keyring.remove(keyId);
    this.#tell([...wrong, ...lacking(live.filter((keyId) => !keyring.keyIds.includes(keyId)))]);
    const isAnnounced = ({ keyId, supersededAt, retiredAt }: RootKey) =>
      keyId !== found.currentKeyId && supersededAt === null && retiredAt === null;
    // Noted again while a rotation may wait for it: a database server that crashed has forgotten the instances.
    if (found.keys.some(isAnnounced)) this.#noted = '';
    await this.#note();
    return found;
  }

  /**
   * Reads the keys from their source. Adds missing ones to this instance, and returns the faults, such as an own key that the
   * source no longer has. Ignores keys that the installation does not know: a command registers them, with a canary.
   */
  #follow(read: () => readonly Buffer[], live: readonly number[]): string[] {
    const { keyring } = this.#parts;
    try {
      const kept = read();
      if (live.some((keyId) => !keyring.keyIds.includes(keyId))) keyring.add(kept);
      const keptIds = kept.map(keyIdOf);
      return unkept(live.filter((keyId) => keyring.keyIds.includes(keyId) && !keptIds.includes(keyId)));
    } catch (error) {
      return [(error as Error).message];
    }
  }

  #tell(wrong: readonly string[]): void {
    for (const sentence of wrong) if (!this.#told.includes(sentence)) this.#parts.report(sentence);
    this.#told = wrong;
  }

  async #note(): Promise<void> {
    const { store, keyring, instance } = this.#parts;
    const noted = keyring.keyIds.join();
    if (noted === this.#noted) return;
    await store.noteInstance({ ...instance, keyIds: keyring.keyIds });
    this.#noted = noted;
  }
}

function lacking(keyIds: readonly number[]): string[] {
  if (keyIds.length === 0) return [];
  return [`this instance lacks root keys of its installation (${names(keyIds)}): give it the keys file of the others`];
}

function unkept(keyIds: readonly number[]): string[] {
  if (keyIds.length === 0) return [];
  return [
    `the keys file no longer holds some root keys of this installation (${names(keyIds)}): restore them from its backup, or retire them with "valetkey keys retire"; the next start fails while anything depends on them`,
  ];
}

function names(keyIds: readonly number[]): string {
  return keyIds.map(rootKeyName).join(', ');
}
