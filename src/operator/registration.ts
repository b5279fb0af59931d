/** Checks that all registrations of the operator share: of names, scopes and keys. */
import type { PublicKey } from '../oauth/clients/client.ts';
import { MAX_KEYS, publicKeyProblem } from '../oauth/clients/public-key.ts';
import { OperatorError } from '../oauth/error.ts';
import { scopeNameProblem } from '../oauth/grants/scope.ts';
import { nameProblem } from '../oauth/readable.ts';

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

/** Throws an `OperatorError` unless these can be the public keys of one registration. */
export function checkKeys(keys: readonly PublicKey[]): void {
  if (keys.length > MAX_KEYS) throw new OperatorError(`there are at most ${MAX_KEYS} keys`, 'keys');
  for (const [index, key] of keys.entries()) {
    const problem = publicKeyProblem(key);
    if (problem) throw new OperatorError(`key ${index + 1}: ${problem}`, 'keys');
  }
}
