/** The shapes of settings: how a value is read from the member of a request's body, and its JSON Schema. */
import type { PublicKey } from '../../oauth/clients/client.ts';

/** The members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** A JSON Schema (draft 2020-12). */
export type Schema = Readonly<Record<string, unknown>>;

/** The kind of a value, by which an option, a form and a list know what to do with it. */
export type Kind =
  | 'text'
  | 'address'
  | 'page'
  | 'texts'
  | 'flag'
  | 'one'
  | 'some'
  | 'seconds'
  | 'keys'
  | 'scopes'
  | 'sentences';

/** The shape of a value. */
export type Field<Value> = {
  readonly kind: Kind;
  /** The type, as a message names it. */
  readonly type: string;
  /** Returns undefined for a value of another type. */
  read(value: unknown): Value | undefined;
  readonly schema: Schema;
  /** The schema of what a body may have in its place, if that is more. */
  readonly accepts?: Schema;
  /** The words of a choice. */
  readonly words?: readonly string[];
};

/** A text that cannot be removed. */
export const text: Field<string> = {
  kind: 'text',
  type: 'a string',
  read: (value) => (typeof value === 'string' ? value : undefined),
  schema: { type: 'string' },
};

/** An address that cannot be removed. */
export const address: Field<string> = { ...text, kind: 'address' };

/** A text or null. */
export const textOrNone: Field<string | null> = {
  kind: 'text',
  type: 'a string or null',
  read: text.read,
  schema: { type: ['string', 'null'] },
};

/** An address or null. */
export const addressOrNone: Field<string | null> = { ...textOrNone, kind: 'address' };

/** The https address of a page, or null. */
export const pageOrNone: Field<string | null> = { ...textOrNone, kind: 'page' };

/** A list of texts. */
export const texts: Field<readonly string[]> = {
  kind: 'texts',
  type: 'a list of strings',
  read: (value) => (isListOf(value, (each) => typeof each === 'string') ? (value as string[]) : undefined),
  schema: { type: 'array', items: text.schema },
};

/** Whole seconds, or null for the default of the installation. */
export const secondsOrNone: Field<number | null> = {
  kind: 'seconds',
  type: 'a whole number of seconds, or null for the default',
  read: (value) => (Number.isSafeInteger(value) ? (value as number) : undefined),
  schema: { type: ['integer', 'null'], minimum: 0, description: 'Seconds; null for the default.' },
};

/** Public keys (RFC 7517 §4). */
export const publicKeys: Field<readonly PublicKey[]> = {
  kind: 'keys',
  type: 'a list of public keys, each a JSON Web Key (RFC 7517)',
  read: (value) =>
    // Which of them can be used is for the reader of key sets.
    isListOf(value, isObject) ? (value as PublicKey[]) : undefined,
  schema: {
    type: 'array',
    items: { type: 'object', description: 'A public key (RFC 7517 §4).' },
  },
};

/** Yes or no. */
export const flag: Field<boolean> = {
  kind: 'flag',
  type: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  schema: { type: 'boolean' },
};

/** Returns the shape of one of some words. */
export function oneOf<Word extends string>(words: readonly Word[]): Field<Word> {
  return {
    kind: 'one',
    words,
    type: `one of ${words.join(', ')}`,
    read: (value) => words.find((word) => word === value),
    schema: { type: 'string', enum: words },
  };
}

/** Returns the shape of a list with some of these words. */
export function someOf<Word extends string>(words: readonly Word[]): Field<readonly Word[]> {
  const isWord = (value: unknown) => words.some((word) => word === value);
  return {
    kind: 'some',
    words,
    type: `a list of some of ${words.join(', ')}`,
    read: (value) => (isListOf(value, isWord) ? (value as Word[]) : undefined),
    schema: { type: 'array', items: { type: 'string', enum: words } },
  };
}

/** Returns true for a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true for a JSON array whose elements all match. */
export function isListOf(value: unknown, matches: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(matches);
}
