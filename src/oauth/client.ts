/** Clients (RFC 6749 §2): the apps that the operator registered, and how one proves to be itself. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { withChecksum } from './credential.ts';
import { invalidClient, type Refusal } from './error.ts';
import { currentKey, type Keyring, mac } from './keyring.ts';
import type { Scope } from './scope.ts';

/** RFC 6749 §2.1: a confidential client keeps a secret; a public one (an app on a device) cannot. */
export type ClientType = 'confidential' | 'public';

/** A stored client secret: the keyed digest of 256 random bits, and the root key that made it. Times in ms. */
export type ClientSecret = { readonly digest: Buffer; readonly keyId: number; readonly createdAt: number };

/** A registered client. Seconds are null where the installation's defaults hold; times in ms since the epoch. */
export type Client = {
  readonly id: string;
  readonly type: ClientType;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly Scope[];
  readonly requirePkce: boolean;
  readonly refreshOverlap: number | null;
  readonly refreshRetryWindow: number | null;
  readonly status: 'active' | 'paused';
  /** Grants issued under an earlier epoch are dead: raising it revokes them all in one write. */
  readonly epoch: number;
  /** Newest first; none for a public client, two while a rotation is under way. */
  readonly secrets: readonly ClientSecret[];
  readonly createdAt: number;
};

/** Whether a text can be a client's id at all (RFC 6749 appendix A.1); nothing else is looked up or counted by itself. */
export function isClientId(text: string): boolean {
  return /^[\x21-\x7e]{1,100}$/.test(text);
}

/** What a request presented as client authentication. */
export type ClientCredentials = { readonly clientId: string | undefined; readonly clientSecret: string | undefined };

/** Makes a client secret: its text, which is shown once, and what is stored of it. `now` in ms. */
export function makeClientSecret(
  keyring: Keyring,
  prefix: string,
  now: number,
): { text: string; secret: ClientSecret } {
  const text = withChecksum(`${prefix}_cs_${randomBytes(32).toString('base64url')}`);
  const digest = mac(currentKey(keyring, 'client-secret'), text);
  return { text, secret: { digest, keyId: keyring.currentKeyId, createdAt: now } };
}

/**
 * Authenticates a client by its secret (RFC 6749 §2.3.1), in the same time whether it exists or not. All reasons share
 * one public text. Whether the client is paused is asked after this: it is itself all the same.
 */
export function authenticateClient(
  keyring: Keyring,
  client: Client | null,
  credentials: ClientCredentials,
): Client | Refusal {
  const { clientId, clientSecret } = credentials;
  if (clientId === undefined) return invalidClient('client_id is missing');
  if (clientSecret === undefined) return invalidClient('client_secret is missing');
  const known = client?.secrets ?? [];
  const candidates = known.length > 0 ? known : [NO_SECRET];
  const matches = candidates.filter((secret) => matchesSecret(keyring, secret, clientSecret)).length > 0;
  if (!client) return invalidClient('no client has this client_id');
  if (client.type === 'public') return invalidClient('the client is public and has no secret');
  if (!matches) return invalidClient('the client secret is wrong');
  return client;
}

const NO_SECRET: ClientSecret = { digest: randomBytes(32), keyId: -1, createdAt: 0 };

function matchesSecret(keyring: Keyring, secret: ClientSecret, presented: string): boolean {
  const key = keyring.key(secret.keyId, 'client-secret') ?? currentKey(keyring, 'client-secret');
  return timingSafeEqual(mac(key, presented), secret.digest);
}
