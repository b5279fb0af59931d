/** The operator's acts on root keys: lists them, makes another one current, and retires unused ones. */

import { OperatorError } from '../../oauth/error.ts';
import { type Grant, grantIdText, MAX_ACCESS_TOKEN_LIFETIME, oldestGrantId } from '../../oauth/grants/grant.ts';
import type { KeyUse, RootKeyStore } from '../../oauth/installation/root-key-store.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { type RootKey, rootKeyName } from '../../oauth/keys/root-key.ts';
import type { GrantStore } from '../../oauth/protocol/grant-store.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import { endWalked } from '../end-in-steps.ts';
import { forgetEnded } from './forget-ended-instances.ts';

/** The parts of the operator's acts on root keys. Times in ms. */
export type KeyRegistryParts = {
  readonly store: RootKeyStore & Pick<GrantStore, 'walkGrants' | 'revokeGrant'>;
  readonly keyring: Keyring;
  /** The ids of the instances that run now. */
  readonly listRunning: () => Promise<readonly string[]>;
  /** Verifies the audit trail and proves it under the current key; throws an `OperatorError` when it is wrong and not accepted. */
  readonly proveTrail: (isAccepted: boolean, operator: Actor) => Promise<void>;
  readonly countUses: (liveAt: number) => Promise<readonly KeyUse[]>;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
};

/** The present role of a key. An announced key was never in use, and waits for a rotation. */
export type KeyStatus = 'current' | 'announced' | 'earlier' | 'retired';

/** A key in a list: the number of rows that depend on it, and if the listing process has it. */
export type ListedKey = RootKey & Omit<KeyUse, 'keyId'> & { readonly status: KeyStatus; readonly isHere: boolean };

/** A rotation: the key that is current now, and the one that was. */
export type KeyRotation = { readonly keyId: number; readonly before: number };

/** Time between two looks at whether all instances have read a key (ms). */
const LOOK_EVERY_MS = 250;
/** Timeout for instances to read a key (ms): they look for keys each second. */
const READ_TIMEOUT_MS = 30_000;

/** Time after a rotation in which an instance may still issue with the earlier key (ms): until its next look, which may be late. */
const LATE_ISSUE_MS = 60_000;

/**
 * Time after a rotation (ms) until all credentials of the earlier key without a row have expired. It is the longest
 * configurable lifetime of an access token, because another instance may have, or may have had, other settings than this
 * process. A sealed value lives for an hour at most. The cursor of a stream lives longer; if it cannot be read, the stream
 * restarts and says so.
 */
export const LAST_USE_MS = MAX_ACCESS_TOKEN_LIFETIME * 1000 + LATE_ISSUE_MS;

/** The operator's acts on root keys. Each throws an `OperatorError` when refused, and then changed nothing. */
export class KeyRegistry {
  readonly #parts: KeyRegistryParts;

  constructor(parts: KeyRegistryParts) {
    this.#parts = parts;
  }

  /** All keys, oldest first. */
  async list(): Promise<ListedKey[]> {
    const { store, keyring, countUses, now } = this.#parts;
    const [{ keys, currentKeyId }, uses] = [await store.findRootKeys(), await countUses(now())];
    return keys.map((key) => {
      const { grants, passwords, signingKeys } = uses.find(({ keyId }) => keyId === key.keyId) ?? UNUSED;
      const isHere = keyring.keyIds.includes(key.keyId);
      return { ...key, status: statusOf(key, currentKeyId), grants, passwords, signingKeys, isHere };
    });
  }

  /** The keys of this process that wait for a rotation, oldest first. */
  async announced(): Promise<number[]> {
    const { keys, currentKeyId } = await this.#parts.store.findRootKeys();
    const waiting = keys.filter((key) => statusOf(key, currentKeyId) === 'announced');
    return waiting.map(({ keyId }) => keyId).filter((keyId) => this.#parts.keyring.keyIds.includes(keyId));
  }

  /** Returns true if a key was retired before. */
  async isRetired(keyId: number): Promise<boolean> {
    const { keys } = await this.#parts.store.findRootKeys();
    return keys.some((key) => key.keyId === keyId && key.retiredAt !== null);
  }

  /**
   * Waits until every running instance has read an announced key, half a minute at most, and then makes it current. `tell`
   * gets the names of instances that still lack it. After an interruption, a second call continues.
   */
  async rotate(keyId: number, tell: (names: readonly string[]) => void, operator: Actor): Promise<KeyRotation> {
    const { store, now } = this.#parts;
    const { currentKeyId } = await store.findRootKeys();
    await this.#untilRead(keyId, tell);
    // An instance that begins after this needs the key; the second look sees those that began before.
    await store.prepareRootKey(keyId);
    try {
      await this.#untilRead(keyId, tell);
    } catch (error) {
      await store.prepareRootKey(null);
      throw error;
    }
    const event = auditEvent('root_key_used', operator, now(), {}, { root_key: rootKeyName(keyId) });
    if (await store.useRootKey(keyId, event)) return { keyId, before: currentKeyId };
    throw new OperatorError('another rotation ran at the same time: check "keys list", and rotate again if needed');
  }

  /**
   * Retires a key on which nothing depends. Refused while anything does (unless the grants are to be ended), and until the
   * key's last credentials have expired. Afterwards an old refresh token of this key is refused, but no longer ends its grant.
   * Before that, the audit trail is verified, because events under this key cannot be verified afterwards, and a checkpoint
   * under the current key proves it. Returns the number of grants that were ended.
   */
  async retire(keyId: number, operator: Actor, { endGrants = false, acceptTrail = false } = {}): Promise<number> {
    const { store, proveTrail, now } = this.#parts;
    let key = await this.requireEarlier(keyId);
    const ended = endGrants ? await this.#endGrants(keyId, operator) : 0;
    if (ended > 0) key = await this.requireEarlier(keyId);
    const problem = this.#whyNeeded(key);
    if (problem) throw new OperatorError(problem);
    await proveTrail(acceptTrail, operator);
    const event = auditEvent('root_key_retired', operator, now(), {}, { root_key: rootKeyName(keyId) });
    if (!(await store.retireRootKey(keyId, now() - LAST_USE_MS, event)))
      throw new OperatorError('the keys were changed at the same time: check "keys list", and try again');
    return ended;
  }

  /** Returns a key that was current before and is not retired; throws an `OperatorError` about any other. */
  async requireEarlier(keyId: number): Promise<ListedKey> {
    const key = (await this.list()).find((listed) => listed.keyId === keyId);
    if (!key) throw new OperatorError(`there is no root key ${rootKeyName(keyId)}: "keys list" shows them`);
    if (key.status !== 'earlier') throw new OperatorError(`root key ${rootKeyName(keyId)} ${WHY_KEPT[key.status]}`);
    return key;
  }

  async #endGrants(keyId: number, operator: Actor): Promise<number> {
    const { store, now } = this.#parts;
    const detail = { root_key: rootKeyName(keyId) };
    let ended = 0;
    await endWalked(
      (after) => store.walkGrants({ keyId }, now(), after),
      ({ id, clientId, resourceOwnerId }: Pick<Grant, 'id' | 'clientId' | 'resourceOwnerId'>) => {
        const about = { grantId: grantIdText(id), clientId, resourceOwnerId };
        return store.revokeGrant(id, 'operator', auditEvent('grant_revoked', operator, now(), about, detail));
      },
      (number) => {
        ended += number;
      },
      oldestGrantId(0),
    );
    return ended;
  }

  #whyNeeded({ keyId, supersededAt, grants, passwords, signingKeys }: ListedKey): string | null {
    const name = rootKeyName(keyId);
    if (grants > 0)
      return `${grants} live grants depend on root key ${name}: they move to the current key at their next refresh, or --end-grants ends them`;
    if (passwords > 0)
      return `${passwords} passwords are sealed with root key ${name}: a running service seals them again; retry when "keys list" shows none`;
    if (signingKeys > 0)
      return `${signingKeys} keys for ID tokens are sealed with root key ${name}: a running service seals them again within a minute; or replace them with "keys id-tokens replace --now"`;
    const leftMs = (supersededAt ?? 0) + LAST_USE_MS - this.#parts.now();
    const minutes = Math.ceil(leftMs / 60_000);
    return leftMs > 0
      ? `the last credentials of root key ${name} are valid for another ${Math.floor(minutes / 60)} h ${minutes % 60} min: retry then`
      : null;
  }

  async #untilRead(keyId: number, tell: (names: readonly string[]) => void): Promise<void> {
    const { now, wait } = this.#parts;
    for (const end = now() + READ_TIMEOUT_MS; ; ) {
      const lacking = await this.#lacking(keyId);
      if (lacking.length === 0) return;
      tell(lacking);
      if (now() >= end)
        throw new OperatorError(
          `${lacking.join(', ')} did not read root key ${rootKeyName(keyId)}: give each the same keys file, or the same VALETKEY_KEYS and a restart, and run this again. Nothing uses the key until then`,
        );
      await wait(LOOK_EVERY_MS);
    }
  }

  /** The names of running instances that have not noted that they have a key. Instances that no longer run are forgotten. */
  async #lacking(keyId: number): Promise<string[]> {
    const { store, listRunning } = this.#parts;
    const running = await forgetEnded({ store, listRunning });
    const noted = await store.listInstances();
    return running
      .map((id) => noted.find((instance) => instance.id === id) ?? { id, name: `instance ${id}`, keyIds: [] })
      .filter(({ keyIds }) => !keyIds.includes(keyId))
      .map(({ name }) => name);
  }
}

const UNUSED = { grants: 0, passwords: 0, signingKeys: 0 } as const;

const WHY_KEPT: Readonly<Record<Exclude<KeyStatus, 'earlier'>, string>> = {
  retired: 'was retired before',
  current: 'is current: switch to another one with "keys rotate"',
  announced: 'was never in use: remove it from the keys file instead',
};

function statusOf({ keyId, supersededAt, retiredAt }: RootKey, currentKeyId: number): KeyStatus {
  if (keyId === currentKeyId) return 'current';
  if (retiredAt !== null) return 'retired';
  return supersededAt === null ? 'announced' : 'earlier';
}
