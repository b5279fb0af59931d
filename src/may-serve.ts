/** What keeps an instance from serving a database that opened: a way to sign in that nobody registered, or a root key that it lacks. */
import { hostname } from 'node:os';
import type { LiveKeyring } from './oauth/keys/keyring.ts';
import { rootKeyName } from './oauth/keys/root-key.ts';
import { later } from './open-database.ts';
import { KeyWatch } from './operator/key-watch.ts';
import { InstallationError } from './process/installation-error.ts';
import type { Log } from './process/log.ts';
import type { Configuration } from './settings/configuration.ts';
import { rereadKeysFile } from './settings/root-keys.ts';
import type { Storage } from './storage/storage.ts';

/** Follows the root keys of the installation. Throws an `InstallationError` if this instance may not serve with its own. */
export async function followKeys(
  { keys, keysFile, database }: Configuration,
  keyring: LiveKeyring,
  { store, instances, close }: Storage,
  logger: Log,
): Promise<KeyWatch> {
  const isInFile = keys === null && database.kind !== 'memory';
  await forgetEnded(store, instances);
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
  throw new InstallationError([
    `root key ${rootKeyName(lacks)} is about to be used, and is not among the keys here: give this instance the keys of the others`,
  ]);
}

/** Forgets instances that no longer run. One that lost its connections for a while notes itself again while that matters. */
async function forgetEnded(store: Storage['store'], { ownId, listRunning }: Storage['instances']): Promise<void> {
  const others = (await store.listInstances()).filter(({ id }) => id !== ownId);
  if (others.length === 0) return;
  const running = await listRunning();
  for (const { id } of others) if (!running.includes(id)) await store.forgetInstance(id);
}

/** What an operator knows this instance by. */
export function instanceName(): string {
  return `${hostname()} (process ${process.pid})`;
}

/** Throws an `InstallationError` unless each way to sign in is the password or a registered identity provider. */
export async function refuseUnknownMethods({ signInMethods }: Configuration, { store, close }: Storage): Promise<void> {
  const providers = await store.listIdentityProviders();
  const unknown = signInMethods.filter((id) => id !== 'password' && !providers.some((provider) => provider.id === id));
  const alone = providers.find(({ ownIds }) => ownIds);
  const problems = unknown.map(
    (id) =>
      `VALETKEY_SIGN_IN_METHODS names ${id}, which is not registered: "valetkey identity-provider register --id ${id}"`,
  );
  if (alone && signInMethods.includes('password'))
    problems.push(
      `VALETKEY_SIGN_IN_METHODS holds password, but ${alone.id} was registered with --own-ids: set it to ${alone.id} alone`,
    );
  if (problems.length === 0) return;
  await close();
  throw new InstallationError(problems);
}
