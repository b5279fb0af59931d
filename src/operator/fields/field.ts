/** Readers of settings in JSON, for each member of a request's body. */
import type { PublicKey } from '../../oauth/clients/client.ts';
import { OperatorError } from '../../oauth/error.ts';
import { jsonName } from '../../oauth/json-name.ts';

/** The members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * The reader of one setting. `none` is the value that a null stands for, since a merge patch removes a member by null (RFC
 * 7396 §2); without it the setting cannot be removed.
 */
export type Field<Value> = {
  /** The type, as a message names it. */
  readonly type: string;
  /** Returns undefined for a value of another type. */
  read(value: unknown): Value | undefined;
  readonly none?: Value;
};

/** The readers of all settings of one noun. */
export type Fields<Settings> = { readonly [Name in keyof Settings]-?: Field<Settings[Name]> };

/** Reads the settings that a body has. Throws an `OperatorError` with the field for an unknown member or a wrong type. */
export function readFields<Settings>(fields: Fields<Settings>, members: Members): Partial<Settings> {
  const settings = Object.keys(fields) as (keyof Settings & string)[];
  const named = new Map(settings.map((setting) => [jsonName(setting), setting]));
  const read = Object.entries(members).map(([name, value]) => {
    const setting = named.get(name);
    if (setting === undefined)
      throw new OperatorError(`${name} cannot be set here. Set some of: ${[...named.keys()].join(', ')}`, name);
    return [setting, readField(fields[setting], name, value)];
  });
  return Object.fromEntries(read) as Partial<Settings>;
}

/** Throws an `OperatorError` for the first of these members that a body lacks. */
export function requireMembers(members: Members, names: readonly string[]): void {
  const missing = names.find((name) => !Object.hasOwn(members, name));
  if (missing !== undefined) throw new OperatorError(`${missing} is missing: add it to the body`, missing);
}

function readField<Value>(field: Field<Value>, name: string, value: unknown): Value {
  if (value === null && field.none !== undefined) return field.none;
  const read = field.read(value);
  if (read === undefined) throw new OperatorError(`${name} must be ${field.type}`, name);
  return read;
}

/** A text that cannot be removed. */
export const text: Field<string> = {
  type: 'a string',
  read: (value) => (typeof value === 'string' ? value : undefined),
};

/** A text or null. */
export const textOrNone: Field<string | null> = { type: 'a string or null', read: text.read, none: null };

/** A list of texts; null is an empty one. */
export const texts: Field<readonly string[]> = {
  type: 'a list of strings',
  read: (value) => (isListOf(value, (each) => typeof each === 'string') ? (value as string[]) : undefined),
  none: [],
};

/** Whole seconds, or null for the default of the installation. */
export const secondsOrNone: Field<number | null> = {
  type: 'a whole number of seconds, or null for the default',
  read: (value) => (Number.isSafeInteger(value) ? (value as number) : undefined),
  none: null,
};

/** Public keys (RFC 7517 §4); null is none. */
export const publicKeys: Field<readonly PublicKey[]> = {
  type: 'a list of public keys, each a JSON Web Key (RFC 7517)',
  // Which of them can be used is for the reader of key sets.
  read: (value) => (isListOf(value, isObject) ? (value as PublicKey[]) : undefined),
  none: [],
};

/** Returns the reader of a boolean, with its value after a null. */
export function flag(none: boolean): Field<boolean> {
  return { type: 'true or false', read: (value) => (typeof value === 'boolean' ? value : undefined), none };
}

/** Returns the reader of one of some words. */
export function oneOf<Word extends string, None extends Word | null>(
  words: readonly Word[],
  none?: None,
): Field<Word | None> {
  const read = (value: unknown) => words.find((word) => word === value);
  return { type: `one of ${words.join(', ')}`, read, ...(none === undefined ? {} : { none }) };
}

/** Returns the reader of a list with some of these words. */
export function someOf<Word extends string>(words: readonly Word[], none?: readonly Word[]): Field<readonly Word[]> {
  const isWord = (value: unknown) => words.some((word) => word === value);
  const read = (value: unknown) => (isListOf(value, isWord) ? (value as Word[]) : undefined);
  return { type: `a list of some of ${words.join(', ')}`, read, ...(none === undefined ? {} : { none }) };
}

/** Returns true for a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true for a JSON array whose elements all match. */
export function isListOf(value: unknown, matches: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(matches);
}
