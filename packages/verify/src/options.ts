/** A developer's options, and the mistakes that are reported at once instead of disabling a check silently. */
import { basicAuthorization, type IntrospectionSettings } from './introspection.ts';

/** Options of `createVerifier`. */
export type VerifierOptions = {
  /** The address of Valetkey (its `VALETKEY_APP_URL`); https, unless it is on this machine. Throws at once if absent. */
  readonly issuer: string | undefined;
  /** The id and the secret of this API, from `valetkey resource-server register`. Throws at once if absent. */
  readonly id: string | undefined;
  readonly secret: string | undefined;
  /** The URI of this API, if it is registered with one. Then only tokens for this API are accepted. */
  readonly resource?: string | undefined;
  /**
   * True to accept tokens that are not limited to an API, too; the API must be registered with `--accept-unbound`.
   * Default: false.
   */
  readonly acceptUnbound?: boolean | undefined;
  /** The scopes of this API, which its metadata lists for apps. */
  readonly scopesSupported?: readonly string[] | undefined;
  /** True to cache answers while the revocation stream is live. Default: true. */
  readonly cache?: boolean | undefined;
  /** Timeout of the authorization server, in ms. Default: 5000. */
  readonly timeout?: number | undefined;
  /** Called once for each kind of problem, with a sentence without secrets. Default: `process.emitWarning`. */
  readonly onProblem?: ((message: string) => void) | undefined;
  /** Replaces the global `fetch` for introspection. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Replaces `Date.now`, for tests. */
  readonly now?: (() => number) | undefined;
};

/** The requirements of a check: all of these scopes. */
export type CheckOptions = { readonly scopes?: readonly string[] | undefined };

/** The metadata of an API. */
export type MetadataSettings = {
  readonly issuer: string;
  readonly resource: string | undefined;
  readonly scopesSupported: readonly string[] | undefined;
};

/** Reads the options of a verifier. Throws `TypeError` for options that cannot work. */
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

/**
 * Returns the scopes of `CheckOptions`. Throws `TypeError` for scopes that would silently check nothing, or could
 * never pass.
 */
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
