/** How live secrets are shown: when each was made and last used, so that whoever retires one knows who is left. */
import type { LiveSecret } from '../operator/last-uses.ts';
import type { WhichSecret } from '../operator/secret-rotation.ts';
import type { CommandRun } from './command-run.ts';
import { confirm } from './terminal-input.ts';
import { isoTime, readableTime, timeOrNever } from './time.ts';

/** Live secrets for programs. */
export function secretsJson(secrets: readonly LiveSecret[]) {
  return secrets.map(({ createdAt, lastUsedAt }) => ({
    created_at: isoTime(createdAt),
    last_used_at: isoTime(lastUsedAt),
  }));
}

/** A line for each live secret. */
export function secretLines(secrets: readonly LiveSecret[]): string[] {
  return secrets.map(({ createdAt, lastUsedAt }) => `made ${readableTime(createdAt)}, ${usedText(lastUsedAt)}`);
}

/** The last use of any of them, for a list; empty without secrets. */
export function lastUseLine(secrets: readonly LiveSecret[]): string {
  if (secrets.length === 0) return '';
  return timeOrNever(Math.max(...secrets.map(({ lastUsedAt }) => lastUsedAt ?? 0)) || null);
}

/** Asks before a secret is retired that was used within a day; returns what is said of it afterwards. */
export async function beforeRetiring(
  run: CommandRun,
  name: string,
  secrets: readonly LiveSecret[],
  which: WhichSecret,
  yes: boolean,
): Promise<string> {
  const secret = which === 'newer' ? secrets[0] : secrets.at(-1);
  const lastUsedAt = secret?.lastUsedAt ?? null;
  if (lastUsedAt !== null && run.context.now() - lastUsedAt < A_DAY_MS)
    await confirm(run.context, `The ${which} secret of ${name} was ${usedText(lastUsedAt)}: retire it?`, yes);
  return `The ${which} secret of ${name} is refused from now on. It was ${usedText(lastUsedAt)}.`;
}

const A_DAY_MS = 86_400_000;

/** When something was last used (ms), in words. */
export function usedText(lastUsedAt: number | null): string {
  return lastUsedAt === null ? 'never used' : `last used ${readableTime(lastUsedAt)}`;
}
