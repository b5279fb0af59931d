/** The steps of opening a database in both stores: refuse an unfit one, migrate, and found a new installation. */
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { InstallationError } from '../../process/installation-error.ts';
import { migrate, pendingMigrations, requireUpToDate } from '../schema/migrate.ts';
import { migrationPlan, planSentence } from '../schema/migration-plan.ts';
import type { PlainDatabase } from '../schema/plain-database.ts';
import {
  foundInstallation,
  isFounded,
  needsFounding,
  recordOf,
  requireFittingKeys,
  retiredKeys,
} from './installation.ts';
import { type Beginning, differences, type InstallationRecord, requireSamePrefix } from './installation-settings.ts';
import type { Storage } from './opened-storage.ts';

/** The options of opening a database of either kind. */
export type OpeningOptions = Beginning & {
  readonly keyring: Keyring;
  readonly role: 'service' | 'command';
  /**
   * `true` to apply pending migrations to an installation; `false` refuses them. A new installation gets all
   * migrations.
   */
  readonly migrate: boolean;
  /** Receives a sentence before an upgrade with its plan, and one after it. */
  readonly announce?: (sentence: string) => void;
};

/** Result of opening a database: the applied migrations, and the installation. */
export type Ready = Pick<Storage, 'applied' | 'installation'>;

/**
 * Refuses an unfit database. Read-only, and runs before any write, so that a refused database stays unchanged. Throws
 * `InstallationError`.
 */
export async function refuseUnfit(database: PlainDatabase, options: OpeningOptions): Promise<void> {
  await pendingMigrations(database);
  const isThere = await isFounded(database);
  if (!isThere && options.refuseNew !== null) throw new InstallationError(options.refuseNew);
  if (isThere && !options.migrate) await requireUpToDate(database);
  if (isThere) await requireFitting(database, options);
}

async function requireFitting(database: PlainDatabase, { keyring, settings, role }: OpeningOptions): Promise<void> {
  await requireFittingKeys(database, keyring, role);
  const record = await recordOf(database);
  if (!record) return;
  requireSamePrefix(record, settings);
  // A backup may bring back grants that were revoked after it was made.
  if (record.isBackup && role === 'service') throw new InstallationError(UNRESTORED);
}

const UNRESTORED = {
  problem: 'this database is a backup that was put in place and not restored yet',
  remedy: 'run "database restore", which ends what must not come back with it',
};

/** Applies migrations, and founds a missing installation. `now` in ms. Throws `InstallationError`. */
export async function makeReady(database: PlainDatabase, options: OpeningOptions, now: number): Promise<Ready> {
  const { keyring, settings, announce } = options;
  const plan = await migrationPlan(database);
  if (plan) announce?.(planSentence(plan));
  const applied = await migrate(database, now);
  if (plan) announce?.(`the database is at migration ${plan.steps.at(-1)?.number}: the upgrade is done`);
  const isNew =
    (await needsFounding(database, keyring)) &&
    (await database.alone(async () => {
      // Checked again under the lock: another process with other keys may have founded the installation meanwhile.
      await requireFitting(database, options);
      return foundInstallation(database, keyring, settings, now);
    }));
  const record = (await recordOf(database)) as InstallationRecord;
  requireSamePrefix(record, settings);
  const { id, currentKeyId, history, restoredAt } = record;
  const keys = { currentKeyId, retiredKeyIds: await retiredKeys(database) };
  const unlike = differences(record, settings);
  const installation = { id: id.toString('hex'), isNew, differences: unlike, ...keys, history, restoredAt };
  return { applied, installation };
}
