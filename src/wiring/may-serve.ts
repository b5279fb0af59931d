/** Checks before an instance serves an open database: sign-in methods are registered, and no root key is missing. */
import type { LiveKeyring } from '../oauth/keys/keyring.ts';
import { rootKeyName } from '../oauth/keys/root-key.ts';
import { methodProblems } from '../operator/installation/sign-in-method-check.ts';
import { forgetEnded } from '../operator/root-keys/forget-ended-instances.ts';
import { KeyWatch } from '../operator/root-keys/key-watch.ts';
import { InstallationError } from '../process/installation-error.ts';
import type { Log } from '../process/log.ts';
import { instanceName } from '../process/process-names.ts';
import { later } from '../process/timers.ts';
import type { Configuration } from '../settings/configuration.ts';
import { rereadKeysFile } from '../settings/root-keys.ts';
import type { Storage } from '../storage/opening/opened-storage.ts';

/**
 * Starts the watch over the installation's root keys. Throws `InstallationError` if this instance lacks a key that it
 * needs.
 */
export async function followKeys(
  { keys, keysFile, database }: Configuration,
  keyring: LiveKeyring,
  { store, instances, close }: Storage,
  logger: Log,
): Promise<KeyWatch> {
  const isInFile = keys === null && database.kind !== 'memory';
  await forgetEnded({ store, listRunning: instances.listRunning });
  const watch = new KeyWatch({
    store,
    keyring,
    instance: { id: instances.ownId, name: instanceName() },
    read: isInFile ? () => rereadKeysFile(keysFile) : null,
    later,
    report: (sentence) => logger.warn(sentence),
  });
  const lacks = await watch.begin();
  if (lacks === null) return watch;
  await close();
  throw new InstallationError({
    problem: `root key ${rootKeyName(lacks)} is about to be used, and is not among the keys here`,
    remedy: 'give this instance the keys of the others',
  });
}

/** Throws `InstallationError` unless each sign-in method is the password or a registered identity provider. */
export async function refuseUnknownMethods({ signInMethods }: Configuration, { store, close }: Storage): Promise<void> {
  const problems = methodProblems(signInMethods, await store.listIdentityProviders());
  if (problems.length === 0) return;
  await close();
  throw new InstallationError(...problems);
}
