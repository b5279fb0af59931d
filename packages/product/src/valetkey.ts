/** Calls to Valetkey: with a secret, or with assertions of a private key (RFC 7523), and repeated while that can help. */
import { createPrivateKey, hkdfSync, type JsonWebKey, type KeyObject, randomUUID, sign } from 'node:crypto';

/** The product's registration, as `valetkey identity-provider register` shows it. A missing part throws at once. */
export type Registration = {
  /** Valetkey's address (`VALETKEY_APP_URL`): https, or http on this machine. */
  readonly url: string | undefined;
  /** The Provider ID. */
  readonly id: string | undefined;
  /** The Provider Secret. */
  readonly secret?: string | undefined;
  /** Instead of `secret`: a JWK or PEM, whose public part was registered with `--jwks`. */
  readonly privateKey?: JsonWebKey | string | undefined;
  /** Replaces the global `fetch`, for a proxy or certificates of your own. */
  readonly fetch?: typeof globalThis.fetch | undefined;
};

/** A failed call, for the product's log: no member contains a secret or a sign-in request. */
export class ValetkeyError extends Error {
  override readonly name = 'ValetkeyError';
  /** The HTTP status; 0 if there was no answer. Frameworks would answer with a `status` or `statusCode`. */
  readonly httpStatus: number;
  /** The error code of the answer, such as `invalid_client`; otherwise `unreachable` or `odd_answer`. */
  readonly code: string;

  constructor(httpStatus: number, code: string, description: string) {
    super(`Valetkey: ${withoutSecrets(code)} (${httpStatus}): ${withoutSecrets(description)}`);
    this.httpStatus = httpStatus;
    this.code = withoutSecrets(code);
  }
}

/** The algorithm of each kind of key (RFC 7518 §3.1, RFC 8037 §3.1). */
const ALGORITHMS = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512', rsa: 'RS256', ed25519: 'EdDSA' };
/** The statuses after which a call is made again, at most twice and not before `Retry-After`: all may be repeated. */
const PASSING = [0, 429, 502, 503, 504];

/** Valetkey, as a product reaches it. */
export class Valetkey {
  readonly url: string;
  /** The key of the MACs in cookies and forms: all processes of the product derive the same one. */
  readonly cookieKey: Buffer;
  readonly #fetch: typeof globalThis.fetch;
  readonly #id: string;
  readonly #basic: string | null;
  readonly #key: KeyObject | null;
  readonly #kid: unknown;

  constructor({ url, id, secret, privateKey, fetch = globalThis.fetch }: Registration) {
    const parsed = safeUrl(url);
    if (parsed?.pathname !== '/')
      throw new TypeError('url must be Valetkey’s address without a path: https, or http on this machine');
    if (!id || !secret === !privateKey)
      throw new TypeError('id, and either secret or privateKey, are required: is each environment variable set?');
    this.url = parsed.origin;
    this.#fetch = fetch;
    this.#id = id;
    // RFC 6749 §2.3.1.
    this.#basic = secret ? Buffer.from([id, secret].map(encodeURIComponent).join(':')).toString('base64') : null;
    this.#kid = typeof privateKey === 'object' ? privateKey['kid'] : undefined;
    const input = typeof privateKey === 'object' ? ({ key: privateKey, format: 'jwk' } as const) : privateKey;
    this.#key = input ? createPrivateKey(input) : null;
    const material = this.#key?.export({ format: 'der', type: 'pkcs8' }) ?? String(secret);
    this.cookieKey = Buffer.from(hkdfSync('sha256', material, parsed.origin, `valetkey product ${id}`, 32));
  }

  /** Makes a call, within a time (ms), and returns its JSON. Throws `ValetkeyError`. */
  async call(name: string, body?: object, within = 30_000): Promise<unknown> {
    const until = Date.now() + within;
    const [method = '', path = ''] = name.split(' ');
    for (let tries = 1; ; tries += 1) {
      const signal = AbortSignal.timeout(Math.max(1, Math.min(10_000, until - Date.now())));
      const init = { ...this.#proven(body), method, redirect: 'error', signal } as const;
      const { status, said, retryAfter } = await attempt(this.#fetch, `${this.url}/api/auth/oauth${path}`, init);
      if (status >= 200 && status < 300) return said;
      const wait = retryAfter && Number(retryAfter) >= 0 ? Number(retryAfter) * 1000 : 250 * tries;
      if (!PASSING.includes(status) || tries === 3 || Date.now() + wait >= until)
        throw new ValetkeyError(status, String(said.error ?? 'odd_answer'), String(said.error_description ?? ''));
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /** Returns the headers and the body of a request, with the proof of who calls. */
  #proven(body?: object): { headers: Record<string, string>; body: string | null } {
    const headers = { 'Content-Type': 'application/json' };
    const text = body ? JSON.stringify(body) : null;
    if (this.#basic) return { headers: { ...headers, Authorization: `Basic ${this.#basic}` }, body: text };
    const client_assertion = this.#assertion();
    if (!body) return { headers: { Authorization: `Bearer ${client_assertion}` }, body: text };
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    return { headers, body: JSON.stringify({ ...body, client_assertion_type, client_assertion }) };
  }

  /** RFC 7523 §3. */
  #assertion(): string {
    const key = this.#key as KeyObject;
    const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType;
    const alg = ALGORITHMS[kind as keyof typeof ALGORITHMS];
    if (!alg) throw new TypeError(`privateKey must be for ${Object.values(ALGORITHMS)}`);
    const now = Math.floor(Date.now() / 1000);
    const header = { typ: 'JWT', alg, kid: this.#kid };
    const claims = { iss: this.#id, sub: this.#id, aud: this.url, jti: randomUUID(), iat: now, exp: now + 60 };
    const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const digest = alg === 'EdDSA' ? null : `sha${alg.slice(2)}`;
    const signature = sign(digest, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }
}

async function attempt(fetch: typeof globalThis.fetch, url: string, init: RequestInit) {
  try {
    const response = await fetch(url, init);
    const said = JSON.parse((await response.text()) || '{}') as { error?: unknown; error_description?: unknown };
    return { status: response.status, said, retryAfter: response.headers.get('Retry-After') };
  } catch (problem) {
    const { name, cause } = problem as { name: string; cause?: { code?: string } };
    const error = problem instanceof SyntaxError ? 'odd_answer' : 'unreachable';
    return { status: 0, said: { error, error_description: cause?.code ?? name } };
  }
}

/** Returns a text of another program for a log: short, and without anything long enough to be a credential. */
function withoutSecrets(text: string): string {
  return text.replace(/[\w.~+/=-]{40,}/g, '…').slice(0, 300);
}

/** Returns an address without a query that is https, or http on this machine; otherwise undefined. */
export function safeUrl(text: string | undefined): URL | undefined {
  const url = text && URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = /^(https:|http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])[:/])/.test(url?.href ?? '');
  return url && isSafe && url.href === url.origin + url.pathname ? url : undefined;
}
