/** The stored form of secrets: their digests in base64. */
import type { StoredSecret } from '../../../oauth/keys/secret.ts';
import { JsonForm } from '../../statements/table.ts';

type SecretJson = { readonly digest: string; readonly createdAt: number };

/** Secrets as JSON. */
export const SECRETS = new JsonForm<readonly StoredSecret[]>(
  (secrets) => secrets.map(({ digest, createdAt }) => ({ digest: digestText(digest), createdAt })),
  (secrets: readonly SecretJson[]) =>
    secrets.map((secret) => ({ ...secret, digest: Buffer.from(secret.digest, 'base64') })),
);

/** Returns a digest as rows have it. */
export function digestText(digest: Buffer): string {
  return digest.toString('base64');
}
