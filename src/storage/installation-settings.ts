/** What the record of an installation keeps of how it is set, since whoever has the database open has to agree on it. */
import { InstallationError } from '../process/installation-error.ts';
import type { Runner } from './acts.ts';
import type { StoredInstallation } from './tables/installation.ts';

/** How a process is set. */
export type InstallationSettings = {
  /** What every credential begins with. */
  readonly tokenPrefix: string;
  /** Variables that should be the same everywhere, by name: the issuer and the lifetimes. */
  readonly shared: Readonly<Record<string, string>>;
};

/** What is read of the installation's row before a database is migrated: columns that were there from the beginning. */
export const RECORDED = [
  ...(['id', 'tokenPrefix', 'settings', 'currentKeyId', 'nextKeyId'] as const),
  ...(['history', 'restoredAt', 'isBackup'] as const),
] as const;

/** That record. */
export type InstallationRecord = Pick<StoredInstallation, (typeof RECORDED)[number]>;

/** A variable that is set otherwise than it is recorded. */
export type Difference = { readonly variable: string; readonly recorded: string; readonly own: string };

/** How an installation begins: how it is set, and the sentence that refuses to begin one, or null where one may begin. */
export type Beginning = { readonly settings: InstallationSettings; readonly refuseNew: string | null };

/** The form in which shared variables are recorded. */
export function recordedForm({ shared }: InstallationSettings): string {
  return JSON.stringify(shared);
}

/** Records the shared settings of this process. */
export function adoptSettings(runner: Runner, settings: InstallationSettings): Promise<void> {
  return runner.change([], { sql: 'UPDATE installation SET settings = $1', values: [recordedForm(settings)] });
}

/** The variables of a process that are not as recorded. */
export function differences({ settings }: InstallationRecord, { shared }: InstallationSettings): Difference[] {
  const recorded = JSON.parse(settings) as Record<string, string>;
  return Object.entries(shared)
    .map(([variable, own]) => ({ variable, recorded: recorded[variable] ?? '', own }))
    .filter(({ recorded: theirs, own }) => theirs !== own);
}

/** A sentence for each difference, with the remedy. */
export function toldDifferences(found: readonly Difference[]): string[] {
  return found.map(
    ({ variable, recorded, own }) =>
      `${variable} is ${own || 'empty'} here and ${recorded || 'empty'} in the installation's record: set it as the other instances have it, or change the record with "database adopt-settings"`,
  );
}

/** Refuses another prefix: what was issued under the recorded one could not be read. Throws `InstallationError`. */
export function requireSamePrefix({ tokenPrefix: recorded }: InstallationRecord, own: InstallationSettings): void {
  if (recorded === own.tokenPrefix) return;
  throw new InstallationError([
    `the credentials of this installation begin with ${recorded}_, and VALETKEY_TOKEN_PREFIX is ${own.tokenPrefix}: set it to ${recorded}, since nothing that was issued could be read otherwise`,
  ]);
}
