/**
 * Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): an https address is the client's id, and the
 * document there says what the client is. The operator admits each one; the document only saves typing.
 */
import type { Client, PublicKey } from './client.ts';
import { NO_KEY, readKeySet } from './key-set.ts';
import { MAX_REDIRECT_URIS, redirectUriProblem } from './redirect-uri.ts';

/** Maximum size of a document (bytes). */
export const MAX_DOCUMENT_BYTES = 5120;

const MAX_ADDRESS_CHARACTERS = 255;

/** The honored members of a document. */
export type ClientDocument = {
  readonly id: string;
  readonly name: string | null;
  readonly homepage: string | null;
  readonly privacyPage: string | null;
  readonly contact: string | null;
  readonly redirectUris: readonly string[];
  /** The client's authentication method at the token endpoint (RFC 7591 §2). */
  readonly method: 'none' | 'private_key_jwt';
  readonly keys: readonly PublicKey[];
  /** The address of its keys, if they are not in the document; otherwise null. */
  readonly jwksUri: string | null;
};

/** A parsed document: the supported members, notes on the others, and why keys are omitted, as `ReadKeySet` has it. */
export type ReadDocument = {
  readonly document: ClientDocument;
  readonly notes: readonly string[];
  readonly omittedKeys: readonly string[];
};

/** The reason why a text cannot be the address of a document; null if it can. `isLocal`: http on loopback is accepted too. */
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

/** Host of the metadata document that a client was registered from, with its port if it has one; null if it has no document. */
export function documentHost({ id, documentSha256 }: Pick<Client, 'id' | 'documentSha256'>): string | null {
  return documentSha256 === null ? null : (URL.parse(id)?.host ?? null);
}

/** Reads a document that was fetched from an address. Returns a sentence if it is refused as a whole. */
export function readClientDocument(address: string, value: unknown): ReadDocument | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not a JSON object';
  const members = value as Record<string, unknown>;
  const refusal = refusalOf(address, members);
  if (refusal) return refusal;
  const method = methodOf(members);
  if (method === null) return 'it offers neither none nor private_key_jwt with keys (token_endpoint_auth_method)';
  const own = 'jwks' in members ? readKeySet(members['jwks']) : { keys: [], omitted: [] };
  if (typeof own === 'string') return own;
  const jwksUri = method === 'none' ? null : (members['jwks_uri'] ?? null);
  const unfit = jwksUri === null ? null : jwksUriProblem(address, jwksUri);
  if (unfit) return unfit;
  if (method === 'private_key_jwt' && jwksUri === null && own.keys.length === 0) return NO_KEY;
  const uris = redirectUrisOf(members, method);
  if (typeof uris === 'string') return uris;
  const { client_name, client_uri, policy_uri, contacts } = members;
  const document: ClientDocument = {
    id: address,
    name: textOf(client_name),
    homepage: sameOrigin(address, textOf(client_uri)),
    privacyPage: textOf(policy_uri),
    contact: Array.isArray(contacts) ? textOf(contacts[0]) : null,
    redirectUris: uris.good,
    method,
    keys: method === 'none' ? [] : own.keys,
    jwksUri: textOf(jwksUri),
  };
  return {
    document,
    notes: [...uris.notes, ...own.omitted.map(keyNote), ...notesOn(members)],
    omittedKeys: own.omitted,
  };
}

/** Returns the note on an omitted key. */
export function keyNote(omitted: string): string {
  return `omitted: ${omitted}`;
}

/** Why an address is none for the keys of a document. It has the document's origin, so that one host answers for a client. */
function jwksUriProblem(address: string, uri: unknown): string | null {
  if (typeof uri !== 'string') return 'its jwks_uri is no text';
  if (sameOrigin(address, uri) === null) return 'its jwks_uri has another origin than the document';
  const problem = documentAddressProblem(uri, true); // The document's own scheme was judged.
  return problem && `its jwks_uri is refused: ${problem}`;
}

/** Members that only a secret's holder may have: a document is public. */
const SECRETS = ['client_secret', 'client_secret_expires_at', 'registration_access_token'];

function refusalOf(address: string, members: Record<string, unknown>): string | null {
  const { client_id: id, grant_types: grants } = members;
  if (id !== address) return 'its client_id is not its own address';
  const secret = SECRETS.find((name) => name in members);
  if (secret !== undefined) return `it holds ${secret}, and a document is public`;
  if ('jwks' in members && 'jwks_uri' in members) return 'it has both jwks and jwks_uri (RFC 7591 §2)';
  if (Array.isArray(grants) && !grants.includes('authorization_code'))
    return 'its grant_types do not name authorization_code';
  return null;
}

/** `private_key_jwt` where it is offered and there are keys, else `none` where that is offered, or nothing is. */
function methodOf(members: Record<string, unknown>): ClientDocument['method'] | null {
  const { token_endpoint_auth_method: one, token_endpoint_auth_methods_supported: several } = members;
  const offered = [one, ...(Array.isArray(several) ? several : [])];
  const hasKeys = 'jwks' in members || 'jwks_uri' in members;
  if (offered.includes('private_key_jwt') && hasKeys) return 'private_key_jwt';
  return offered.includes('none') || !namesMethod(members) ? 'none' : null;
}

/**
 * False for a document without a method. RFC 7591 §2 would read `client_secret_basic` there, which no document can use
 * (draft-ietf-oauth-client-id-metadata-document §4.1).
 */
function namesMethod(members: Record<string, unknown>): boolean {
  return 'token_endpoint_auth_method' in members || Array.isArray(members['token_endpoint_auth_methods_supported']);
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
    problem === null ? [] : [`omitted: redirect URI ${JSON.stringify(uri)}: ${problem}`],
  );
  return { good, notes };
}

const HONORED = [
  ...['client_id', 'client_name', 'client_uri', 'policy_uri', 'contacts', 'redirect_uris', 'grant_types'],
  ...['jwks', 'jwks_uri', 'response_types', 'token_endpoint_auth_method', 'token_endpoint_auth_methods_supported'],
];
/** Members of RFC 7591 §2 that are named where they are ignored; others are counted, since anything may be in their names. */
const NAMED = [
  ...['scope', 'logo_uri', 'tos_uri', 'software_id', 'software_version', 'software_statement'],
  ...['application_type', 'token_endpoint_auth_signing_alg'],
];

function notesOn(members: Record<string, unknown>): string[] {
  const ignored = Object.keys(members).filter((name) => !HONORED.includes(name));
  const named = ignored.filter((name) => NAMED.includes(name));
  const others = ignored.length - named.length;
  const all = [...named, ...(others > 0 ? [`${others} other member${others === 1 ? '' : 's'}`] : [])];
  return [
    ...(namesMethod(members) ? [] : ['read as none: it has no token_endpoint_auth_method']),
    ...(all.length > 0 ? [`ignored: ${all.join(', ')}`] : []),
  ];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function sameOrigin(address: string, text: string | null): string | null {
  return text !== null && URL.parse(text)?.origin === new URL(address).origin ? text : null;
}
