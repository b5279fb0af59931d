/** Keys of names for people: two names that look alike have the same key. */

/** Returns the same text for names that look alike to people. In upper case first: only so ß is folded to ss. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().replaceAll(/\s+/g, ' ');
}

/** True if one of some names contains a text, both compared by their keys. */
export function isNamed(text: string, names: readonly (string | null)[]): boolean {
  return names.some((name) => name !== null && nameKey(name).includes(nameKey(text)));
}
