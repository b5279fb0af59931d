/** Client assertions as a client makes them, and as somebody forges them. */
import { createHmac, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Client, PublicKey } from '../../src/oauth/clients/client.ts';
import { ISSUER } from './requests.ts';
import { confidentialClient, NOW } from './samples.ts';

/** A pair of keys, the public one as it is registered. */
export type KeyPair = { readonly jwk: PublicKey; readonly privateKey: KeyObject };

export function ecKeys(namedCurve = 'P-256', more: Partial<PublicKey> = {}): KeyPair {
  return asKeyPair(generateKeyPairSync('ec', { namedCurve }), more);
}

export function rsaKeys(modulusLength = 2048, more: Partial<PublicKey> = {}): KeyPair {
  return asKeyPair(generateKeyPairSync('rsa', { modulusLength }), more);
}

export function edKeys(more: Partial<PublicKey> = {}): KeyPair {
  return asKeyPair(generateKeyPairSync('ed25519'), more);
}

function asKeyPair(pair: { publicKey: KeyObject; privateKey: KeyObject }, more: Partial<PublicKey>): KeyPair {
  return { jwk: { ...pair.publicKey.export({ format: 'jwk' }), ...more }, privateKey: pair.privateKey };
}

/** The keys of `keyed`. */
export const keys = ecKeys();
/** A client that proves itself with a key, and has no secret. */
export const keyed: Client = { ...confidentialClient, id: 'app_keyed', keys: [keys.jwk] };

/** Seconds since the epoch, as JWTs have them. */
export const SECONDS = Math.floor(NOW / 1000);

/** What an assertion may say otherwise; undefined leaves a claim out. */
export type Said = {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly by?: KeyPair;
};

/** The claims of a good assertion, made just now. */
export function claims(some: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const id = keyed.id;
  return { iss: id, sub: id, aud: ISSUER, jti: randomUUID(), iat: SECONDS, exp: SECONDS + 60, ...some };
}

/** An assertion that is signed by whom the test says. */
export function assertion({ claims: some = {}, header = {}, by = keys }: Said = {}): Promise<string> {
  return new SignJWT(claims(some)).setProtectedHeader({ alg: 'ES256', ...header }).sign(by.privateKey);
}

/** A JWT of which a test makes every part. */
export function forged(header: unknown, payload: unknown, signature: Buffer | string = ''): string {
  const encoded = (part: unknown) =>
    Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
  return `${encoded(header)}.${encoded(payload)}.${typeof signature === 'string' ? signature : signature.toString('base64url')}`;
}

/** Signed by HMAC with whatever as secret, such as a public key in some form. */
export function hmacSigned(secret: string | Buffer, alg = 'HS256'): string {
  const unsigned = forged({ alg }, claims()).slice(0, -1);
  return `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`;
}
