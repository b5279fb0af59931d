/** The standard face on the wire, for tests that need its outcome. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import type { PublicKey } from '../../src/oauth/clients/client.ts';
import type { NewResourceServerSettings } from '../../src/operator/products-and-apis/resource-server-registry.ts';
import type { Browser, PostedFields, Visit } from './browser.ts';
import { forgetDecisions, type JsonAnswer, pairOf, postForm, type TestClient } from './flow.ts';
import { REDIRECT_URI, type TestService } from './service.ts';

/** Parameters of a request; undefined ones are left out. */
export type Fields = Record<string, string | undefined>;

/** The verifier of RFC 7636 appendix B, and what an authorization request says of it. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const PKCE = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };

/** The grant type of a device. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** The type of a client assertion. */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** What a client asks for at the authorization endpoint, with PKCE. */
export function authorizationRequest(client: TestClient, parameters: Fields = {}): Fields {
  const usual = { response_type: 'code', client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 'xyz' };
  return { ...usual, ...PKCE, ...parameters };
}

/** The same as an address. */
export function standardUrl({ appUrl }: TestService, client: TestClient, parameters: Fields = {}): string {
  const all = Object.entries(authorizationRequest(client, parameters));
  const sent = all.filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `${appUrl}/oauth2/authorize?${new URLSearchParams(sent)}`;
}

/** Asserts that a page sends the browser on, and returns where to. */
export function sentTo({ status, headers, body }: Visit): URL {
  assert.equal(status, 303, /<h1.*/.exec(body)?.[0] ?? body);
  return new URL(String(headers.get('location')));
}

/** Presses Allow on a page of the authorization endpoint and returns where the browser is sent. */
export async function allowOn(browser: Browser, page: Visit, fields: PostedFields = {}): Promise<URL> {
  return sentTo(await browser.submit(page, '/oauth2/authorize', { decision: 'allow', ...fields }));
}

/** An authorization code of a fresh grant. */
export async function standardCode(
  service: TestService,
  browser: Browser,
  client: TestClient,
  parameters: Fields = {},
): Promise<string> {
  const page = await browser.get(standardUrl(service, client, parameters));
  await forgetDecisions(service);
  return String((await allowOn(browser, page)).searchParams.get('code'));
}

/** The pair of a fresh grant. */
export async function standardPair(
  service: TestService,
  browser: Browser,
  client: TestClient,
  parameters: Fields = {},
): Promise<{ accessToken: string; refreshToken: string }> {
  return pairOf(await exchangeCode(service, client, await standardCode(service, browser, client, parameters)));
}

/** Posts a form to an endpoint below `/oauth2/`. */
export function post({ appUrl }: TestService, endpoint: string, fields: Fields, headers?: Record<string, string>) {
  return postForm(`${appUrl}/oauth2/${endpoint}`, fields, headers);
}

/** Posts a form with a client's credentials in it; a public client has no secret. */
export function postAs(
  service: TestService,
  { clientId, clientSecret }: TestClient,
  endpoint: string,
  fields: Fields = {},
): Promise<JsonAnswer> {
  return post(service, endpoint, { client_id: clientId, client_secret: clientSecret || undefined, ...fields });
}

/** Exchanges a code of `standardCode`. */
export function exchangeCode(
  service: TestService,
  client: TestClient,
  code: string,
  fields: Fields = {},
): Promise<JsonAnswer> {
  const usual = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER };
  return postAs(service, client, 'token', { ...usual, ...fields });
}

/** Refreshes. */
export function refreshWith(
  service: TestService,
  client: TestClient,
  refreshToken: string,
  fields: Fields = {},
): Promise<JsonAnswer> {
  return postAs(service, client, 'token', { grant_type: 'refresh_token', refresh_token: refreshToken, ...fields });
}

/** The header of RFC 6749 §2.3.1: both parts form-encoded. */
export function basic(id: string, secret: string): { Authorization: string } {
  const encoded = [id, secret].map((part) => new URLSearchParams([['', part]]).toString().slice(1)).join(':');
  return { Authorization: `Basic ${Buffer.from(encoded).toString('base64')}` };
}

/** A key pair of a client: the public half to register, and what signs with the other, by ES256 unless the header says. */
export type Key = {
  readonly jwk: PublicKey;
  sign(claims: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
};

/** Makes a key pair. */
export function makeKey(kind: 'P-256' | 'P-384' | 'P-521' | 'RSA' | 'Ed25519' = 'P-256'): Key {
  const { publicKey, privateKey } =
    kind === 'RSA'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : kind === 'Ed25519'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('ec', { namedCurve: kind });
  return {
    jwk: publicKey.export({ format: 'jwk' }),
    sign: (claims, header = {}) => new SignJWT(claims).setProtectedHeader({ alg: 'ES256', ...header }).sign(privateKey),
  };
}

/** The claims of a client's good assertion (RFC 7523 §3). */
export function assertionClaims({ appUrl, clock }: TestService, { clientId }: TestClient): JWTPayload {
  const exp = clock.now() / 1000 + 60;
  return { iss: clientId, sub: clientId, aud: appUrl, exp, jti: randomUUID() };
}

/** The fields that carry a fresh assertion; claims that are undefined are left out. */
export async function assertionFields(
  service: TestService,
  client: TestClient,
  key: Key,
  claims: Record<string, unknown> = {},
  header?: Partial<JWTHeaderParameters>,
): Promise<Fields> {
  const assertion = await key.sign({ ...assertionClaims(service, client), ...claims }, header);
  return { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
}

/** A registered resource server's credentials. */
export type TestResourceServer = { readonly id: string; readonly secret: string };

/** Registers a resource server; it sees everything unless settings say otherwise. */
export async function addResourceServer(
  { installation }: TestService,
  settings: Partial<NewResourceServerSettings> = {},
): Promise<TestResourceServer> {
  const usual = { name: 'Test API', resource: null, scopes: null };
  const { row: resourceServer, secret } = await installation.resourceServers.register(
    { ...usual, ...settings },
    installation.operator,
  );
  return { id: resourceServer.id, secret };
}

/** Asks what a token is good for. */
export function introspect(
  service: TestService,
  { id, secret }: TestResourceServer,
  token: string | undefined,
  fields: Fields = {},
): Promise<JsonAnswer> {
  return post(service, 'introspect', { token, ...fields }, basic(id, secret));
}

/** The scopes of a client, by name; those that end with a question mark may be left out. */
export function scopes(...names: string[]) {
  return names.map((name) => ({ name: name.replace('?', ''), sentence: null, optional: name.endsWith('?') }));
}
