/** HMAC-SHA-256 (RFC 2104), made of two hashes at once each: a third of what an object of Node.js for it costs. */
import { hash } from 'node:crypto';

/** The bytes of a block of SHA-256, and of a digest. */
const BLOCK = 64;
const DIGEST = 32;
/** Messages up to so many bytes are put together in place, and what is longer in memory of its own. */
const ROOM = 192;

/** A key, with the two blocks that RFC 2104 §2 begins its hashes with. */
export class HmacKey {
  readonly #inner = Buffer.alloc(BLOCK + ROOM);
  readonly #outer = Buffer.alloc(BLOCK + DIGEST);

  /** `key` has 64 bytes at most. */
  constructor(key: Buffer) {
    if (key.length > BLOCK) throw new RangeError(`a key for HMAC has at most ${BLOCK} bytes`);
    for (let at = 0; at < BLOCK; at += 1) {
      const byte = key[at] ?? 0;
      this.#inner[at] = byte ^ 0x36;
      this.#outer[at] = byte ^ 0x5c;
    }
  }

  /** The digest of the parts, one after the other, texts in UTF-8; 32 bytes. */
  digest(...parts: readonly (string | Buffer)[]): Buffer {
    // As text of one byte a character: a buffer out of a hash costs twice as much as the hash.
    this.#outer.write(hash('sha256', this.#message(parts), 'binary'), BLOCK, 'binary');
    return Buffer.from(hash('sha256', this.#outer, 'binary'), 'binary');
  }

  #message(parts: readonly (string | Buffer)[]): Buffer {
    let end = BLOCK;
    for (const part of parts) end += Buffer.byteLength(part);
    const message = end <= this.#inner.length ? this.#inner : Buffer.concat([this.#inner], end);
    let at = BLOCK;
    for (const part of parts) at += typeof part === 'string' ? message.write(part, at) : part.copy(message, at);
    return message.subarray(0, end);
  }
}
