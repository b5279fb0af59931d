/** Durations as operators write them. */

const SECONDS_IN: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Reads a duration in seconds: `90`, `90s`, `30m`, `12h` or `30d`. Null for any other text. */
export function readDuration(text: string): number | null {
  const [, digits, unit = 's'] = /^([0-9]{1,9})([smhd])?$/.exec(text) ?? [];
  return digits === undefined ? null : Number(digits) * (SECONDS_IN[unit] as number);
}
