/** Scope values (RFC 6749 §3.3): what a client may be granted, and what a request asks of it. */

/** A scope that the operator registered for a client; `sentence` says it in words on the consent page, if there is one. */
export type Scope = { readonly name: string; readonly sentence: string | null };

const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/;

/** Why a text cannot be a scope's name (RFC 6749 §3.3), or null when it can. */
export function scopeNameProblem(name: string): string | null {
  return SCOPE_TOKEN.test(name) && !name.includes('=')
    ? null
    : 'a scope is 1 to 100 printable ASCII characters without space, quote, backslash or =';
}

/**
 * The scope names a request is for, in the client's order and each once: all of the client's when none was asked for
 * (RFC 6749 §3.3, the documented default), null when one is not the client's, or the text names none (`invalid_scope`).
 */
export function resolveScope(registered: readonly Scope[], requested: string | undefined): string[] | null {
  const names = registered.map((scope) => scope.name);
  if (requested === undefined) return names;
  const asked = new Set(requested.split(' ').filter((name) => name !== ''));
  return asked.size > 0 && [...asked].every((name) => names.includes(name))
    ? names.filter((name) => asked.has(name))
    : null;
}
