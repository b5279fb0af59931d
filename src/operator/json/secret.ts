/** Live secrets as commands and an API print them: never the secret itself. */

import type { StoredSecret } from '../../oauth/keys/secret.ts';
import { type LiveSecret, liveSecrets, type SecretUses } from '../secrets/secret-last-uses.ts';
import { isoTime } from './time.ts';

/** A live secret for programs. */
export type SecretJson = ReturnType<typeof secretsJson>[number];

/** Live secrets for programs, newest first. */
export function secretsJson(secrets: readonly LiveSecret[]) {
  return secrets.map(({ createdAt, lastUsedAt }) => ({
    created_at: isoTime(createdAt),
    last_used_at: isoTime(lastUsedAt),
  }));
}

/** The same of secrets as they are stored. */
export async function findSecretsJson(secrets: readonly StoredSecret[], uses: SecretUses): Promise<SecretJson[]> {
  return secretsJson(await liveSecrets(secrets, uses));
}
