/** Times as commands and an API print them for programs. */

/** ISO 8601 in UTC, of ms since the epoch; null stays null. */
export function isoTime(at: number): string;
export function isoTime(at: number | null): string | null;
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
