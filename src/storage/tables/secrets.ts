/** How secrets are stored: their digests, which are made with a root key, in base64. */
import type { StoredSecret } from '../../oauth/secret.ts';
import { JsonForm } from './table.ts';

type SecretJson = { readonly digest: string; readonly keyId: number; readonly createdAt: number };

/** Secrets as JSON. */
export const SECRETS = new JsonForm<readonly StoredSecret[]>(
  (secrets) => secrets.map(({ digest, keyId, createdAt }) => ({ digest: digest.toString('base64'), keyId, createdAt })),
  (secrets: readonly SecretJson[]) =>
    secrets.map((secret) => ({ ...secret, digest: Buffer.from(secret.digest, 'base64') })),
);
