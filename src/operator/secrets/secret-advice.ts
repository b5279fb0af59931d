/** Advice on live secrets, so that nobody retires the one that an app uses. */
import { type ClientUses, lastSecretUse } from './secret-last-uses.ts';

const DAY_MS = 86_400_000;

/** Unused for this many days after something newer was used, a secret is safe to retire: many programs run once a week. */
const SAFE_AFTER_DAYS = 7;

/**
 * The advice on a live secret. `days` is the number of whole days since its last use. A newer secret or a key may replace it.
 *
 * - `only`: nothing replaces it.
 * - `unused`: it was never used, and nothing newer either.
 * - `never`: it was never used, but something newer was.
 * - `used`: the app uses it.
 * - `waiting`: the app uses something newer, but not for long enough.
 * - `safe`: the app uses something newer, and has not used this one for long.
 */
export type SecretAdvice = {
  readonly kind: 'only' | 'unused' | 'never' | 'used' | 'waiting' | 'safe';
  readonly days: number;
};

/** Returns the advice on each live secret, newest first. `now` in ms. */
export function secretAdvice({ secrets, keys }: Omit<ClientUses, 'issued'>, now: number): SecretAdvice[] {
  return secrets.map(({ lastUsedAt }, at) => {
    const newerAt = lastSecretUse({ secrets: secrets.slice(0, at), keys });
    const days = lastUsedAt === null ? 0 : Math.max(0, Math.floor((now - lastUsedAt) / DAY_MS));
    if (secrets.length === 1 && keys.length === 0) return { kind: 'only', days };
    if (lastUsedAt === null) return { kind: newerAt === null ? 'unused' : 'never', days };
    if (newerAt === null || newerAt <= lastUsedAt || days === 0) return { kind: 'used', days };
    return { kind: days < SAFE_AFTER_DAYS ? 'waiting' : 'safe', days };
  });
}
