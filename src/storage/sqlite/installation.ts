/** The installation's row, and the canaries that prove at start that the keys fit the database. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { type Keyring, mac } from '../../oauth/keyring.ts';
import {
  type InstallationRecord,
  type InstallationSettings,
  recordedForm,
  refuseKeys,
} from '../installation-settings.ts';
import { asBuffer } from '../tables/table.ts';

type RootKeyRow = { key_id: number; canary: Uint8Array };

/** Whether the database has its tables and its installation; only reads. */
export function isFounded(database: DatabaseSync): boolean {
  const exists = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'installation'").get();
  return exists !== undefined && recordOf(database) !== null;
}

/** The record of the installation, or null before there is one. */
export function recordOf(database: DatabaseSync): InstallationRecord | null {
  const row = database.prepare('SELECT id, token_prefix, settings, current_key_id FROM installation').get() as
    | { id: Uint8Array; token_prefix: string; settings: string; current_key_id: number }
    | undefined;
  if (!row) return null;
  const { id, token_prefix: tokenPrefix, settings, current_key_id: currentKeyId } = row;
  return { id: asBuffer(id), tokenPrefix, settings, currentKeyId };
}

/** Records the shared settings of this process. */
export function adopt(database: DatabaseSync, settings: InstallationSettings): void {
  database.prepare('UPDATE installation SET settings = ?').run(recordedForm(settings));
}

/** Records the key that the service issues with from now on. */
export function setCurrentKey(database: DatabaseSync, { currentKeyId }: Keyring): void {
  database.prepare('UPDATE installation SET current_key_id = ?').run(currentKeyId);
}

/**
 * Refuses keys that the database was not made with; only reads. At least one key must be known already, every known one
 * must prove itself, and one that is missing must be neither the current one nor needed any more. Throws `InstallationError`.
 */
export function requireFittingKeys(database: DatabaseSync, keyring: Keyring): void {
  const record = recordOf(database);
  if (!record) return;
  const known = database.prepare('SELECT key_id, canary FROM root_key').all() as unknown as RootKeyRow[];
  const [present, absent] = [known.filter((row) => has(keyring, row)), known.filter((row) => !has(keyring, row))];
  const isProven =
    present.length > 0 && present.every((row) => timingSafeEqual(row.canary, canary(keyring, row.key_id, record.id)));
  const missed = absent
    .map((row) => row.key_id)
    .filter((keyId) => keyId === record.currentKeyId || isNeeded(database, keyId));
  if (!isProven || missed.length > 0) refuseKeys(missed);
}

/** Founds the installation if it is new, and makes canaries for keys that are; in a transaction. `now` in ms. Whether it was new. */
export function found(database: DatabaseSync, keyring: Keyring, settings: InstallationSettings, now: number): boolean {
  const isNew = recordOf(database) === null;
  if (isNew)
    database
      .prepare(
        `INSERT INTO installation (number, id, epoch, created_at, token_prefix, settings, current_key_id)
         VALUES (1, ?, 0, ?, ?, ?, ?)`,
      )
      .run(randomBytes(16), now, settings.tokenPrefix, recordedForm(settings), keyring.currentKeyId);
  const { id } = recordOf(database) as InstallationRecord;
  const insert = database.prepare(
    'INSERT INTO root_key (key_id, canary, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  for (const keyId of keyring.keyIds) insert.run(keyId, canary(keyring, keyId, id), now);
  return isNew;
}

/** Whether `found` has anything to do; only reads. */
export function needsFounding(database: DatabaseSync, keyring: Keyring): boolean {
  const known = database.prepare('SELECT key_id FROM root_key').all() as unknown as RootKeyRow[];
  return keyring.keyIds.some((keyId) => known.every((row) => row.key_id !== keyId));
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
function isNeeded(database: DatabaseSync, keyId: number): boolean {
  const ofSecrets = (table: string) =>
    `SELECT 1 FROM ${table}, json_each(${table}.secrets) AS secret WHERE secret.value ->> 'keyId' = ?`;
  const needs = [
    ofSecrets('client'),
    ofSecrets('resource_server'),
    'SELECT 1 FROM account WHERE password_key_id = ?',
    'SELECT 1 FROM oauth_grant WHERE key_id = ? AND revoked_at IS NULL',
  ];
  return needs.some((sql) => database.prepare(`${sql} LIMIT 1`).get(keyId) !== undefined);
}
