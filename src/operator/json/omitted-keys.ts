/** The keys of a given set that cannot be used (RFC 7517 §5), as answers name them. */
import type { PublicKey } from '../../oauth/clients/client.ts';
import { omittedKeys } from '../registration/registration-checks.ts';

/** Returns the member of an answer that names omitted keys; none if the request gave no keys. */
export function omittedKeysJson(given: readonly PublicKey[] | undefined): { omitted_keys?: readonly string[] } {
  return given === undefined ? {} : { omitted_keys: omittedKeys(given) };
}
