/**
 * Checkpoints: what the whole audit trail was at a time, in one signed line. Whoever keeps one elsewhere can see later that
 * events before it were removed, even if all events after some point were. They are signed (Ed25519, RFC 8032) instead of
 * having a MAC, so that a collector of logs can verify one without a key that makes them. A shortening says the same of the
 * events that the retention took away; it begins with another word, so that no checkpoint passes for one.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { currentKey, type Keyring } from '../keys/keyring.ts';
import { readRootKeyName, rootKeyName } from '../keys/root-key.ts';

/** The trail up to an event: the number of events since it began, and the digest over all of them, in hexadecimal. */
export type TrailState = { readonly upTo: number; readonly events: number; readonly digest: string };

/** The contents of a checkpoint; `at` in ms since the epoch, `installation` in hexadecimal. */
export type Checkpoint = TrailState & {
  readonly installation: string;
  readonly at: number;
  /** The root key whose signing key signed it. */
  readonly keyId: number;
  readonly text: string;
};

/** The kind of a signed statement: that the trail was so, or that the retention took everything away up to there. */
type Statement = 'checkpoint' | 'shortened';

/**
 * A signed statement where a text begins, or a value in a line of a log, as JSON or for people. Anybody may write one into the middle of
 * another value that is logged, such as the address that names a client.
 */
const FORMAT =
  /(?<=^|[\s"]|\scheckpoint=)valetkey-(checkpoint|shortened)\.1\.([0-9a-f]+)\.(\d{1,15})\.(\d{1,15})\.([0-9a-f]{64})\.(\d{1,15})\.([0-9a-f]{8})\.([A-Za-z0-9_-]{86})/g;

/** A private key of Ed25519 in DER (RFC 8410 §7), without its 32 bytes. */
const PKCS8_START = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs what the trail is, with the current root key's signing key. */
export function signCheckpoint(keyring: Keyring, installation: string, state: TrailState, at: number): Checkpoint {
  return signed('checkpoint', keyring, installation, state, at);
}

/** Signs what the trail was up to the last event that the retention takes away. */
export function signShortening(keyring: Keyring, installation: string, state: TrailState, at: number): Checkpoint {
  return signed('shortened', keyring, installation, state, at);
}

function signed(what: Statement, keyring: Keyring, installation: string, state: TrailState, at: number): Checkpoint {
  const keyId = keyring.currentKeyId;
  const said = `valetkey-${what}.1.${installation}.${state.upTo}.${state.events}.${state.digest}.${at}.${rootKeyName(keyId)}`;
  const signature = sign(null, Buffer.from(said), signingKey(currentKey(keyring, 'checkpoint')));
  return { ...state, installation, at, keyId, text: `${said}.${signature.toString('base64url')}` };
}

/** All checkpoints in a text, such as a log. Their signatures are not verified here. */
export function findCheckpoints(text: string): Checkpoint[] {
  return find('checkpoint', text);
}

/** The shortening in the detail of an event, or null. Its signature is not verified here. */
export function readShortening(detail: string | null): Checkpoint | null {
  return find('shortened', detail ?? '')[0] ?? null;
}

function find(what: Statement, text: string): Checkpoint[] {
  return [...text.matchAll(FORMAT)]
    .filter(([, word]) => word === what)
    .map(([whole, , installation = '', upTo, events, digest = '', at, keyName = '']) => ({
      installation,
      digest,
      text: whole,
      upTo: Number(upTo),
      events: Number(events),
      at: Number(at),
      keyId: readRootKeyName(keyName) as number,
    }));
}

/** Tells whether a checkpoint or a shortening was signed by its root key's signing key; null when that root key is not in the ring. */
export function isSigned(keyring: Keyring, { keyId, text }: Checkpoint): boolean | null {
  const key = keyring.key(keyId, 'checkpoint');
  if (!key) return null;
  const end = text.lastIndexOf('.');
  const signature = Buffer.from(text.slice(end + 1), 'base64url');
  return verify(null, Buffer.from(text.slice(0, end)), createPublicKey(signingKey(key)), signature);
}

/** The public key that verifies checkpoints of the current root key, in PEM. */
export function checkpointPublicKey(keyring: Keyring): string {
  const key = createPublicKey(signingKey(currentKey(keyring, 'checkpoint')));
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

function signingKey(seed: KeyObject): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_START, seed.export()]), format: 'der', type: 'pkcs8' });
}
