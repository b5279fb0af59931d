/** Sets of public keys (RFC 7517 §5), given or fetched, and the port that fetches them. */
import type { PublicKey } from './client.ts';
import { MAX_KEYS, publicKeyProblem, secretKeyProblem } from './public-key.ts';

/** Maximum size of a key set that is fetched (bytes). */
const MAX_KEY_SET_BYTES = 65_536;

/** A JSON document that was fetched, or one sentence that says why not, with nothing of its body. */
export type FetchedJson =
  | { readonly kind: 'fetched'; readonly value: unknown; readonly text: string }
  | { readonly kind: 'refused'; readonly problem: string };

/** Fetches a JSON document of at most `maxBytes`, as `process/outbound.ts` does. Never throws. */
export type FetchJson = (url: string, maxBytes: number) => Promise<FetchedJson>;

/** The keys of a set that can be used, and the reason why each other one is omitted, such as `key 2: its use must be sig`. */
export type ReadKeySet = { readonly keys: readonly PublicKey[]; readonly omitted: readonly string[] };

/** The sentence on a set by which a client has no key to prove itself with. */
export const NO_KEY = 'its key set holds no key that Valetkey can use';

/**
 * Fetches a key set. Returns a sentence if it cannot be fetched, or is refused. An empty set is valid: a host withdraws its
 * keys with it. A set without a usable key is a mistake.
 */
export async function fetchKeySet(fetchJson: FetchJson, jwksUri: string): Promise<ReadKeySet | string> {
  const fetched = await fetchJson(jwksUri, MAX_KEY_SET_BYTES);
  if (fetched.kind === 'refused') return fetched.problem;
  const set = readKeySet(fetched.value);
  return typeof set !== 'string' && set.keys.length === 0 && set.omitted.length > 0 ? NO_KEY : set;
}

/**
 * Reads a key set: the only reader, of options, the API, documents and their addresses. Omits keys for other uses and of unknown kinds (RFC 7517 §5). Returns a sentence if the set is refused: a
 * set that publishes a secret is refused as a whole.
 */
export function readKeySet(value: unknown): ReadKeySet | string {
  const all = (value as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(all)) return 'its keys are no JWK Set';
  if (all.length > MAX_KEYS) return `there are more than ${MAX_KEYS} keys`;
  const keys: PublicKey[] = [];
  const omitted: string[] = [];
  for (const [index, key] of all.entries()) {
    if (typeof key !== 'object' || key === null || Array.isArray(key)) return `key ${index + 1} is no object`;
    const secret = secretKeyProblem(key);
    if (secret) return `key ${index + 1}: ${secret}`;
    const problem = publicKeyProblem(key);
    if (problem) omitted.push(`key ${index + 1}: ${problem}`);
    else keys.push(publicPart(key));
  }
  return { keys, omitted };
}

/** The members that a signature is checked with, always in this order: certificates and the like are not kept. */
const MEMBERS = ['kty', 'kid', 'alg', 'use', 'crv', 'x', 'y', 'n', 'e'] as const;

function publicPart(key: PublicKey): PublicKey {
  const members = MEMBERS.filter((name) => key[name] !== undefined).map((name) => [name, key[name]]);
  return Object.fromEntries(members) as PublicKey;
}
