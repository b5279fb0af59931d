/** What all registrations of the operator have in common: their names, ids and scopes. */
import { randomBytes } from 'node:crypto';
import { OperatorError } from './error.ts';
import { scopeNameProblem } from './scope.ts';

const MOST_SCOPES = 100;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** 80 random bits in lower-case base 32: easy to copy, and never like an id of another kind (RFC 9700 §4.15). */
export function newId(kind: 'app' | 'rs'): string {
  return `${kind}_${[...randomBytes(16)].map((byte) => ALPHABET[byte & 31]).join('')}`;
}

/** Whether a text looks like an id that was made here. */
export function isOwnId(text: string): boolean {
  return /^(app|rs)_[0-9a-hjkmnp-tv-z]{16}$/.test(text);
}

/** Throws an `OperatorError` unless people can read the name on a page. */
export function checkName(name: string): void {
  const length = [...name].length;
  if (name.trim() !== name || length < 1 || length > 100)
    throw new OperatorError('a name has 1 to 100 characters and no space around it');
  if (/\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}/u.test(name))
    throw new OperatorError('a name must not hold control, direction or invisible characters');
}

/** Throws an `OperatorError` unless these can be the scopes of one registration. */
export function checkScopeNames(names: readonly string[]): void {
  if (new Set(names).size < names.length) throw new OperatorError('a scope was given twice');
  if (names.length > MOST_SCOPES) throw new OperatorError(`there are at most ${MOST_SCOPES} scopes`);
  for (const name of names) {
    const problem = scopeNameProblem(name);
    if (problem) throw new OperatorError(`scope ${JSON.stringify(name)}: ${problem}`);
  }
}
