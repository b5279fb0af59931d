/** What `database check` looks at. */
import type { Keyring } from '../../oauth/keyring.ts';
import {
  differences,
  type InstallationRecord,
  type InstallationSettings,
  toldDifferences,
} from '../installation-settings.ts';
import type { Finding } from '../storage.ts';
import type { Connection } from './connection.ts';
import { recordOf, requireFittingKeys } from './installation.ts';
import { requireUpToDate } from './migrate.ts';
import { wrongSettings } from './server-settings.ts';

/** Indexes that a failed operation left behind, checks and references that were never looked at, a trigger that is off. */
const BROKEN = `
  SELECT 'index ' || indexrelid::regclass AS text FROM pg_index
  JOIN pg_class ON pg_class.oid = indrelid AND relnamespace = current_schema()::regnamespace WHERE NOT indisvalid
  UNION ALL
  SELECT 'constraint ' || conname FROM pg_constraint
  WHERE connamespace = current_schema()::regnamespace AND NOT convalidated
  UNION ALL
  SELECT 'trigger renew_version of client is gone or switched off: secrets that were retired may go on working'
  WHERE NOT EXISTS (
    SELECT 1 FROM pg_trigger WHERE tgrelid = 'client'::regclass AND tgname = 'renew_version' AND tgenabled = 'A')`;

const ORPHANS = `
  SELECT 'session of ' || account_id AS text FROM session
  WHERE NOT EXISTS (SELECT 1 FROM account WHERE account.id = session.account_id) LIMIT 10`;

/** Looks at the settings, at indexes and references, at the keys, the record and the migrations. Takes long on a large database. */
export async function check(
  connection: Connection,
  { keyring, settings }: { readonly keyring: Keyring; readonly settings: InstallationSettings },
): Promise<Finding[]> {
  const texts = async (sql: string) => (await connection.rows<{ text: string }>(sql)).map(({ text }) => text);
  const unlike = async () => toldDifferences(differences((await recordOf(connection)) as InstallationRecord, settings));
  const none = async (done: Promise<void>) => done.then((): string[] => []);
  return [
    await finding('settings', wrongSettings(connection)),
    await finding('integrity', texts(BROKEN)),
    await finding('references', texts(ORPHANS)),
    await finding('keys', none(requireFittingKeys(connection, keyring))),
    await finding('variables', unlike()),
    await finding('migrations', none(requireUpToDate(connection))),
  ];
}

async function finding(name: string, problems: Promise<readonly string[]>): Promise<Finding> {
  try {
    const found = await problems;
    return { name, ok: found.length === 0, detail: found.slice(0, 10).join('; ') || 'as it must be' };
  } catch (error) {
    return { name, ok: false, detail: (error as Error).message };
  }
}
