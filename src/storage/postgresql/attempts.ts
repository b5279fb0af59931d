/** Names of attempts to write, by which a row says whose write it has. */
import { randomUUID } from 'node:crypto';

/** What is this process's own: a random UUID (RFC 9562 §5.4), whose last 48 bits are counted, as drawing all costs more. */
const START = randomUUID().slice(0, -12);
let count = 0;

/** A new attempt: a UUID that no other write has. */
export function newAttempt(): string {
  count += 1;
  return START + count.toString(16).padStart(12, '0');
}
