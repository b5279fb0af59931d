/** Merges what was typed into a form with its object, which somebody else changed meanwhile. */
import { hash } from 'node:crypto';

/** Returns the digests of the values that a form begins with, by name: the values themselves would double the form. */
export function shownOf(values: object): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}:${digestOf(value)}`)
    .join(' ');
}

/**
 * Returns what a form goes on with after somebody else changed its object: typed values, and the present ones where nothing was
 * typed. `shown` is `shownOf` the values that the form began with.
 */
export function typedOver<Values extends object>(present: Values, typed: Values, shown: string): Values {
  const before = shown.split(' ');
  const names = Object.keys(present) as (keyof Values & string)[];
  const isTyped = (name: keyof Values & string) => !before.includes(`${name}:${digestOf(typed[name])}`);
  return Object.fromEntries(names.map((name) => [name, (isTyped(name) ? typed : present)[name]])) as Values;
}

/** Only a form of ours has these, and whoever sends others only keeps more of what they typed. */
function digestOf(value: unknown): string {
  return hash('sha256', settled(value), 'base64url').slice(0, 16);
}

/** Returns a value as text: browsers send lines with CRLF, and boxes in the order of the page. */
function settled(value: unknown): string {
  return String(JSON.stringify(Array.isArray(value) ? [...value].sort() : value)).replaceAll('\\r\\n', '\\n');
}
