/** Binary keys as text. */

/** Returns bytes as the key of a map: one character for each byte, in the same sort order. */
export function rowKey(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/** Returns the bytes of a `rowKey`. */
export function bytesOf(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}
