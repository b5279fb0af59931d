/** The doctor's findings before the database is open: variables, keys, and the reason why it cannot be opened. */
import { StoreUnavailable } from '../oauth/store.ts';
import { type Fault, InstallationError } from '../process/installation-error.ts';
import type { Finding as StorageFinding } from '../storage/schema/check-finding.ts';
import { type Finding, Findings } from './finding.ts';

/** Reads something; null if the installation refuses it, which is a finding then. */
export function readOr<T>(found: Findings, name: string, read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    refused(found, name, error);
    return null;
  }
}

/** How many variables are set, with warnings of the configuration. */
export function ofVariables(found: Findings, names: readonly string[], warnings: readonly Fault[]): void {
  const set = names.filter((name) => name.startsWith('VALETKEY_')).length;
  found.good('variables', set === 0 ? 'none is set: this is a trial on this machine' : `${set} are set, and readable`);
  found.faults('proxies', warnings);
}

/** Why there is no database to look at: the one of a service in memory, or none at a path. Null where there may be one. */
export function ofNothing(
  database: { readonly kind: string; readonly path?: string },
  isNew: boolean,
): Finding[] | null {
  const found = new Findings('database');
  if (database.kind === 'memory')
    found.wrong(
      'opened',
      'it is in the memory of the service',
      'name a file in VALETKEY_DATABASE_URL, such as sqlite:data/valetkey.db',
    );
  else if (isNew)
    found.wrong(
      'opened',
      `there is no database at ${database.path}`,
      '"valetkey serve" makes one, or check VALETKEY_DATABASE_URL',
    );
  return found.all.length === 0 ? null : found.all;
}

/** The keys file, or null for the variable. */
export function ofKeysPlace(found: Findings, file: string | null): void {
  const detail = file === null ? 'from VALETKEY_KEYS' : `from ${file}, whose owner and mode are as they should be`;
  found.good('read', detail);
}

/** Makes findings of what cannot be opened or read: a damaged file (with what is damaged), or a store that does not answer. */
export function ofUnusable(damage: readonly StorageFinding[] | null, error: unknown): readonly Finding[] {
  const found = new Findings('database');
  for (const { name, faults = [] } of damage ?? []) found.faults(name, faults);
  if (damage) return found.all;
  if (error instanceof StoreUnavailable)
    found.wrong(
      'opened',
      `the database does not answer now (${error.message})`,
      'look at its disk or server, and try again',
    );
  else refused(found, 'opened', error);
  return found.all;
}

/** A refusal of an installation is a finding; anything else is a bug of ours, or of the machine. */
function refused(found: Findings, name: string, error: unknown): void {
  if (!(error instanceof InstallationError)) throw error;
  found.faults(name, error.faults);
}
