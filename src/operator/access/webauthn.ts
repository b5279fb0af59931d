/**
 * The ceremonies of passkeys (WebAuthn L3 §7.1, §7.2), by @simplewebauthn/server. Passkeys are discoverable, verify their
 * user, and attest nothing. The library takes 0.5 s and 31 MB to load, so it is imported at first use.
 */
import type { WebAuthnCredential } from '@simplewebauthn/server';
import type { Operator } from './operator.ts';
import type { Passkey } from './passkey.ts';

/** The relying party: the operators' address, and its name for people. */
export type RelyingParty = { readonly id: string; readonly origin: string; readonly name: string };

/** Options for a browser, as JSON for its `parse…OptionsFromJSON` methods. */
export type CeremonyOptions = { readonly ceremony: 'create' | 'get'; readonly json: string };

/** A new passkey, as a browser reports it. */
export type NewPasskey = Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'transports' | 'isBackedUp'>;

/** An answer that does not verify; the message is for the log. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

const load = () => import('@simplewebauthn/server');
/** Time that a browser gives its user (ms). */
const TIMEOUT_MS = 4 * 60 * 1000;
const MAX_DETAIL = 200;
/** The transports that are kept: those of WebAuthn L3, and `cable`, as `hybrid` was called. */
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Returns the relying party of the operators' address (WebAuthn L3 §5.1.2: the RP ID is the host). */
export function relyingParty(operatorUrl: string, productName: string): RelyingParty {
  return { id: new URL(operatorUrl).hostname, origin: operatorUrl, name: `${productName} operators` };
}

/**
 * Returns the options to make a passkey of an operator who has these already (WebAuthn L3 §5.4). The user handle is the
 * operator's id, which tells nothing of a person (WebAuthn L3 §14.6.1).
 */
export async function creationOptions(
  rp: RelyingParty,
  { id, name }: Operator,
  passkeys: readonly Passkey[],
  challenge: Buffer,
): Promise<CeremonyOptions> {
  const { generateRegistrationOptions } = await load();
  const options = await generateRegistrationOptions({
    rpName: rp.name,
    rpID: rp.id,
    userName: name,
    userDisplayName: name,
    userID: bytesOf(Buffer.from(id)),
    challenge: bytesOf(challenge),
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: passkeys.map(descriptor),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  return { ceremony: 'create', json: JSON.stringify(options) };
}

/**
 * Returns the options to use a passkey: one of these, or any that the browser finds if there are none
 * (WebAuthn L3 §5.5).
 */
export async function requestOptions(
  rp: RelyingParty,
  passkeys: readonly Passkey[],
  challenge: Buffer,
): Promise<CeremonyOptions> {
  const { generateAuthenticationOptions } = await load();
  const options = await generateAuthenticationOptions({
    rpID: rp.id,
    challenge: bytesOf(challenge),
    timeout: TIMEOUT_MS,
    userVerification: 'required',
    ...(passkeys.length > 0 && { allowCredentials: passkeys.map(descriptor) }),
  });
  return { ceremony: 'get', json: JSON.stringify(options) };
}

/** Returns the new passkey of an answer, and its challenge (WebAuthn L3 §7.1). Throws `WrongAnswer`. */
export async function verifyCreation(
  rp: RelyingParty,
  text: string,
): Promise<{ passkey: NewPasskey; challenge: string }> {
  const { verifyRegistrationResponse } = await load();
  return refusing(async () => {
    const answer = JSON.parse(text);
    refuseFrame(answer.response.clientDataJSON);
    let challenge = '';
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: answer,
      expectedChallenge: (answered) => {
        challenge = answered;
        return true; // The caller reads it: it says for whom it was made.
      },
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
    });
    if (!verified) throw new WrongAnswer('the attestation does not verify');
    const { credential, credentialBackedUp: isBackedUp } = registrationInfo;
    const { id, publicKey, counter } = credential;
    const transports = knownTransports(credential.transports);
    return { passkey: { id, publicKey: Buffer.from(publicKey), counter, transports, isBackedUp }, challenge };
  });
}

/** Returns true if an answer is one that makes a passkey, unverified. */
export function isCreation(text: string): boolean {
  return (
    (jsonOf(text) as { response?: { attestationObject?: unknown } } | null)?.response?.attestationObject !== undefined
  );
}

/** Returns the id of the passkey that answered, unverified. Throws `WrongAnswer`. */
export function answeringPasskey(text: string): string {
  const id = (jsonOf(text) as { id?: unknown } | null)?.id;
  if (typeof id !== 'string') throw new WrongAnswer('the answer names no passkey');
  return id;
}

/**
 * Verifies the answer of a stored passkey (WebAuthn L3 §7.2), and returns its new counter, which the caller compares by
 * `goesOn`, and its challenge. The answer may leave the operator unnamed only where the page `asked` for passkeys of one.
 * Throws `WrongAnswer`.
 */
export async function verifyAssertion(
  rp: RelyingParty,
  text: string,
  { id, operatorId, publicKey }: Passkey,
  asked: 'one operator' | 'anyone',
): Promise<{ counter: number; isBackedUp: boolean; challenge: string }> {
  const { verifyAuthenticationResponse } = await load();
  return refusing(async () => {
    const answer = JSON.parse(text);
    refuseFrame(answer.response.clientDataJSON);
    // A discoverable passkey says whose it is, unless the operator was known before (§7.2, step 6).
    const { userHandle } = answer.response;
    const isUnnamed = (userHandle ?? null) === null && asked === 'one operator';
    if (!isUnnamed && userHandle !== Buffer.from(operatorId).toString('base64url'))
      throw new WrongAnswer('the passkey names another operator');
    let challenge = '';
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: (answered) => {
        challenge = answered;
        return true; // As above.
      },
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      // The library would compare the counter before the signature; `goesOn` does after it.
      credential: { id, publicKey: bytesOf(publicKey), counter: 0 },
      requireUserVerification: true,
    });
    if (!verified) throw new WrongAnswer('the signature does not verify');
    const { newCounter, credentialBackedUp: isBackedUp } = authenticationInfo;
    return { counter: newCounter, isBackedUp, challenge };
  });
}

/** Returns true if a counter went on, or both are 0 (WebAuthn L3 §6.1.1); otherwise the passkey may have been copied. */
export function goesOn(before: number, counter: number): boolean {
  return counter > before || (counter === 0 && before === 0);
}

/** Throws `WrongAnswer` for an answer from a frame of another site (§7.1 step 10, §7.2 step 13); the library takes some. */
function refuseFrame(clientDataJSON: string): void {
  if (JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).crossOrigin)
    throw new WrongAnswer('the answer came from a frame');
}

function knownTransports(said: unknown): string[] {
  return Array.isArray(said) ? TRANSPORTS.filter((each) => said.includes(each)) : [];
}

/** The library throws for whatever does not verify, and for malformed answers. */
async function refusing<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    throw new WrongAnswer((error as Error).message.slice(0, MAX_DETAIL));
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function descriptor({ id, transports }: Passkey): { id: string; transports: string[] } {
  return { id, transports: [...transports] };
}

/** Returns the bytes as the library takes them: over a buffer that nobody shares. */
function bytesOf(buffer: Buffer): WebAuthnCredential['publicKey'] {
  return new Uint8Array(buffer);
}
