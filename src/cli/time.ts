/** Times as commands print them. All are in ms since the epoch. */

/** ISO 8601 in UTC, for programs; null stays null. */
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** `2026-11-21 10:03:27 UTC`, for people who compare events. */
export function exactTime(at: number): string {
  return `${exactDay(at)} UTC`;
}

/** The same without its zone, for a column that names it. */
export function exactDay(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

/** The same as `readableTime`, or `never` for null. */
export function timeOrNever(at: number | null): string {
  return at === null ? 'never' : readableTime(at);
}

/** `2026-11-21 10:03 UTC`, for people. */
export function readableTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
