/** The settings in an installation's record, on which all processes that open the database must agree. */
import { type Fault, InstallationError } from '../../process/installation-error.ts';
import type { Runner } from '../statements/shared-operations.ts';
import type { StoredInstallation } from '../tables/installation/installation.ts';

/** The settings of a process. */
export type InstallationSettings = {
  /** Prefix of every credential. */
  readonly tokenPrefix: string;
  /** Variables that should be the same everywhere, by name: the issuer and the lifetimes. */
  readonly shared: Readonly<Record<string, string>>;
};

/** Columns of the installation's row that are read before migrating: those of the first migration. */
export const RECORDED = [
  ...(['id', 'tokenPrefix', 'settings', 'currentKeyId', 'nextKeyId'] as const),
  ...(['history', 'restoredAt', 'isBackup'] as const),
] as const;

/** The installation's record, as read before migrating. */
export type InstallationRecord = Pick<StoredInstallation, (typeof RECORDED)[number]>;

/** A variable whose own value differs from the recorded value. */
export type Difference = { readonly variable: string; readonly recorded: string; readonly own: string };

/**
 * The start of an installation: its settings, and the fault that refuses to found a new one, or null to allow it.
 */
export type Beginning = { readonly settings: InstallationSettings; readonly refuseNew: Fault | null };

/** Returns the shared variables in their recorded form. */
export function recordedForm({ shared }: InstallationSettings): string {
  return JSON.stringify(shared);
}

/** Records the shared settings of this process. */
export function adoptSettings(runner: Runner, settings: InstallationSettings): Promise<void> {
  return runner.change([], { sql: 'UPDATE installation SET settings = $1', values: [recordedForm(settings)] });
}

/** Returns the variables whose value in this process differs from the record. */
export function differences({ settings }: InstallationRecord, { shared }: InstallationSettings): Difference[] {
  const recorded = JSON.parse(settings) as Record<string, string>;
  return Object.entries(shared)
    .map(([variable, own]) => ({ variable, recorded: recorded[variable] ?? '', own }))
    .filter(({ recorded: theirs, own }) => theirs !== own);
}

/** Returns a fault for each difference. */
export function differenceFaults(found: readonly Difference[]): Fault[] {
  return found.map(({ variable, recorded, own }) => ({
    problem: `${variable} is ${own || 'empty'} here and ${recorded || 'empty'} in the installation's record`,
    remedy:
      'if you changed it, record the new value with "database adopt-settings"; otherwise set it as the other instances have it',
  }));
}

/**
 * Refuses another prefix, since credentials with the recorded prefix would become unreadable. Throws
 * `InstallationError`.
 */
export function requireSamePrefix({ tokenPrefix: recorded }: InstallationRecord, own: InstallationSettings): void {
  if (recorded === own.tokenPrefix) return;
  throw new InstallationError({
    problem: `the credentials of this installation begin with ${recorded}_, and VALETKEY_TOKEN_PREFIX is ${own.tokenPrefix}`,
    remedy: `set it to ${recorded}, since nothing that was issued could be read otherwise`,
  });
}
