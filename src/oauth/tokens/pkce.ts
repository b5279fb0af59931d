/** Proof Key for Code Exchange (RFC 7636), S256 only: `plain` protects nothing from somebody who saw the request. */
import { hash, timingSafeEqual } from 'node:crypto';

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** True if a text can be an S256 challenge: 32 bytes in unpadded base64url (RFC 7636 §4.2). */
export function isCodeChallenge(text: string): boolean {
  return CHALLENGE.test(text);
}

/** True if a text can be a verifier: 43 to 128 unreserved characters (RFC 7636 §4.1). */
export function isCodeVerifier(text: string): boolean {
  return VERIFIER.test(text);
}

/** True if the challenge was made from the verifier (RFC 7636 §4.6). */
export function verifiesChallenge(verifier: string, challenge: string): boolean {
  return timingSafeEqual(Buffer.from(hash('sha256', verifier, 'base64url')), Buffer.from(challenge));
}
