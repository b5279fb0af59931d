/** What a developer sets, and which mistakes in it are told at once instead of letting something pass unseen. */
import { basicAuthorization, type IntrospectionSettings } from './introspection.ts';

/** What `createVerifier` is told. */
export type VerifierOptions = {
  /** The address of Valetkey (its `VALETKEY_APP_URL`); https, unless it is on this machine. Absent is an error at once. */
  readonly issuer: string | undefined;
  /** The id and the secret of this API, from `valetkey resource-server register`. Absent is an error at once. */
  readonly id: string | undefined;
  readonly secret: string | undefined;
  /** The URI of this API, if it is registered with one. Only tokens for this very API are then accepted. */
  readonly resource?: string | undefined;
  /** Also accepts tokens that are for no certain API, if the API is registered with `--accept-unbound`; false by default. */
  readonly acceptUnbound?: boolean | undefined;
  /** The scopes of this API, as its metadata lists them for apps. */
  readonly scopesSupported?: readonly string[] | undefined;
  /** Whether an answer is kept while the revocation stream is live; true by default. */
  readonly cache?: boolean | undefined;
  /** How long an answer of the authorization server may take, in ms; 5000 by default. */
  readonly timeout?: number | undefined;
  /** Told each kind of trouble once, in a sentence without secrets; `process.emitWarning` by default. */
  readonly onProblem?: ((message: string) => void) | undefined;
  /** Used instead of the global `fetch` for introspection. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Used instead of `Date.now`, for tests. */
  readonly now?: (() => number) | undefined;
};

/** What a check asks of a token: all of these scopes. */
export type CheckOptions = { readonly scopes?: readonly string[] | undefined };

/** The metadata of an API. */
export type MetadataSettings = {
  readonly issuer: string;
  readonly resource: string | undefined;
  readonly scopesSupported: readonly string[] | undefined;
};

/** Reads the options of a verifier. Throws `TypeError` for those that cannot work. */
export function readOptions(options: VerifierOptions): IntrospectionSettings & MetadataSettings {
  const { issuer, id, secret, resource, timeout = 5000, fetch = globalThis.fetch, now = Date.now } = options;
  const { scopesSupported, acceptUnbound = false } = options;
  const url = issuer && URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (!id || !secret) throw new TypeError('id and secret are required: valetkey resource-server register shows them');
  if (!url || url.href !== `${url.origin}/`)
    throw new TypeError('issuer must be scheme, host and port alone, such as https://auth.example.com');
  if (url.protocol !== 'https:' && !isLoopback(url))
    throw new TypeError('issuer must be https, unless it is on this machine (RFC 7662 §4)');
  if (resource !== undefined && (!URL.canParse(resource) || !/^[!"$-~]+$/.test(resource)))
    throw new TypeError('resource must be an absolute URI without a fragment (RFC 8707 §2)');
  if (typeof acceptUnbound !== 'boolean') throw new TypeError('acceptUnbound must be true or false');
  if (!Number.isInteger(timeout) || timeout < 1 || timeout > 60_000)
    throw new TypeError('timeout must be 1 to 60000 ms');
  if (scopesSupported !== undefined && !isScopeList(scopesSupported))
    throw new TypeError('scopesSupported must be a list of scope names');
  const authorization = basicAuthorization(id, secret);
  return { issuer: url.origin, authorization, resource, acceptUnbound, scopesSupported, timeout, fetch, now };
}

/** The scopes of `CheckOptions`. Throws `TypeError` for what would silently check nothing, or could never pass. */
export function requiredScopes(options: CheckOptions = {}): readonly string[] {
  const { scopes = [], ...unknown } = options;
  if (!isScopeList(scopes)) throw new TypeError('scopes must be a list of scope names');
  for (const name of Object.keys(unknown)) throw new TypeError(`${name} is no option of a check: did you mean scopes?`);
  return scopes;
}

/** RFC 6749 §3.3. */
function isScopeList(names: unknown): boolean {
  const isScope = (name: unknown) => typeof name === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name);
  return Array.isArray(names) && names.every(isScope);
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
