/** The keys of `--jwks` that cannot be used, in the result of a command. */
import type { PublicKey } from '../../oauth/clients/client.ts';
import { omittedKeysJson } from '../../operator/json/omitted-keys.ts';
import type { CommandResult } from '../command/command-run.ts';

/** Returns a result that also names the omitted keys of a given set; the same one if no keys were given. */
export function withOmittedKeys(result: CommandResult, given: readonly PublicKey[] | undefined): CommandResult {
  const json = omittedKeysJson(given);
  const words = (json.omitted_keys ?? []).map((omitted) => `Omitted: ${omitted}.`);
  return {
    ...result,
    json: { ...(result.json as object), ...json },
    note: [...words, ...[result.note ?? []].flat()],
  };
}
