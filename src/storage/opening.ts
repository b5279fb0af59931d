/** What opening a database does in both stores: refuses what does not fit, migrates, and founds a new installation. */
import type { Keyring } from '../oauth/keys/keyring.ts';
import { InstallationError } from '../process/installation-error.ts';
import { found, isFounded, needsFounding, recordOf, requireFittingKeys, retiredKeys } from './installation.ts';
import { type Beginning, differences, type InstallationRecord, requireSamePrefix } from './installation-settings.ts';
import { migrate, pending, requireUpToDate } from './migrate.ts';
import { migrationPlan, planSentence } from './migration-plan.ts';
import type { PlainDatabase } from './plain-database.ts';
import type { Storage } from './storage.ts';

/** How a database is opened, whatever its kind. */
export type OpeningOptions = Beginning & {
  readonly keyring: Keyring;
  readonly role: 'service' | 'command';
  /** `true` to apply pending migrations to an installation; without it they are refused. A new one gets all. */
  readonly migrate: boolean;
  /** Gets a sentence on what an upgrade will do before it begins, and one when it is done. */
  readonly announce?: (sentence: string) => void;
};

/** What opening a database changed, and found. */
export type Ready = Pick<Storage, 'applied' | 'installation'>;

/**
 * Refuses what cannot be used. Only reads, and runs before anything is written, so that a refused database stays as it
 * was. Throws `InstallationError`.
 */
export async function refuseUnfit(database: PlainDatabase, options: OpeningOptions): Promise<void> {
  await pending(database);
  const isThere = await isFounded(database);
  if (!isThere && options.refuseNew !== null) throw new InstallationError([options.refuseNew]);
  if (isThere && !options.migrate) await requireUpToDate(database);
  if (isThere) await requireFitting(database, options);
}

async function requireFitting(database: PlainDatabase, { keyring, settings, role }: OpeningOptions): Promise<void> {
  await requireFittingKeys(database, keyring, role);
  const record = await recordOf(database);
  if (!record) return;
  requireSamePrefix(record, settings);
  // It may bring back what was revoked since it was made.
  if (record.isBackup && role === 'service') throw new InstallationError([UNRESTORED]);
}

const UNRESTORED =
  'this database is a backup that was put in place and not restored yet: run "database restore", which ends what must not come back with it';

/** Migrates, and founds a new installation. `now` in ms. Throws `InstallationError`. */
export async function makeReady(database: PlainDatabase, options: OpeningOptions, now: number): Promise<Ready> {
  const { keyring, settings, announce } = options;
  const plan = await migrationPlan(database);
  if (plan) announce?.(planSentence(plan));
  const applied = await migrate(database, now);
  if (plan) announce?.(`the database is at migration ${plan.steps.at(-1)?.number}: the upgrade is done`);
  const isNew =
    (await needsFounding(database, keyring)) &&
    (await database.alone(async () => {
      // Again under the lock: another process with other keys may have founded the installation meanwhile.
      await requireFitting(database, options);
      return found(database, keyring, settings, now);
    }));
  const record = (await recordOf(database)) as InstallationRecord;
  requireSamePrefix(record, settings);
  const { id, currentKeyId, history, restoredAt } = record;
  const keys = { currentKeyId, retiredKeyIds: await retiredKeys(database) };
  const unlike = differences(record, settings);
  const installation = { id: id.toString('hex'), isNew, differences: unlike, ...keys, history, restoredAt };
  return { applied, installation };
}
