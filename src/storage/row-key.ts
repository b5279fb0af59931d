/** Binary keys as text. */

/** Some bytes as the key of a map: a character for each, in the same order. */
export function rowKey(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/** The bytes of a `rowKey`. */
export function bytesOf(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}
