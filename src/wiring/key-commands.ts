/** The commands that make, rotate and retire root keys, which change the keys file together with the installation. */
import type { CommandContext } from '../cli/command/context.ts';
import { InstallationError } from '../process/installation-error.ts';
import type { Configuration } from '../settings/configuration.ts';
import { addRootKey, removeRootKey } from '../settings/keys-file.ts';
import { makeKeysFile, makeRootKey } from '../settings/root-keys.ts';
import type { WiredInstallation } from './installation.ts';

/** Remedy if the root keys come from a variable, to which a rotation cannot add a key. */
const ADD_TO_VARIABLE = {
  problem: 'the root keys are in VALETKEY_KEYS',
  remedy: 'make another with "keys generate", add it to the variable, restart every instance, and run this again',
};

/** Remedy if the added key is no longer in the file. */
const CHANGED_MEANWHILE = { problem: 'somebody else changed the keys file at the same time', remedy: 'run this again' };

/** Makes the `keys` commands; each call of `open` opens the installation again. */
export function keyCommands(
  configuration: () => Configuration,
  open: () => Promise<WiredInstallation>,
): CommandContext['keys'] {
  return {
    generate: async (file) => {
      const key = makeRootKey();
      if (file !== null && !makeKeysFile(file, key))
        throw new InstallationError({
          problem: `${file} is there already`,
          remedy: 'choose another name, or move it away',
        });
      return { key, file };
    },
    rotate: async (tell) => {
      let installation = await open();
      if ((await installation.rootKeys.announced()).length === 0) {
        await installation.close();
        const { keys, keysFile } = configuration();
        if (keys !== null) throw new InstallationError(ADD_TO_VARIABLE);
        addRootKey(keysFile, makeRootKey());
        // Opening the database stores the new key's canary, and so announces the key to the installation.
        installation = await open();
      }
      try {
        const keyId = (await installation.rootKeys.announced()).at(-1);
        if (keyId === undefined) throw new InstallationError(CHANGED_MEANWHILE);
        const { keys, keysFile } = configuration();
        return {
          ...(await installation.rootKeys.rotate(keyId, tell, installation.operator)),
          file: keys === null ? keysFile : null,
        };
      } finally {
        await installation.close();
      }
    },
    retire: async (keyId, options, confirm) => {
      const { rootKeys, operator, close } = await open();
      const { keys, keysFile } = configuration();
      const remove = () => keys === null && removeRootKey(keysFile, keyId);
      try {
        // An earlier command retired the key, but was killed before it removed the key from the file.
        if ((await rootKeys.isRetired(keyId)) && remove()) return { ended: 0, isRemoved: true };
        await rootKeys.requireEarlier(keyId);
        await confirm();
        const ended = await rootKeys.retire(keyId, operator, options);
        return { ended, isRemoved: remove() };
      } finally {
        await close();
      }
    },
  };
}
