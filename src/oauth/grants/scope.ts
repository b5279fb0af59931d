/** Scope values (RFC 6749 §3.3): what a client may be granted, and what a request asks of it. */
import { Refusal } from '../error.ts';

/**
 * A scope that the operator registered for a client. Its own `sentence` says it in words on the consent page; without one
 * the installation's definition of the scope does. The resource owner may leave out an `optional` one.
 */
export type Scope = { readonly name: string; readonly sentence: string | null; readonly optional: boolean };

/** Kinds of effect of a scope: the app only reads, changes something, or could do harm (delete, pay, act for the user). */
export const SCOPE_EFFECTS = ['reads', 'changes', 'sensitive'] as const;

/** One of them. */
export type ScopeEffect = (typeof SCOPE_EFFECTS)[number];

/** A scope that the operator defined for the whole installation, with a sentence in each language (BCP 47 tags). */
export type ScopeDefinition = {
  readonly name: string;
  readonly sentences: Readonly<Record<string, string>>;
  /** The effect of the scope, according to the operator; null if they named none. */
  readonly effect: ScopeEffect | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
};

const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/;

/** Why a text cannot be a scope's name (RFC 6749 §3.3), or null when it can. */
export function scopeNameProblem(name: string): string | null {
  return SCOPE_TOKEN.test(name) && !name.includes('=')
    ? null
    : 'a scope is 1 to 100 printable ASCII characters without space, quote, backslash or =';
}

/**
 * The scope names that a request is for, in the order of the client's registration and each once. All of the client's when
 * the request names none, or is blank (RFC 6749 §3.3, the documented default). Null when one is not the client's
 * (`invalid_scope`).
 */
export function resolveScope(registered: readonly Scope[], requested: string | undefined): string[] | null {
  const names = registered.map((scope) => scope.name);
  const asked = new Set(scopeNames(requested ?? ''));
  if (asked.size === 0) return names;
  return [...asked].every((name) => names.includes(name)) ? names.filter((name) => asked.has(name)) : null;
}

/** Scopes that clients of OpenID Connect ask for by habit, whatever a server says that it has. */
const OPENID_HABITS: readonly string[] = ['openid', 'profile', 'email', 'offline_access'];

/** Tells whether a scope name means something to clients of OpenID Connect. */
export function isOpenIdHabit(name: string): boolean {
  return OPENID_HABITS.includes(name);
}

/**
 * A requested scope without the names that clients of OpenID Connect add by habit, unless the client is registered for them
 * (RFC 6749 §3.3: the answer's scope says what was granted). Undefined when nothing else was asked for.
 */
export function withoutOpenIdHabits(registered: readonly Scope[], requested: string | undefined): string | undefined {
  const names = scopeNames(requested ?? '');
  const kept = names.filter((name) => !isOpenIdHabit(name) || registered.some((scope) => scope.name === name));
  if (kept.length === names.length) return requested;
  return kept.length === 0 ? undefined : kept.join(' ');
}

/**
 * How a scope is refused: what is wrong with it (`lacks`), and the remedy for the developer and, in the log, for the
 * operator. For some names `remedyFor` has a better one.
 */
export type ScopeRule = { readonly lacks: string; readonly remedy: string; readonly operatorRemedy?: string };

/**
 * Refuses a scope because of its first name that is not `known`. The answer and the log show that name where it may be
 * shown: libraries add names by themselves, which nobody would find otherwise.
 */
export function invalidScope(
  requested: string | undefined,
  known: readonly string[],
  { lacks, remedy, operatorRemedy = remedy }: ScopeRule,
): Refusal {
  const name = scopeNames(requested ?? '').find((asked) => !known.includes(asked));
  if (name === undefined || !mayBeShown(name))
    return new Refusal('invalid_scope', `scope has a value that is ${lacks}`);
  const said = (what: string) => `the scope ${name} is ${lacks}: ${remedyFor(name) ?? what}`;
  return new Refusal('invalid_scope', said(remedy), said(operatorRemedy));
}

function remedyFor(name: string): string | null {
  if (name === 'openid') return 'leave it out, since there are no ID tokens here';
  if (name === 'offline_access') return 'leave it out, since a refresh token comes without it';
  return name.includes(',') ? 'scopes are separated by spaces, not by commas' : null;
}

/**
 * A name is input, and comes back in an address and in the log: it must not be markup, nor hold what may be a credential.
 */
function mayBeShown(name: string): boolean {
  const isToken = SCOPE_TOKEN.test(name);
  return isToken && !/[<>&']|[\w-]{40}/.test(name);
}

/**
 * The scope names that an Allow grants: what was requested, without the optional ones that the resource owner left out
 * (RFC 6749 §3.3), and without those that the client is not registered for any more: the page did not show them. Null when
 * something was requested and nothing of it is left: then nothing was allowed.
 */
export function allowedScope(
  registered: readonly Scope[],
  requested: readonly string[],
  chosen: readonly string[],
): string[] | null {
  const isOptional = new Map(registered.map(({ name, optional }) => [name, optional]));
  const allowed = requested.filter((name) => isOptional.has(name) && (!isOptional.get(name) || chosen.includes(name)));
  return allowed.length === 0 && requested.length > 0 ? null : allowed;
}

/** The scope names that the resource owner left out: optional ones that were requested and not allowed. */
export function leftOutScope(
  registered: readonly Scope[],
  requested: readonly string[],
  allowed: readonly string[],
): string[] {
  return optionalNames(registered, requested).filter((name) => !allowed.includes(name));
}

/** Those of some scope names that the resource owner may leave out. */
export function optionalNames(registered: readonly Scope[], names: readonly string[]): string[] {
  return registered.filter(({ name, optional }) => optional && names.includes(name)).map(({ name }) => name);
}

/** The names in a space-separated scope. */
export function scopeNames(scope: string): string[] {
  return scope.split(' ').filter((name) => name !== '');
}

/**
 * The sentence for a scope in a language (a BCP 47 tag); null when there is none. A client's own sentence names no language:
 * one with Latin letters is taken for English. In English the client's own comes first; in any other language, the
 * installation's translation. After that come the client's own, the installation's in English, and any other of the
 * installation's.
 */
export function sentenceFor(
  { name, sentence }: Pick<Scope, 'name' | 'sentence'>,
  definitions: readonly ScopeDefinition[],
  language: string,
): string | null {
  const sentences = definitions.find((definition) => definition.name === name)?.sentences ?? {};
  const translated = sentences[language];
  const isOwnInLanguage = language === 'en' && /\p{Script=Latin}/u.test(sentence ?? '');
  if (sentence !== null && (translated === undefined || isOwnInLanguage)) return sentence;
  return translated ?? sentences['en'] ?? Object.values(sentences)[0] ?? null;
}

/** Returns the operator's effect of a scope, which is the same for every app; null if they named none. */
export function effectOf(name: string, definitions: readonly ScopeDefinition[]): ScopeEffect | null {
  return definitions.find((definition) => definition.name === name)?.effect ?? null;
}

/** Why a text cannot be the sentence of a scope, or null when it can; some scripts cannot do without joiners. */
export function sentenceProblem(sentence: string): string | null {
  return sentence.trim() === '' ||
    sentence.length > 200 ||
    /\p{Cc}|\p{Zl}|\p{Zp}|(?![\u200c\u200d])\p{Cf}/u.test(sentence)
    ? 'its sentence has 1 to 200 characters, none of them invisible'
    : null;
}
