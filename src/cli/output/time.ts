/** Times as commands print them for people. */

/** In ms since the epoch, or in ISO 8601 as programs read it. */
export type Time = number | string;

/** `2026-11-21 10:03:27 UTC`, for people who compare events. */
export function exactTime(at: Time): string {
  return `${exactDay(at)} UTC`;
}

/** The same without its zone, for a column that names it. */
export function exactDay(at: Time): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

/** The same as `readableTime`, or `never` for null. */
export function timeOrNever(at: Time | null): string {
  return at === null ? 'never' : readableTime(at);
}

/** `2026-11-21 10:03 UTC`, for people. */
export function readableTime(at: Time): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
