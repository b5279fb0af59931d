/** Advice on live secrets, so that nobody retires the one that an app uses. */
import type { LiveSecret } from './last-uses.ts';

const DAY_MS = 86_400_000;

/** Unused for this many days beside a newer secret that is used, a secret is safe to retire: many programs run once a week. */
const SAFE_AFTER_DAYS = 7;

/**
 * The advice on a live secret. `days` is the number of whole days since its last use.
 *
 * - `only`: no other secret is live.
 * - `unused`: it was never used, so nothing breaks without it.
 * - `used`: the app uses it.
 * - `waiting`: the app uses the newer secret, but changed to it only some days ago.
 * - `safe`: the app uses the newer secret, and has not used this one for long.
 */
export type SecretAdvice = {
  readonly kind: 'only' | 'unused' | 'used' | 'waiting' | 'safe';
  readonly days: number;
};

/** Returns the advice on each live secret; they come newest first. `now` in ms. */
export function secretAdvice(secrets: readonly LiveSecret[], now: number): SecretAdvice[] {
  const [newer] = secrets;
  return secrets.map((secret) => {
    const { lastUsedAt } = secret;
    const days = lastUsedAt === null ? 0 : Math.max(0, Math.floor((now - lastUsedAt) / DAY_MS));
    if (secrets.length === 1) return { kind: 'only', days };
    if (lastUsedAt === null) return { kind: 'unused', days };
    const isReplaced = secret !== newer && (newer?.lastUsedAt ?? 0) > lastUsedAt;
    if (!isReplaced || days === 0) return { kind: 'used', days };
    return { kind: days < SAFE_AFTER_DAYS ? 'waiting' : 'safe', days };
  });
}
