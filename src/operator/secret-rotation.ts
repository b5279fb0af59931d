/** Rotating secrets without a gap: two may be live, so that a program can change from one to the other (RFC 6749 §2.3.1). */
import { OperatorError } from '../oauth/error.ts';
import type { StoredSecret } from '../oauth/keys/secret.ts';

/** The secrets with a new one in front. `retire` is the command that makes room. Throws `OperatorError`. */
export function withNewSecret(
  secrets: readonly StoredSecret[],
  secret: StoredSecret,
  retire: string,
): readonly StoredSecret[] {
  if (secrets.length > 1)
    throw new OperatorError(
      `two secrets are live already: retire the older one first with "${retire}", or the newer one, if nobody has it, with "${retire} --newer"`,
    );
  return [secret, ...secrets];
}

/** Which of two live secrets: the newer one is ended if its text was lost before it was used. */
export type WhichSecret = 'older' | 'newer';

/** The secrets without one of the two. `rotate` is the command that makes the next one. Throws `OperatorError`. */
export function withoutSecret(
  secrets: readonly StoredSecret[],
  which: WhichSecret,
  rotate: string,
): readonly StoredSecret[] {
  if (secrets.length < 2) throw new OperatorError(`only one secret is live: make the next one first with "${rotate}"`);
  return which === 'older' ? secrets.slice(0, 1) : secrets.slice(1);
}
