/** Opens the installation of a configuration for one command or for the demonstration. */
import { createKeyring } from '../oauth/keys/keyring.ts';
import { inStyle, type Log, lineByLine, makeLogger } from '../process/log.ts';
import type { Configuration } from '../settings/configuration.ts';
import { requireReachable } from '../settings/database-place.ts';
import { loadRootKeys } from '../settings/root-keys.ts';
import type { Storage } from '../storage/opening/opened-storage.ts';
import { isNew } from '../storage/sqlite/file/database-file.ts';
import { makeInstallation, type WiredInstallation } from './installation.ts';
import { openDatabase } from './open-database.ts';
import { wiringWorld } from './process-surroundings.ts';

/** The log that the installation reports to, and the clock of this machine (ms since the epoch). */
export type CommandWorld = { readonly logger: Log; readonly clock: () => number };

/** How a command opens an installation. `wallClock` is the clock of the database, if it is not that of the machine. */
export type CommandOpening = {
  readonly mayCreate?: boolean;
  readonly migrate?: boolean;
  readonly wallClock?: () => number;
};

/** Opens the database and wires the domain; whoever calls it closes both. Throws `InstallationError`. */
export async function openForCommand(
  read: Configuration,
  { logger, clock }: CommandWorld,
  { mayCreate = false, migrate = false, wallClock = clock }: CommandOpening = {},
): Promise<{ readonly storage: Storage; readonly installation: WiredInstallation }> {
  const begins = isNew(read.database);
  requireReachable(read.database, mayCreate || !begins);
  const keyring = createKeyring(loadRootKeys(read, begins));
  const lines = inStyle(lineByLine(), read, process.stderr.isTTY);
  const opening = { logger: makeLogger(lines, clock, read.logLevel), wallClock };
  const { storage, now } = await openDatabase(read, keyring, opening, {
    role: 'command',
    migrate,
    mayFound: mayCreate,
  });
  const installation = makeInstallation(read, keyring, storage, wiringWorld(read, now, logger, keyring));
  return { storage, installation };
}
