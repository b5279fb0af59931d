/** HMAC-SHA-256 (RFC 2104), made of two calls of `hash`: together they cost a third of an `Hmac` object of Node.js. */
import { hash } from 'node:crypto';

/** The bytes of a block of SHA-256, and of a digest. */
const BLOCK = 64;
const DIGEST = 32;
/** Maximum length of a message that is put together in the shared buffer (bytes); a longer one gets a buffer of its own. */
const ROOM = 192;

/** A key, with the two blocks that RFC 2104 §2 begins its hashes with. */
export class HmacKey {
  readonly #inner = Buffer.alloc(BLOCK + ROOM);
  readonly #outer = Buffer.alloc(BLOCK + DIGEST);
  /** The part of `#inner` that the last message used: the next message often has the same length. */
  #view = this.#inner.subarray(0, BLOCK);

  /** `key` has 64 bytes at most. */
  constructor(key: Buffer) {
    if (key.length > BLOCK) throw new RangeError(`a key for HMAC has at most ${BLOCK} bytes`);
    for (let at = 0; at < BLOCK; at += 1) {
      const byte = key[at] ?? 0;
      this.#inner[at] = byte ^ 0x36;
      this.#outer[at] = byte ^ 0x5c;
    }
  }

  /** The two blocks in hexadecimal, for whoever makes the same digests elsewhere. */
  get blocks(): { readonly inner: string; readonly outer: string } {
    return { inner: this.#inner.toString('hex', 0, BLOCK), outer: this.#outer.toString('hex', 0, BLOCK) };
  }

  /** The digest of the parts, one after the other, texts in UTF-8; 32 bytes. */
  digest(...parts: readonly (string | Buffer)[]): Buffer {
    return Buffer.from(this.#hash(parts), 'binary');
  }

  /** Writes the first bytes of the digest of the parts into a buffer, from `at` on to its end. */
  digestInto(target: Buffer, at: number, ...parts: readonly (string | Buffer)[]): void {
    target.write(this.#hash(parts), at, 'binary');
  }

  /** Returns text with one character for each byte: making a buffer of the result costs twice as much as the hash. */
  #hash(parts: readonly (string | Buffer)[]): string {
    this.#outer.write(hash('sha256', this.#message(parts), 'binary'), BLOCK, 'binary');
    return hash('sha256', this.#outer, 'binary');
  }

  #message(parts: readonly (string | Buffer)[]): Buffer {
    let end = BLOCK;
    for (const part of parts) end += Buffer.byteLength(part);
    const message = this.#messageOf(end);
    let at = BLOCK;
    for (const part of parts) at += typeof part === 'string' ? message.write(part, at) : part.copy(message, at);
    return message;
  }

  #messageOf(bytes: number): Buffer {
    if (bytes > this.#inner.length) return Buffer.concat([this.#inner], bytes);
    if (this.#view.length !== bytes) this.#view = this.#inner.subarray(0, bytes);
    return this.#view;
  }
}
