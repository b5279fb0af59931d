/** The product's credentials at Valetkey: a secret, or a private key for assertions (RFC 7523). */
import { createPrivateKey, hkdfSync, type JsonWebKey, type KeyObject, randomUUID, sign } from 'node:crypto';

/** The product's registration: what `valetkey identity-provider register` shows. Throws at once if a part is absent. */
export type Registration = {
  /** The address of Valetkey (its `VALETKEY_APP_URL`); https, unless it is on this machine. */
  readonly url: string | undefined;
  /** The Provider ID. */
  readonly id: string | undefined;
  /** The Provider Secret. */
  readonly secret?: string | undefined;
  /** Instead of a secret: the private key, as a JWK or PEM, whose public part was registered with `--jwks`. */
  readonly privateKey?: JsonWebKey | string | undefined;
  /** Replaces the global `fetch`, for a proxy or certificates of your own. */
  readonly fetch?: typeof globalThis.fetch | undefined;
};

/** The signature options of a kind of key (RFC 7518 §3.1, RFC 8037 §3.1). */
const ALGORITHMS: Readonly<Record<string, readonly [alg: string, digest: string | null]>> = {
  prime256v1: ['ES256', 'sha256'],
  secp384r1: ['ES384', 'sha384'],
  secp521r1: ['ES512', 'sha512'],
  rsa: ['RS256', 'sha256'],
  ed25519: ['EdDSA', null],
};

/** Lifetime of an assertion, in seconds. */
const ASSERTION_LIFETIME = 60;

/** The proof of a request: headers, and members of a JSON body. */
export type Proof = { readonly headers: Record<string, string>; readonly members: Record<string, string> };

/** Proves to Valetkey who calls. */
export class Credentials {
  /** The origin of Valetkey. */
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  /** Key of the MACs in the product's cookies and forms: all processes of the product derive the same one. */
  readonly cookieKey: Buffer;
  readonly #id: string;
  readonly #basic: string | null = null;
  readonly #key: KeyObject | null = null;
  readonly #kid: string | undefined;

  constructor({ url, id, secret, privateKey, fetch = globalThis.fetch }: Registration) {
    const parsed = url && URL.canParse(url) ? new URL(url) : undefined;
    if (!parsed || parsed.href !== `${parsed.origin}/`)
      throw new TypeError('url must be scheme, host and port of Valetkey alone, such as https://auth.example.com');
    if (!isSafe(parsed)) throw new TypeError('url must be https, unless Valetkey is on this machine');
    if (!id || !secret === !privateKey)
      throw new TypeError('id, and either secret or privateKey, are required: valetkey identity-provider register');
    this.url = parsed.origin;
    this.fetch = fetch;
    this.#id = id;
    if (secret) this.#basic = `Basic ${Buffer.from([id, secret].map(formEncoded).join(':')).toString('base64')}`;
    if (typeof privateKey === 'object') {
      this.#key = createPrivateKey({ key: privateKey, format: 'jwk' });
      this.#kid = privateKey['kid'] as string | undefined;
    } else if (privateKey) this.#key = createPrivateKey(privateKey);
    const material = this.#key?.export({ format: 'der', type: 'pkcs8' }) ?? String(secret);
    this.cookieKey = Buffer.from(hkdfSync('sha256', material, parsed.origin, `valetkey product ${id}`, 32));
  }

  /** Returns a proof for one request, which an assertion cannot outlive. */
  prove(hasBody: boolean): Proof {
    if (this.#basic) return { headers: { Authorization: this.#basic }, members: {} };
    const client_assertion = this.#assertion();
    if (!hasBody) return { headers: { Authorization: `Bearer ${client_assertion}` }, members: {} };
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    return { headers: {}, members: { client_assertion_type, client_assertion } };
  }

  /** RFC 7523 §3. */
  #assertion(): string {
    const key = this.#key as KeyObject;
    const kind = key.asymmetricKeyDetails?.namedCurve ?? String(key.asymmetricKeyType);
    const [alg, digest] = ALGORITHMS[kind] ?? [];
    if (!alg) throw new TypeError(`privateKey must be for ${Object.values(ALGORITHMS).map(([name]) => name)}`);
    const now = Math.floor(Date.now() / 1000);
    const [iss, aud, jti] = [this.#id, this.url, randomUUID()];
    const claims = { iss, sub: iss, aud, jti, iat: now, exp: now + ASSERTION_LIFETIME };
    const parts = [{ typ: 'JWT', alg, kid: this.#kid }, claims];
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const signature = sign(digest ?? null, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }
}

/** Returns true for https, and for http on this machine. */
export function isSafe({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true;
  return protocol === 'http:' && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** RFC 6749 §2.3.1. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
