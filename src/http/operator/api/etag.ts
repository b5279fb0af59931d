/** Entity tags of single objects (RFC 9110 §8.8.3), for `If-Match`. */
import { hash } from 'node:crypto';

/** Members that change by themselves, without a change of the object, and those of a single answer. */
const MOVES = /^(omitted_keys$|last_|apps_last_used_at$|jwks_fetched_at$|hand_over$|identities$)/;

/** Names the member with whole public keys: JSON leaves a symbol's member out, and a copy by spread keeps it. */
const KEYS = Symbol('keys');

/** Returns an object whose tag also covers public keys, of which its JSON shows only a part. */
export function tagsKeys<Json extends object>(json: Json, { keys }: { readonly keys: readonly object[] }): Json {
  return { ...json, [KEYS]: JSON.stringify(keys) };
}

/** Returns the tag of an object: it stays the same while only times of uses, or of the service's own fetches, change. */
export function etagOf(json: object & { readonly [KEYS]?: string }): string {
  const settled = JSON.stringify(json, (name, value) => (MOVES.test(name) ? undefined : value));
  return `"${hash('sha256', settled + (json[KEYS] ?? ''), 'base64url').slice(0, 22)}"`;
}

/** Returns true if an `If-Match` names a tag, or any (RFC 9110 §13.1.1). A weak tag matches nothing there. */
export function matchesTag(ifMatch: string, tag: string): boolean {
  return ifMatch.trim() === '*' || ifMatch.split(',').some((named) => named.trim() === tag);
}
