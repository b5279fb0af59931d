/** Rotating secrets without a gap: two may be live, so that whoever uses one can change over (RFC 6749 §2.3.1). */
import { OperatorError } from './error.ts';
import type { StoredSecret } from './secret.ts';

/** The secrets with a new one in front. `retire` is the command that makes room. Throws `OperatorError`. */
export function withNewSecret(
  secrets: readonly StoredSecret[],
  secret: StoredSecret,
  retire: string,
): readonly StoredSecret[] {
  if (secrets.length > 1)
    throw new OperatorError(`two secrets are live already: end the older one first with "${retire}"`);
  return [secret, ...secrets];
}

/** The secrets without the older of two. `rotate` is the command that makes the next one. Throws `OperatorError`. */
export function withoutOldSecret(secrets: readonly StoredSecret[], rotate: string): readonly StoredSecret[] {
  if (secrets.length < 2) throw new OperatorError(`only one secret is live: make the next one first with "${rotate}"`);
  return secrets.slice(0, 1);
}
