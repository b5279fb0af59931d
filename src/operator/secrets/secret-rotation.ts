/** Rotating secrets without a gap: two may be live, so that a program can change from one to the other (RFC 6749 §2.3.1). */
import { OperatorError } from '../../oauth/error.ts';
import type { StoredSecret } from '../../oauth/keys/secret.ts';

/** The secrets with a new one in front. `retire` is the command that makes room. Throws `OperatorError`. */
export function withNewSecret(
  secrets: readonly StoredSecret[],
  secret: StoredSecret,
  retire: string,
): readonly StoredSecret[] {
  if (secrets.length > 1) throw twoSecrets(retire);
  return [secret, ...secrets];
}

/** The refusal of a third secret; `retire` is the command that makes room. */
export function twoSecrets(retire: string): OperatorError {
  return new OperatorError('two secrets are live already', null, {
    remedy: 'retire the older one first, or the newer one if nobody has it',
    command: `retire the older one first with "${retire}", or the newer one, if nobody has it, with "${retire} --newer"`,
  });
}

/** Which of two live secrets: the newer one is ended if its text was lost before it was used. */
export type WhichSecret = 'older' | 'newer';

/** The secret that ends: one of two, or the only one where keys prove the program, too; null if none may end. */
export function endingSecret(
  { secrets, keys = [] }: { readonly secrets: readonly StoredSecret[]; readonly keys?: readonly unknown[] },
  which: WhichSecret,
): StoredSecret | null {
  const mayEnd = secrets.length > 1 || keys.length > 0;
  return (mayEnd && secrets.at(which === 'older' ? -1 : 0)) || null;
}

/** The secrets without the one that ends. `rotate` is the command that makes the next one. Throws `OperatorError`. */
export function withoutSecret(
  its: Parameters<typeof endingSecret>[0],
  which: WhichSecret,
  rotate: string,
): readonly StoredSecret[] {
  const ending = endingSecret(its, which);
  if (!ending)
    throw new OperatorError('only one secret is live', null, {
      remedy: 'make the next one first',
      command: `make the next one first with "${rotate}"`,
    });
  return its.secrets.filter((secret) => secret !== ending);
}
