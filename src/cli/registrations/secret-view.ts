/** The output of live secrets: creation time and last use, so that an operator knows which ones are still in use. */
import type { HandOverKind, REGISTERED } from '../../operator/hand-over/hand-over.ts';
import type { SecretJson } from '../../operator/json/secret.ts';
import type { SecretUses } from '../../operator/secrets/secret-last-uses.ts';
import { endingSecret, type WhichSecret } from '../../operator/secrets/secret-rotation.ts';
import type { CommandRun } from '../command/command-run.ts';
import { confirm } from '../input/confirm.ts';
import { readableTime, type Time, timeOrNever } from '../output/time.ts';

/** The sentence below a secret. */
export const SHOWN_ONCE = 'Store the secret safely now: it is not shown again, and only its digest is kept.';

/** A line for each live secret. */
export function secretLines(secrets: readonly SecretJson[]): string[] {
  return secrets.map((secret) => `made ${readableTime(secret.created_at)}, ${usedText(secret.last_used_at)}`);
}

/** The last use of any of them, for a list; empty without secrets. */
export function lastUseLine(secrets: readonly SecretJson[]): string {
  if (secrets.length === 0) return '';
  const used = secrets.map((secret) => secret.last_used_at).filter((at) => at !== null);
  return timeOrNever(used.toSorted().at(-1) ?? null);
}

/**
 * Asks for confirmation if the secret to retire was used within a day; returns the sentence for the result. Asks nothing about
 * a secret that may not end, because the retirement refuses that.
 */
export async function beforeRetiring(
  run: CommandRun,
  command: (typeof REGISTERED)[HandOverKind]['command'],
  its: Parameters<typeof endingSecret>[0] & { readonly name: string },
  which: WhichSecret,
  uses: SecretUses,
): Promise<string> {
  const { name } = its;
  const secret = endingSecret(its, which);
  const lastUsedAt = secret && (await uses.findSecretUse(secret));
  if (lastUsedAt !== null && run.context.now() - lastUsedAt < A_DAY_MS)
    await confirm(run, `${command} retire-secret`, which, name, usedText(lastUsedAt));
  return `The ${which} secret of ${name} is refused from now on. It was ${usedText(lastUsedAt)}.`;
}

const A_DAY_MS = 86_400_000;

/** When something was last used, in words. */
export function usedText(lastUsedAt: Time | null): string {
  return lastUsedAt === null ? 'never used' : `last used ${readableTime(lastUsedAt)}`;
}
