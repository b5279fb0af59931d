/** Scope values (RFC 6749 §3.3): those registered for a client, and those that a request asks for. */
import { Refusal } from '../error.ts';
import { isReadable } from '../readable-text.ts';

/**
 * A scope that the operator registered for a client. Its `sentence` explains the scope on the consent page; without one, the
 * installation's definition of the scope does. The resource owner may leave out an `optional` one.
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
 * The requested scope names, each once, in the order of the client's registration. All scopes of the client if the request
 * names none or is blank (RFC 6749 §3.3, the documented default). Null if the client lacks one of them (`invalid_scope`).
 */
export function resolveScope(registered: readonly Scope[], requested: string | undefined): string[] | null {
  const names = registered.map((scope) => scope.name);
  const asked = new Set(scopeNames(requested ?? ''));
  if (asked.size === 0) return names;
  return [...asked].every((name) => names.includes(name)) ? names.filter((name) => asked.has(name)) : null;
}

/** Scopes that OpenID Connect clients always request, whether the server supports them or not. */
const OPENID_HABITS: readonly string[] = ['openid', 'profile', 'email', 'offline_access'];

/** Scopes that mean nothing here beside `openid` (OpenID Connect Core §5.4, §11). */
const BESIDE_OPENID: readonly string[] = ['offline_access', 'address', 'phone'];

/** The scopes of a sign-in (OpenID Connect Core §5.4), in the order in which a grant names them. */
export const SIGN_IN_SCOPES = ['openid', 'profile', 'email'] as const;

/** Returns true for one of the scopes of a sign-in. */
export function isSignInScope(name: string): boolean {
  return (SIGN_IN_SCOPES as readonly string[]).includes(name);
}

/** Returns the scope names of a grant with `openid` besides those of the sign-in. */
export function withoutSignIn(scope: string): string[] {
  return scopeNames(scope).filter((name) => !isSignInScope(name));
}

/** Tells if OpenID Connect defines a scope name. */
export function isOpenIdHabit(name: string): boolean {
  return OPENID_HABITS.includes(name);
}

/**
 * A requested scope without the names that OpenID Connect clients always add, unless they are registered for the client (RFC
 * 6749 §3.3: the response's scope says what was granted). Undefined if nothing else was requested. `isSignIn`: `openid` itself
 * has a meaning.
 */
export function withoutOpenIdHabits(
  registered: readonly Scope[],
  requested: string | undefined,
  isSignIn = false,
): string | undefined {
  const names = scopeNames(requested ?? '');
  const dropped = isSignIn ? BESIDE_OPENID : OPENID_HABITS;
  const kept = names.filter((name) => !dropped.includes(name) || registered.some((scope) => scope.name === name));
  if (kept.length === names.length) return requested;
  return kept.length === 0 ? undefined : kept.join(' ');
}

/**
 * The words of a scope's refusal: the fault (`lacks`), and the remedies for the developer and, in the log, for the operator.
 * `remedyFor` has better remedies for some names.
 */
export type ScopeRule = { readonly lacks: string; readonly remedy: string; readonly operatorRemedy?: string };

/**
 * Refuses a scope because of its first name that is not `known`. The response and the log show that name if it is safe to
 * show: developers could not find a name that their library adds.
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
  if (name === 'openid') return 'leave it out, since these endpoints give no ID tokens';
  if (name === 'offline_access') return 'leave it out, since a refresh token comes without it';
  return name.includes(',') ? 'scopes are separated by spaces, not by commas' : null;
}

/** The name is input, and appears in a URL and in the log: it must be neither markup nor anything that may be a credential. */
function mayBeShown(name: string): boolean {
  const isToken = SCOPE_TOKEN.test(name);
  return isToken && !/[<>&']|[\w-]{40}/.test(name);
}

/**
 * The scope names that an Allow grants: the requested ones, without the optional ones that the resource owner deselected (RFC
 * 6749 §3.3), and without those no longer registered for the client, which the page did not show. Null if scopes were
 * requested and none remains: then nothing was allowed.
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

/** The optional scope names that the resource owner deselected. */
export function leftOutScope(
  registered: readonly Scope[],
  requested: readonly string[],
  allowed: readonly string[],
): string[] {
  return optionalNames(registered, requested).filter((name) => !allowed.includes(name));
}

/** The optional ones of some scope names. */
export function optionalNames(registered: readonly Scope[], names: readonly string[]): string[] {
  return registered.filter(({ name, optional }) => optional && names.includes(name)).map(({ name }) => name);
}

/** The names in a space-separated scope. */
export function scopeNames(scope: string): string[] {
  return scope.split(' ').filter((name) => name !== '');
}

/**
 * The sentence for a scope in a language (a BCP 47 tag), or null. A client's own sentence has no language tag: one in Latin
 * letters counts as English. In English the client's own sentence comes first; in any other language, the installation's
 * translation. The next choices are the client's own, the installation's English one, and any other of the installation.
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
  return sentence.trim() === '' || [...sentence].length > 200 || !isReadable(sentence, 'words')
    ? 'its sentence has 1 to 200 characters, none of them invisible'
    : null;
}
