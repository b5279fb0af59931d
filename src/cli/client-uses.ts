/** When an app last proved itself with each of its secrets and keys, or, if it is public, was there by its id alone. */
import { type Client, keyUse, publicUse } from '../oauth/client.ts';
import { type LiveSecret, liveSecrets, type SecretUses } from './secret-view.ts';

/** Last uses (ms; null for never). Those of the keys are in the order of the keys. */
export type ClientUses = {
  readonly secrets: readonly LiveSecret[];
  readonly keys: readonly (number | null)[];
  /** Of a public app; null for every other. */
  readonly itself: number | null;
};

/** Finds the last uses of an app. */
export async function findClientUses(client: Client, uses: SecretUses): Promise<ClientUses> {
  return {
    secrets: await liveSecrets(client.secrets, uses),
    keys: await Promise.all(client.keys.map((key) => uses.findSecretUse(keyUse(client, key)))),
    itself: client.type === 'public' ? await uses.findSecretUse(publicUse(client)) : null,
  };
}

/** The latest of all uses (ms), or null. */
export function lastClientUse({ secrets, keys, itself }: ClientUses): number | null {
  const all = [...secrets.map(({ lastUsedAt }) => lastUsedAt), ...keys, itself].filter((at) => at !== null);
  return all.length === 0 ? null : Math.max(...all);
}
