/** When an app last proved itself, by each of what it has: its secrets, its keys, or for a public one nothing but its id. */
import { type Client, keyUse, publicUse } from '../oauth/client.ts';
import { type LiveSecret, liveSecrets, type SecretUses } from './secret-view.ts';

/** Last uses (ms; null for never), the keys' in their order. */
export type ClientUses = {
  readonly secrets: readonly LiveSecret[];
  readonly keys: readonly (number | null)[];
  /** Of a public app; null for every other. */
  readonly itself: number | null;
};

/** Finds them. */
export async function findClientUses(client: Client, uses: SecretUses): Promise<ClientUses> {
  return {
    secrets: await liveSecrets(client.secrets, uses),
    keys: await Promise.all(client.keys.map((key) => uses.findSecretUse(keyUse(client, key)))),
    itself: client.type === 'public' ? await uses.findSecretUse(publicUse(client)) : null,
  };
}

/** The last of all. */
export function lastClientUse({ secrets, keys, itself }: ClientUses): number | null {
  const all = [...secrets.map(({ lastUsedAt }) => lastUsedAt), ...keys, itself].filter((at) => at !== null);
  return all.length === 0 ? null : Math.max(...all);
}
