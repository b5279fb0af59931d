/** The rhythm of the apps' calls: how many in each hour or day, for a number of connections. */
import type { CountedActivity } from '../../src/oauth/activity/activity-store.ts';
import { type AppTally, emptyTally } from '../../src/oauth/activity/app-tally.ts';
import type { CastApp } from './cast.ts';
import type { Chance } from './chance.ts';
import { DAY, HOUR } from './clock.ts';

/** Part of a day's calls by the hour (UTC): most of them in working hours. */
const HOURS = Array.from({ length: 24 }, (_, hour) => 0.3 + Math.max(0, Math.sin(((hour - 5) / 15) * Math.PI)) * 2);
const ALL_HOURS = HOURS.reduce((sum, part) => sum + part, 0);

/** Part of a workday's calls on a day (ms). */
export function weekdayFactor(at: number): number {
  const day = new Date(at).getUTCDay();
  if (day === 6) return 0.45;
  return day === 0 ? 0.35 : 1;
}

/** Part of a day's calls in the hour of a moment (ms). */
function hourFactor(at: number): number {
  return (HOURS[new Date(at).getUTCHours()] as number) / ALL_HOURS;
}

/** The app's counted calls of a span that begins at a moment (ms), with failures only if it is long ago, and nobody looks for their causes. */
export function calls(
  chance: Chance,
  {
    clientId,
    cast,
    connections,
    isLongAgo,
  }: { readonly clientId: string; readonly cast: CastApp; readonly connections: number; readonly isLongAgo: boolean },
  at: number,
  span: number,
): CountedActivity {
  const part = weekdayFactor(at) * (span === DAY ? 1 : hourFactor(at));
  const checks = chance.around(connections * cast.checks * part);
  const refreshes = chance.around(connections * Math.min(cast.checks, 8) * 0.5 * part);
  const tally: AppTally = {
    ...emptyTally(),
    checks,
    refreshes,
    retries: chance.around(refreshes * 0.004),
    introspections: cast.scopes.includes('files:read') ? chance.around(checks * 0.3) : 0,
    invalidGrant: isLongAgo ? chance.around(refreshes * 0.0015) : 0,
    invalidRequest: isLongAgo && chance.happens(0.02 * part) ? 1 : 0,
  };
  return { clientId, at: span === DAY ? at + 12 * HOUR : at, tally, failures: [] };
}
