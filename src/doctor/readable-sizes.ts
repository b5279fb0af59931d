/** Formats numbers for people. */

const DAY_MS = 24 * 3_600_000;
const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes. */
export function readableBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${value >= 10 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Days from which a duration is told in days: 49 hours are beyond a limit of 48, and both are "2 days". */
const MIN_DAYS = 3;

/** Formats a duration (ms) in days, hours or minutes. */
export function readableAge(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  if (days >= MIN_DAYS) return `${days} days`;
  const hours = Math.floor(ms / 3_600_000);
  return hours > 0 ? `${hours} h` : `${Math.max(0, Math.floor(ms / 60_000))} min`;
}
