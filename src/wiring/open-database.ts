/** Opens the configured database with its keys, for the service or for one command. */
import type { LiveKeyring } from '../oauth/keys/keyring.ts';
import type { Log } from '../process/log.ts';
import { type Configuration, sharedSettings } from '../settings/configuration.ts';
import { nothingThere, placeOf } from '../settings/database-place.ts';
import { noteServed, refusalOfNew } from '../settings/served-installations.ts';
import type { Storage } from '../storage/opening/opened-storage.ts';
import { openSqlite } from '../storage/sqlite/open.ts';

/**
 * The surroundings of a start. A test gives its own clock (ms since the epoch) and the timeouts of `PostgresqlOptions`.
 */
export type World = {
  readonly now?: () => number;
  readonly logger: Log;
  /** Returns the number of log lines that were dropped because nothing read them. */
  readonly droppedLines?: () => number;
  readonly checkoutTimeout?: number;
  readonly lockTimeout?: number;
};

/** A `World` with the clock of this machine, which SQLite uses unless a test gives a clock. */
export type MachineWorld = World & { readonly wallClock: () => number };

/** An open database, and the one clock that all its instances share. */
export type OpenDatabase = { readonly storage: Storage; readonly now: () => number };

/** The role that opens a database, and its permissions: `migrate` an existing schema, found a new installation. */
export type Opening = {
  readonly role: 'service' | 'command';
  readonly migrate: boolean;
  readonly mayFound: boolean;
};

/** Opens the database, and records in the keys file which installation the keys serve. Throws `InstallationError`. */
export async function openDatabase(
  configuration: Configuration,
  keyring: LiveKeyring,
  world: MachineWorld,
  how: Opening,
): Promise<OpenDatabase> {
  const opened = await openStorage(configuration, keyring, world, how);
  const { id, isNew: begins, currentKeyId, retiredKeyIds, history } = opened.storage.installation;
  keyring.issueWith(currentKeyId);
  keyring.sealIn(history);
  for (const keyId of retiredKeyIds) keyring.remove(keyId);
  if (begins && configuration.database.kind !== 'memory') {
    const sentence = `a new installation begins in ${placeOf(configuration.database)} (${id}): if you expected an earlier one there, check VALETKEY_DATABASE_URL`;
    if (how.role === 'service') world.logger.info(sentence);
    else process.stderr.write(`valetkey: ${sentence}\n`);
  }
  const unnoted = how.role === 'service' || begins ? noteServed(configuration, id) : null;
  if (unnoted) world.logger.info(unnoted);
  return opened;
}

/** Returns the configured database, open, with its clock. Throws `InstallationError`. */
async function openStorage(
  configuration: Configuration,
  keyring: LiveKeyring,
  { now, logger, wallClock, checkoutTimeout, lockTimeout }: MachineWorld,
  { role, migrate, mayFound }: Opening,
): Promise<OpenDatabase> {
  const { database, durability, tokenPrefix } = configuration;
  const beginning = {
    settings: { tokenPrefix, shared: sharedSettings(configuration) },
    refuseNew: refusalOfNew(configuration) ?? (mayFound ? null : nothingThere(configuration.database)),
    announce: (sentence: string) => {
      logger.warn(sentence);
      // A migration of SQLite blocks the event loop, so gathered lines would not be written.
      logger.flush();
    },
  };
  if (database.kind === 'postgresql') {
    // Imported here, so that a start with SQLite does not load the PostgreSQL client.
    const { openPostgresql } = await import('../storage/postgresql/open.ts');
    const storage = await openPostgresql({
      ...beginning,
      url: database.url,
      keyring,
      role,
      migrate,
      checkoutTimeout,
      lockTimeout,
      warn: (sentence) => logger.warn(sentence),
      now,
    });
    return { storage, now: storage.now };
  }
  const clock = now ?? wallClock;
  const storage = await openSqlite({
    ...beginning,
    path: database.kind === 'memory' ? ':memory:' : database.path,
    keyring,
    now: clock,
    role,
    migrate,
    durability: role === 'service' ? durability : 'full',
    report: (sentence) => logger.warn(sentence),
    onFailure: (error) => {
      // After a failed sync the state on disk is unknown, and a retry would not reveal it.
      const isMoved = error.name === 'DatabaseMoved';
      const outcome = isMoved ? '' : ': whether this was done is not known';
      if (role === 'command') process.stderr.write(`valetkey: ${error.message}${outcome}\n`);
      else if (isMoved) logger.fatal(error.message);
      else logger.fatal({ err: error }, 'the disk failed: ending');
      process.exit(1);
    },
  });
  return { storage, now: clock };
}
