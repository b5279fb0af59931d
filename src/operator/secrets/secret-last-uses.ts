/** When secrets and keys of registrations were last used, and with them an app: a public one has its tokens alone. */
import { type Client, issuedUse, keyUse } from '../../oauth/clients/client.ts';
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
  /** Of the app: its last tokens. */
  readonly issued: number | null;
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
    issued: await uses.findSecretUse(issuedUse(client)),
  };
}

/** The latest of all uses (ms), or null. A retired secret or key is among them by the tokens that were issued for it. */
export function lastClientUse({ issued, ...uses }: ClientUses): number | null {
  return latest([lastSecretUse(uses), issued]);
}

/** The latest use of a secret or key (ms), or null: a public app has neither. */
export function lastSecretUse({ secrets, keys }: Omit<ClientUses, 'issued'>): number | null {
  return latest([...secrets.map(({ lastUsedAt }) => lastUsedAt), ...keys]);
}

function latest(times: readonly (number | null)[]): number | null {
  const all = times.filter((at) => at !== null);
  return all.length === 0 ? null : Math.max(...all);
}
