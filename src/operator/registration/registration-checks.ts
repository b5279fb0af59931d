/** Checks that all registrations of the operator share: of names, scopes and keys. */
import type { PublicKey } from '../../oauth/clients/client.ts';
import { readKeySet } from '../../oauth/clients/key-set.ts';
import { OperatorError } from '../../oauth/error.ts';
import { scopeNameProblem } from '../../oauth/grants/scope.ts';
import { nameProblem } from '../../oauth/readable-text.ts';

const MAX_SCOPES = 100;

/** Throws an `OperatorError` unless people can read the name on a page. */
export function checkName(name: string, what = 'a name', field = 'name'): void {
  const problem = nameProblem(name, 'label', what);
  if (problem) throw new OperatorError(problem, field);
}

/** Throws an `OperatorError` unless these can be the scopes of one registration. */
export function checkScopeNames(names: readonly string[]): void {
  if (new Set(names).size < names.length) throw new OperatorError('a scope was given twice', 'scopes');
  if (names.length > MAX_SCOPES) throw new OperatorError(`there are at most ${MAX_SCOPES} scopes`, 'scopes');
  for (const name of names) {
    const problem = scopeNameProblem(name);
    if (problem) throw new OperatorError(`scope ${JSON.stringify(name)}: ${problem}`, 'scopes');
  }
}

/**
 * Returns the keys of a given set that can be used, as they are stored. Throws an `OperatorError` for a set that is refused, and
 * for one of which no key can be used.
 */
export function usableKeys(given: readonly PublicKey[]): readonly PublicKey[] {
  const set = readKeySet({ keys: given });
  if (typeof set === 'string') throw new OperatorError(set, 'keys');
  if (set.keys.length === 0 && set.omitted.length > 0) throw new OperatorError(set.omitted.join('; '), 'keys');
  return set.keys;
}

/** Returns why keys of a given set are omitted, one sentence for each; nothing for a set that `usableKeys` refuses. */
export function omittedKeys(given: readonly PublicKey[]): readonly string[] {
  const set = readKeySet({ keys: given });
  return typeof set === 'string' ? [] : set.omitted;
}
