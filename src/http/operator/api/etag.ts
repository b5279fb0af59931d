/** Entity tags of single objects (RFC 9110 §8.8.3), for `If-Match`. */
import { hash } from 'node:crypto';

/** Members that change by themselves, without anybody's change of the object. */
const MOVES = /^(last_|apps_last_used_at$|jwks_fetched_at$)/;

/** Returns the tag of an object: it stays the same while only times of uses, or of the service's own fetches, change. */
export function etagOf(json: object): string {
  const settled = JSON.stringify(json, (name, value) => (MOVES.test(name) ? undefined : value));
  return `"${hash('sha256', settled, 'base64url').slice(0, 22)}"`;
}
