/** Names as people take them: two that look alike are one. */

/** Returns the same text for names that look alike to people. In upper case first: only so ß is folded to ss. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().replaceAll(/\s+/g, ' ');
}

/** Tells whether any of some names holds a text, as people read both. */
export function isNamed(text: string, names: readonly (string | null)[]): boolean {
  return names.some((name) => name !== null && nameKey(name).includes(nameKey(text)));
}
