/** What `database check` looks at. */
import { recordOf, requireFittingKeys } from './installation.ts';
import { differences, type InstallationRecord, toldDifferences } from './installation-settings.ts';
import { requireUpToDate } from './migrate.ts';
import type { OpeningOptions } from './opening.ts';
import type { PlainDatabase } from './plain-database.ts';
import type { Finding } from './storage.ts';

/** What only one store can look at; each answers what is wrong, in a few words. */
export type OwnChecks = Readonly<Record<'settings' | 'integrity' | 'references', () => Promise<readonly string[]>>>;

/** Looks at everything that can be wrong. Takes long on a large database. */
export async function check(
  database: PlainDatabase,
  { keyring, settings }: Pick<OpeningOptions, 'keyring' | 'settings'>,
  own: OwnChecks,
): Promise<Finding[]> {
  const unlike = async () => toldDifferences(differences((await recordOf(database)) as InstallationRecord, settings));
  const nothing = () => [];
  return [
    await finding('settings', own.settings),
    await finding('integrity', own.integrity),
    await finding('references', own.references),
    await finding('keys', () => requireFittingKeys(database, keyring).then(nothing)),
    await finding('variables', unlike),
    await finding('migrations', () => requireUpToDate(database).then(nothing)),
  ];
}

async function finding(name: string, look: () => Promise<readonly string[]>): Promise<Finding> {
  try {
    const problems = await look();
    return { name, ok: problems.length === 0, detail: problems.slice(0, 10).join('; ') || 'as it must be' };
  } catch (error) {
    return { name, ok: false, detail: (error as Error).message };
  }
}
