/** The commands that make, rotate and retire root keys: what they do to the keys file is wired to the installation here. */
import type { CommandContext } from './cli/context.ts';
import type { WiredInstallation } from './installation.ts';
import { InstallationError } from './process/installation-error.ts';
import type { Configuration } from './settings/configuration.ts';
import { addRootKey, removeRootKey } from './settings/keys-file.ts';
import { makeKeysFile, makeRootKey } from './settings/root-keys.ts';

/** What to do where a rotation cannot add the key by itself. */
const ADD_TO_VARIABLE =
  'the root keys are in VALETKEY_KEYS: make another with "keys generate", add it to the variable, restart every instance, and run this again';

/** What to do where the key that was added is not in the file any more. */
const CHANGED_MEANWHILE = 'somebody else changed the keys file at the same time: run this again';

/** These commands; `open` opens the installation anew. */
export function keyCommands(
  configuration: () => Configuration,
  open: () => Promise<WiredInstallation>,
): CommandContext['keys'] {
  return {
    generate: async (file) => {
      const key = makeRootKey();
      if (file !== null && !makeKeysFile(file, key))
        throw new InstallationError([`${file} is there already: choose another name, or move it away`]);
      return { key, file };
    },
    rotate: async (tell) => {
      let installation = await open();
      if ((await installation.rootKeys.announced()).length === 0) {
        await installation.close();
        const { keys, keysFile } = configuration();
        if (keys !== null) throw new InstallationError([ADD_TO_VARIABLE]);
        addRootKey(keysFile, makeRootKey());
        // Opening the database makes the key's canary, by which the installation knows it.
        installation = await open();
      }
      try {
        const keyId = (await installation.rootKeys.announced()).at(-1);
        if (keyId === undefined) throw new InstallationError([CHANGED_MEANWHILE]);
        const { keys, keysFile } = configuration();
        return {
          ...(await installation.rootKeys.rotate(keyId, tell, installation.operator)),
          file: keys === null ? keysFile : null,
        };
      } finally {
        await installation.close();
      }
    },
    retire: async (keyId, options) => {
      const { rootKeys, operator, close } = await open();
      const { keys, keysFile } = configuration();
      const remove = () => keys === null && removeRootKey(keysFile, keyId);
      try {
        // Retired by a command that was killed before it took the key out of the file.
        if ((await rootKeys.isRetired(keyId)) && remove()) return { ended: 0, isRemoved: true };
        const ended = await rootKeys.retire(keyId, operator, options);
        return { ended, isRemoved: remove() };
      } finally {
        await close();
      }
    },
  };
}
