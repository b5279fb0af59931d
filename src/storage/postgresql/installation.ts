/** The installation's row, and the canaries that prove at start that the keys fit the database. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type Keyring, mac } from '../../oauth/keyring.ts';
import {
  type InstallationRecord,
  type InstallationSettings,
  recordedForm,
  refuseKeys,
} from '../installation-settings.ts';
import type { Connection } from './connection.ts';

type RootKeyRow = { readonly key_id: number; readonly canary: Buffer };

/** Whether the database has its tables and its installation; only reads. */
export async function isFounded(connection: Connection): Promise<boolean> {
  return (await hasTable(connection, 'installation')) && (await recordOf(connection)) !== null;
}

/** The record of the installation, or null before there is one. */
export async function recordOf(connection: Pick<Connection, 'one'>): Promise<InstallationRecord | null> {
  const record = await connection.one<InstallationRecord>(
    `SELECT id, token_prefix AS "tokenPrefix", settings, current_key_id AS "currentKeyId" FROM installation`,
  );
  return record ?? null;
}

/** Records the shared settings of this process. */
export async function adopt(connection: Connection, settings: InstallationSettings): Promise<void> {
  await connection.change('UPDATE installation SET settings = $1', [recordedForm(settings)]);
}

/** Records the key that the service issues with from now on. */
export async function setCurrentKey(connection: Connection, { currentKeyId }: Keyring): Promise<void> {
  await connection.change('UPDATE installation SET current_key_id = $1', [currentKeyId]);
}

/**
 * Refuses keys that the database was not made with; only reads. At least one key must be known already, every known one
 * must prove itself, and one that is missing must be neither the current one nor needed any more. Throws `InstallationError`.
 */
export async function requireFittingKeys(connection: Connection, keyring: Keyring): Promise<void> {
  const record = await recordOf(connection);
  if (!record) return;
  const known = await connection.rows<RootKeyRow>('SELECT key_id, canary FROM root_key');
  const [present, absent] = [known.filter((row) => has(keyring, row)), known.filter((row) => !has(keyring, row))];
  const isProven =
    present.length > 0 && present.every((row) => timingSafeEqual(row.canary, canary(keyring, row.key_id, record.id)));
  const missed: number[] = [];
  for (const { key_id } of absent)
    if (key_id === record.currentKeyId || (await isNeeded(connection, key_id))) missed.push(key_id);
  if (!isProven || missed.length > 0) refuseKeys(missed);
}

/** Founds the installation if it is new, and makes canaries for keys that are; under the lock. `now` in ms. Whether it was new. */
export async function found(
  connection: Connection,
  keyring: Keyring,
  settings: InstallationSettings,
  now: number,
): Promise<boolean> {
  const isNew = (await recordOf(connection)) === null;
  if (isNew)
    await connection.change(
      `INSERT INTO installation (number, id, epoch, created_at, token_prefix, settings, current_key_id)
       VALUES (1, $1, 0, $2, $3, $4, $5)`,
      [randomBytes(16), now, settings.tokenPrefix, recordedForm(settings), keyring.currentKeyId],
    );
  const { id } = (await recordOf(connection)) as InstallationRecord;
  const insert = 'INSERT INTO root_key (key_id, canary, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';
  for (const keyId of keyring.keyIds) await connection.change(insert, [keyId, canary(keyring, keyId, id), now]);
  return isNew;
}

/** Whether `found` has anything to do; only reads. */
export async function needsFounding(connection: Connection, keyring: Keyring): Promise<boolean> {
  const known = await connection.rows<RootKeyRow>('SELECT key_id, canary FROM root_key');
  return keyring.keyIds.some((keyId) => known.every((row) => row.key_id !== keyId));
}

async function hasTable(connection: Connection, name: string): Promise<boolean> {
  const table = await connection.one<{ is: boolean }>('SELECT to_regclass($1) IS NOT NULL AS is', [name]);
  return table?.is === true;
}

function has(keyring: Keyring, { key_id }: RootKeyRow): boolean {
  return keyring.keyIds.includes(key_id);
}

function canary(keyring: Keyring, keyId: number, installation: Buffer): Buffer {
  const key = keyring.key(keyId, 'canary');
  if (!key) throw new RangeError('the key is not in the keyring');
  return mac(key, installation);
}

/** Whether a secret, a password or a grant that is not revoked rests on a key. Walks tables: only for a missing key. */
async function isNeeded(connection: Connection, keyId: number): Promise<boolean> {
  const ofSecrets = (table: string) =>
    `SELECT 1 FROM ${table}, json_array_elements(secrets::json) AS secret WHERE (secret ->> 'keyId')::bigint = $1`;
  const needs = [
    ofSecrets('client'),
    ofSecrets('resource_server'),
    'SELECT 1 FROM account WHERE password_key_id = $1',
    'SELECT 1 FROM oauth_grant WHERE key_id = $1 AND revoked_at IS NULL',
  ];
  for (const sql of needs) if (await connection.one(`${sql} LIMIT 1`, [keyId])) return true;
  return false;
}
