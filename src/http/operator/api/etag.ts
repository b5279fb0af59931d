/** Entity tags of single objects (RFC 9110 §8.8.3), for `If-Match`. */
import { hash } from 'node:crypto';

/** Members that change by themselves, without a change of the object. */
const MOVES = /^(last_|apps_last_used_at$|jwks_fetched_at$|hand_over$|identities$)/;

/** Returns the tag of an object: it stays the same while only times of uses, or of the service's own fetches, change. */
export function etagOf(json: object): string {
  const settled = JSON.stringify(json, (name, value) => (MOVES.test(name) ? undefined : value));
  return `"${hash('sha256', settled, 'base64url').slice(0, 22)}"`;
}

/** Returns true if an `If-Match` names a tag, or any (RFC 9110 §13.1.1). A weak tag matches nothing there. */
export function matchesTag(ifMatch: string, tag: string): boolean {
  return ifMatch.trim() === '*' || ifMatch.split(',').some((named) => named.trim() === tag);
}
