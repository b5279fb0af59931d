/** The meaning of a scope in JSON, which a PUT replaces. */
import { SCOPE_EFFECTS } from '../../oauth/grants/scope.ts';
import type { ScopeMeaning } from '../scope-registry.ts';
import { type Field, type Fields, isObject, type Members, oneOf, readFields, requireMembers } from './field.ts';

const sentences: Field<ScopeMeaning['sentences']> = {
  type: 'an object with a sentence for each language, such as {"en": "Read your mail"}',
  read: (value) =>
    isObject(value) && Object.values(value).every((sentence) => typeof sentence === 'string' && sentence !== '')
      ? (value as Record<string, string>)
      : undefined,
};

const SCOPE_FIELDS: Fields<ScopeMeaning> = { sentences, effect: oneOf(SCOPE_EFFECTS, null) };

/** Reads the whole meaning of a scope. Throws `OperatorError`. */
export function readScopeMeaning(members: Members): ScopeMeaning {
  requireMembers(members, ['sentences']);
  const { sentences = {}, effect = null } = readFields(SCOPE_FIELDS, members);
  return { sentences, effect };
}
