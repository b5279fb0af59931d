/** Ids of requests. An id connects an answer with its log line and its audit event. */
import { randomFillSync } from 'node:crypto';

const ID_BYTES = 6;
/** Random bytes for many ids: a call costs more than the bytes. */
const drawn = Buffer.alloc(ID_BYTES * 1024);
let next = drawn.length;

/** Returns a new id: 48 random bits in hexadecimal, short enough to read aloud. */
export function newRequestId(): string {
  if (next === drawn.length) {
    randomFillSync(drawn);
    next = 0;
  }
  next += ID_BYTES;
  return drawn.toString('hex', next - ID_BYTES, next);
}
