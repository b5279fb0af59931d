/**
 * Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): an https address is the client's id, and the
 * document there says what the client is. The operator admits each one; the document only saves typing.
 */
import type { PublicKey } from './client.ts';
import { MAX_KEYS, publicKeyProblem } from './client-assertion.ts';
import { MAX_REDIRECT_URIS, redirectUriProblem } from './redirect-uri.ts';

/** Maximum size of a document, and of a set of keys (bytes). */
export const MAX_DOCUMENT_BYTES = 5120;
export const MAX_KEY_SET_BYTES = 65_536;

const MAX_ADDRESS_CHARACTERS = 255;

/** What is honoured of a document. */
export type ClientDocument = {
  readonly id: string;
  readonly name: string | null;
  readonly homepage: string | null;
  readonly privacyPage: string | null;
  readonly contact: string | null;
  readonly redirectUris: readonly string[];
  /** How the client proves itself at the token endpoint (RFC 7591 §2). */
  readonly method: 'none' | 'private_key_jwt';
  readonly keys: readonly PublicKey[];
  readonly keysUrl: string | null;
};

/** A document as it was read: what is honoured of it, and sentences on what is left out. */
export type ReadDocument = { readonly document: ClientDocument; readonly notes: readonly string[] };

/** Whether a client id is the address of a document. */
export function isDocumentId(id: string): boolean {
  return id.startsWith('https://');
}

/** Why a text cannot be the address of a document; null if it can. `isLocal`: http on loopback is good as well. */
export function documentAddressProblem(text: string, isLocal = false): string | null {
  const url = /^[\x21-\x5b\x5d-\x7e]+$/.test(text) ? URL.parse(text) : null;
  if (!url || text.includes('#')) return 'it must be an address in printable ASCII, without a fragment';
  if (url.protocol !== 'https:' && !(isLocal && url.protocol === 'http:')) return 'it must begin with https://';
  if (url.username || url.password) return 'it must not hold a user name or password';
  if (text.length > MAX_ADDRESS_CHARACTERS) return `it is longer than ${MAX_ADDRESS_CHARACTERS} characters`;
  if (url.pathname === '/') return 'it must have a path, such as /client.json';
  if (url.href !== text) return `it is not in its normal form: write it as ${url.href}`;
  return null;
}

/** Reads a document that was fetched from an address. Returns a sentence if it is refused as a whole. */
export function readClientDocument(address: string, value: unknown): ReadDocument | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not a JSON object';
  const members = value as Record<string, unknown>;
  const refusal = refusalOf(address, members);
  if (refusal) return refusal;
  const method = methodOf(members);
  if (method === null) return 'it offers neither none nor private_key_jwt with keys (token_endpoint_auth_method)';
  const keys = method === 'none' ? { keys: [], keysUrl: null } : keysOf(address, members);
  if (typeof keys === 'string') return keys;
  const uris = redirectUrisOf(members, method);
  if (typeof uris === 'string') return uris;
  const { client_name, client_uri, policy_uri, contacts } = members;
  const document: ClientDocument = {
    id: address,
    name: textOf(client_name),
    homepage: sameOrigin(address, textOf(client_uri)),
    privacyPage: pageOf(textOf(policy_uri)),
    contact: Array.isArray(contacts) ? textOf(contacts[0]) : null,
    redirectUris: uris.good,
    method,
    ...keys,
  };
  return { document, notes: [...uris.notes, ...notesOn(members)] };
}

/** Reads a set of keys (RFC 7517 §5). Returns a sentence if it is refused. */
export function readKeySet(value: unknown): readonly PublicKey[] | string {
  const keys = (value as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys)) return 'its keys are no JWK Set';
  if (keys.length > MAX_KEYS) return `it has more than ${MAX_KEYS} keys`;
  for (const [index, key] of keys.entries()) {
    if (typeof key !== 'object' || key === null) return `key ${index + 1} is no object`;
    const problem = publicKeyProblem(key as PublicKey);
    if (problem) return `key ${index + 1}: ${problem}`;
  }
  return keys as PublicKey[];
}

/** Members that only a secret's holder may have: a document is public. */
const SECRETS = ['client_secret', 'client_secret_expires_at', 'registration_access_token'];

function refusalOf(address: string, members: Record<string, unknown>): string | null {
  const { client_id: id, grant_types: grants } = members;
  if (id !== address) return 'its client_id is not its own address';
  const secret = SECRETS.find((name) => name in members);
  if (secret !== undefined) return `it holds ${secret}, and a document is public`;
  if (Array.isArray(grants) && !grants.includes('authorization_code'))
    return 'its grant_types do not name authorization_code';
  return null;
}

/** `private_key_jwt` where it is offered and there are keys, else `none` where that is offered. */
function methodOf(members: Record<string, unknown>): ClientDocument['method'] | null {
  const { token_endpoint_auth_method: one, token_endpoint_auth_methods_supported: several } = members;
  const offered = [one, ...(Array.isArray(several) ? several : [])];
  const hasKeys = 'jwks' in members || 'jwks_uri' in members;
  if (offered.includes('private_key_jwt') && hasKeys) return 'private_key_jwt';
  return offered.includes('none') ? 'none' : null;
}

function keysOf(
  address: string,
  { jwks, jwks_uri }: Record<string, unknown>,
): Pick<ClientDocument, 'keys' | 'keysUrl'> | string {
  if (jwks !== undefined) {
    const keys = readKeySet(jwks);
    return typeof keys === 'string' ? keys : { keys, keysUrl: null };
  }
  const keysUrl = sameOrigin(address, textOf(jwks_uri));
  return keysUrl === null ? 'its jwks_uri is not of the same origin' : { keys: [], keysUrl };
}

function redirectUrisOf(
  { redirect_uris: uris }: Record<string, unknown>,
  method: ClientDocument['method'],
): { good: string[]; notes: string[] } | string {
  const all = Array.isArray(uris) ? [...new Set(uris)] : [];
  const type = method === 'none' ? 'public' : 'confidential';
  const judged = all.map((uri) => ({
    uri: String(uri),
    problem: typeof uri === 'string' ? redirectUriProblem(uri, type) : 'it is no text',
  }));
  const good = judged.filter(({ problem }) => problem === null).map(({ uri }) => uri);
  if (good.length === 0) return 'none of its redirect_uris can be registered';
  if (good.length > MAX_REDIRECT_URIS) return `it has more than ${MAX_REDIRECT_URIS} redirect_uris`;
  const notes = judged.flatMap(({ uri, problem }) =>
    problem === null ? [] : [`left out: redirect URI ${JSON.stringify(uri)}: ${problem}`],
  );
  return { good, notes };
}

const IGNORED = ['scope', 'logo_uri'];

function notesOn(members: Record<string, unknown>): string[] {
  return IGNORED.filter((name) => name in members).map((name) => `ignored: ${name}, which the operator decides`);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function pageOf(text: string | null): string | null {
  return text !== null && URL.parse(text)?.protocol === 'https:' ? text : null;
}

function sameOrigin(address: string, text: string | null): string | null {
  return text !== null && URL.parse(text)?.origin === new URL(address).origin ? text : null;
}
