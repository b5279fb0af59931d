/** The installation's row, and the canaries that prove at the start that the keys fit the database. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type Keyring, mac } from '../../oauth/keys/keyring.ts';
import { rootKeyName } from '../../oauth/keys/root-key.ts';
import { InstallationError } from '../../process/installation-error.ts';
import type { PlainDatabase } from '../schema/plain-database.ts';
import { INSTALLATION, STORED_ROOT_KEY } from '../tables/installation/installation.ts';
import { type InstallationRecord, type InstallationSettings, RECORDED, recordedForm } from './installation-settings.ts';

const RECORD = INSTALLATION.pick(...RECORDED);
const KNOWN_KEY = STORED_ROOT_KEY.pick('keyId', 'canary', 'retiredAt');

const FIND_RECORD = `SELECT ${RECORD.names} FROM installation`;
const LIST_KEYS = `SELECT ${KNOWN_KEY.names} FROM root_key`;
const ADD_KEY = `${STORED_ROOT_KEY.insertion} ON CONFLICT DO NOTHING`;

const HAS_OF_KEY = (passwordKeyId: string) => `
  SELECT 1 FROM account WHERE password IS NOT NULL AND ${passwordKeyId} = $1
  UNION ALL SELECT 1 FROM oauth_grant WHERE key_id = $1 AND revoked_at IS NULL LIMIT 1`;

/** Returns true if the database has its tables and its installation. Read-only. */
export async function isFounded(database: PlainDatabase): Promise<boolean> {
  return (await database.columns('installation')).length > 0 && (await recordOf(database)) !== null;
}

/** Returns the installation's record, or null if none exists. */
export async function recordOf(database: PlainDatabase): Promise<InstallationRecord | null> {
  const [row] = await database.tuples(FIND_RECORD);
  return row ? RECORD.read(row) : null;
}

/** Returns the ids of the retired keys. */
export async function retiredKeys(database: PlainDatabase): Promise<number[]> {
  return (await knownKeys(database)).filter(({ retiredAt }) => retiredAt !== null).map(({ keyId }) => keyId);
}

/**
 * Refuses keys that do not fit the database. At least one key must be known, and the canary of every known one must
 * match. A missing key must not be the current one and, unless retired, must not be in use. A service also needs the
 * key that becomes current next. Read-only. Throws `InstallationError`.
 */
export async function requireFittingKeys(
  database: PlainDatabase,
  keyring: Keyring,
  role: 'service' | 'command' = 'command',
): Promise<void> {
  const record = await recordOf(database);
  if (!record) return;
  const known = await knownKeys(database);
  const present = known.filter(({ keyId }) => keyring.keyIds.includes(keyId));
  const isProven =
    present.length > 0 && present.every((key) => timingSafeEqual(key.canary, canary(keyring, key.keyId, record.id)));
  const missed: number[] = [];
  const isUsed = (keyId: number) => keyId === record.currentKeyId || (role === 'service' && keyId === record.nextKeyId);
  for (const { keyId, retiredAt } of known.filter((key) => !present.includes(key)))
    if (isUsed(keyId) || (retiredAt === null && (await isNeeded(database, keyId)))) missed.push(keyId);
  if (isProven && missed.length === 0) return;
  const names = missed.map(rootKeyName).join(', ');
  throw new InstallationError({
    problem: `this database was made with other keys${names ? ` (${names})` : ''}`,
    remedy: 'give all root keys that belong to it, the one that it is served with and earlier ones',
  });
}

/** Returns true if `found` has anything to write. Read-only. */
export async function needsFounding(database: PlainDatabase, keyring: Keyring): Promise<boolean> {
  const known = (await knownKeys(database)).map(({ keyId }) => keyId);
  return keyring.keyIds.some((keyId) => !known.includes(keyId));
}

/**
 * Founds a missing installation, and adds canaries for new keys; runs under the lock. `now` in ms. Returns true if it
 * founded the installation.
 */
export async function foundInstallation(
  database: PlainDatabase,
  keyring: Keyring,
  settings: InstallationSettings,
  now: number,
): Promise<boolean> {
  const before = await recordOf(database);
  const id = before?.id ?? randomBytes(16);
  const { tokenPrefix } = settings;
  const { currentKeyId } = keyring;
  const own = { tokenPrefix, settings: recordedForm(settings), currentKeyId, nextKeyId: null };
  const unsaved = { history: randomBytes(16), restoredAt: null, backedUpAt: null, isBackup: false, cleanUpTime: now };
  const row = { number: 1, id, epoch: 0, createdAt: now, ...own, ...unsaved };
  if (!before) await database.change(INSTALLATION.insertion, INSTALLATION.values(row));
  for (const keyId of keyring.keyIds) {
    const key = { keyId, canary: canary(keyring, keyId, id), createdAt: now, supersededAt: null, retiredAt: null };
    await database.change(ADD_KEY, STORED_ROOT_KEY.values(key));
  }
  return !before;
}

async function knownKeys(database: PlainDatabase) {
  return (await database.tuples(LIST_KEYS)).map((row) => KNOWN_KEY.read(row));
}

function canary(keyring: Keyring, keyId: number, installation: Buffer): Buffer {
  const key = keyring.key(keyId, 'canary');
  if (!key) throw new RangeError('the key is not in the keyring');
  return mac(key, installation);
}

/**
 * Returns true if a password or an unrevoked grant depends on a key. Scans tables, so it runs only for a missing key.
 */
async function isNeeded(database: PlainDatabase, keyId: number): Promise<boolean> {
  return (await database.tuples(HAS_OF_KEY(database.dialect.passwordKeyId), [keyId])).length > 0;
}
