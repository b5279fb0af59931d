/** Stored secrets as JSON, written in one way, so that equal lists are equal texts. */
import type { StoredSecret } from '../oauth/secret.ts';

/** The text that is stored of some secrets. */
export function secretsText(secrets: readonly StoredSecret[]): string {
  return JSON.stringify(
    secrets.map(({ digest, keyId, createdAt }) => ({ digest: digest.toString('base64'), keyId, createdAt })),
  );
}

/** The secrets of a text that `secretsText` made. */
export function parseSecrets(text: string): StoredSecret[] {
  const secrets = JSON.parse(text) as { digest: string; keyId: number; createdAt: number }[];
  return secrets.map((secret) => ({ ...secret, digest: Buffer.from(secret.digest, 'base64') }));
}
