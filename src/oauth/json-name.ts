/** The names of fields in JSON. */

/** Returns the name of a field in JSON. */
export function jsonName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
