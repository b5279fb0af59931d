/** When secrets and keys of registrations were last used, and with them an app: a public one is there by its id alone. */
import { type Client, keyUse, publicUse } from '../../oauth/clients/client.ts';
import type { StoredSecret } from '../../oauth/keys/secret.ts';
import type { SecretUseStore } from '../../oauth/keys/secret-use-store.ts';

/** A live secret, without its digest, and when it was last used. Times in ms since the epoch. */
export type LiveSecret = { readonly createdAt: number; readonly lastUsedAt: number | null };

/** The store of last uses. */
export type SecretUses = Pick<SecretUseStore, 'findSecretUse'>;

/** Last uses (ms; null for never). Those of the keys are in the order of the keys. */
export type ClientUses = {
  readonly secrets: readonly LiveSecret[];
  readonly keys: readonly (number | null)[];
  /** Of a public app; null for every other. */
  readonly itself: number | null;
};

/** An app in a list, with its last uses. */
export type ListedClient = { readonly client: Client; readonly uses: ClientUses };

/** The secrets with their last uses, newest first as they are stored. */
export function liveSecrets(secrets: readonly StoredSecret[], uses: SecretUses): Promise<LiveSecret[]> {
  const live = async (secret: StoredSecret) => ({
    createdAt: secret.createdAt,
    lastUsedAt: await uses.findSecretUse(secret),
  });
  return Promise.all(secrets.map(live));
}

/** Finds the last uses of an app. */
export async function findClientUses(client: Client, uses: SecretUses): Promise<ClientUses> {
  return {
    secrets: await liveSecrets(client.secrets, uses),
    keys: await Promise.all(client.keys.map((key) => uses.findSecretUse(keyUse(client, key)))),
    itself: client.type === 'public' ? await uses.findSecretUse(publicUse(client)) : null,
  };
}

/** The latest of all uses (ms), or null. */
export function lastClientUse({ itself, ...uses }: ClientUses): number | null {
  return latest([lastSecretUse(uses), itself]);
}

/** The latest use of a secret or key (ms), or null: a public app has neither. */
export function lastSecretUse({ secrets, keys }: Omit<ClientUses, 'itself'>): number | null {
  return latest([...secrets.map(({ lastUsedAt }) => lastUsedAt), ...keys]);
}

function latest(times: readonly (number | null)[]): number | null {
  const all = times.filter((at) => at !== null);
  return all.length === 0 ? null : Math.max(...all);
}
