/** Root keys as the installation knows them. */

/** A root key of an installation; the database knows it by its id and a canary. Times in ms. */
export type RootKey = {
  readonly keyId: number;
  /** When an instance or a command first had it. */
  readonly createdAt: number;
  /** When another key became the current one in its place; null for a key that is, or was never, the current one. */
  readonly supersededAt: number | null;
  /** When it was retired: nothing is read with it any more. */
  readonly retiredAt: number | null;
};

/** All keys, and which of them is in use. */
export type RootKeys = {
  readonly currentKeyId: number;
  /** The key that a rotation is about to make current, so that no instance may begin without it; or null. */
  readonly nextKeyId: number | null;
  readonly keys: readonly RootKey[];
};

/** Reads a key's id as people see it; null when the text is none. */
export function readRootKeyName(name: string): number | null {
  return /^[0-9a-f]{8}$/.test(name) ? Number.parseInt(name, 16) : null;
}

/** A key's id as people see it: eight hexadecimal digits. */
export function rootKeyName(keyId: number): string {
  return keyId.toString(16).padStart(8, '0');
}
