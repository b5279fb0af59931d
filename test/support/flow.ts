/** The published flow on the wire, for tests that need its outcome. */
import assert from 'node:assert/strict';
import { allAccounts } from './all-accounts.ts';
import { Browser, type Visit } from './browser.ts';
import { PASSWORD, REDIRECT_URI, type TestService } from './service.ts';

/** The credentials of a registered client. */
export type TestClient = { readonly clientId: string; readonly clientSecret: string };

/** An answer of a token endpoint or of the check. */
export type JsonAnswer = { readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> };

/** The authorization URL for a client; undefined parameters are left out. */
export function authorizeUrl(
  { appUrl }: TestService,
  client: TestClient,
  parameters: Record<string, string | undefined> = {},
): string {
  const all = { client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 'xyz', ...parameters };
  const sent = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `${appUrl}/auth/oauth2/authorize?${new URLSearchParams(sent)}`;
}

/** Signs a browser in. */
export async function signIn(
  { appUrl }: TestService,
  browser: Browser,
  email = 'ada@example.com',
  password = PASSWORD,
): Promise<Visit> {
  const page = await browser.get(`${appUrl}/sign-in`);
  return browser.submit(page, '/sign-in', { email, password });
}

/** A browser in which somebody is signed in. */
export async function signedInBrowser(service: TestService, email?: string): Promise<Browser> {
  const browser = new Browser();
  const visit = await signIn(service, browser, email);
  assert.equal(visit.status, 303, 'sign-in works');
  return browser;
}

/**
 * Forgets how often people decided: tests of one service share a person, who presses faster than anybody can. Not of a program
 * that runs as a process of its own.
 */
export async function forgetDecisions({ installation, clock }: Partial<TestService>): Promise<void> {
  if (!installation || !clock) return;
  const { accounts, throttles } = installation;
  for (const { id } of await allAccounts(accounts)) throttles.decisions.reset(id, clock.now());
}

/** Presses Allow and returns where the browser is sent. */
export async function pressAllow(
  service: TestService,
  browser: Browser,
  client: TestClient,
  parameters: Record<string, string | undefined> = {},
): Promise<URL> {
  const page = await browser.get(authorizeUrl(service, client, parameters));
  await forgetDecisions(service);
  const visit = await browser.submit(page, '/auth/oauth2/authorize', { decision: 'allow' });
  assert.equal(visit.status, 303, 'Allow redirects');
  return new URL(visit.headers.get('location') ?? '');
}

/** An authorization code of a fresh grant. */
export async function obtainCode(
  service: TestService,
  browser: Browser,
  client: TestClient,
  parameters?: Record<string, string | undefined>,
): Promise<string> {
  return (await pressAllow(service, browser, client, parameters)).searchParams.get('code') ?? '';
}

/** The pair of a fresh grant. */
export async function obtainPair(
  service: TestService,
  browser: Browser,
  client: TestClient,
): Promise<{ accessToken: string; refreshToken: string }> {
  return pairOf(await exchange(service, client, await obtainCode(service, browser, client)));
}

/** Posts to the token endpoint; fields that are undefined are left out. */
export function exchange(
  service: TestService,
  client: TestClient,
  code: string,
  fields: Record<string, string | undefined> = {},
): Promise<JsonAnswer> {
  return postForm(`${service.appUrl}/api/auth/oauth/token`, {
    grant_type: 'authorization_code',
    code,
    client_id: client.clientId,
    client_secret: client.clientSecret,
    redirect_uri: REDIRECT_URI,
    ...fields,
  });
}

/** Posts to the refresh endpoint with the token in the header. */
export function refresh(
  service: TestService,
  client: TestClient,
  refreshToken: string,
  fields: Record<string, string | undefined> = {},
): Promise<JsonAnswer> {
  const body = {
    grant_type: 'refresh_token',
    client_id: client.clientId,
    client_secret: client.clientSecret,
    ...fields,
  };
  return postForm(`${service.appUrl}/api/auth/oauth/refreshToken`, body, { Authorization: `Bearer ${refreshToken}` });
}

/** Checks an access token. */
export async function me(service: TestService, accessToken: string): Promise<JsonAnswer> {
  return asJson(await fetch(`${service.apiUrl}/v2/me`, { headers: { Authorization: `Bearer ${accessToken}` } }));
}

/** The two tokens of an answer. */
export function pairOf({ status, body }: JsonAnswer): { accessToken: string; refreshToken: string } {
  assert.equal(status, 200, JSON.stringify(body));
  return { accessToken: String(body['access_token']), refreshToken: String(body['refresh_token']) };
}

/** Posts a form and reads the JSON that comes back; undefined fields are left out. */
export async function postForm(
  url: string,
  fields: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<JsonAnswer> {
  const sent = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return asJson(await fetch(url, { method: 'POST', headers, body: new URLSearchParams(sent) }));
}

/** Reads an answer as JSON. */
export async function asJson(response: Response): Promise<JsonAnswer> {
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

/** Posts JSON, or any bytes under any content type, and reads the JSON that comes back. */
export async function postBody(
  url: string,
  body: unknown,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
): Promise<JsonAnswer> {
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return asJson(await fetch(url, { method: 'POST', headers, body: bytes as string }));
}

/**
 * Asserts a refusal of a token endpoint to the letter: status, code, headers, and nothing but the two fields, or the third of
 * the standard face where a reason is told (RFC 6749 §5.2).
 */
export function assertRefused(answer: JsonAnswer, status: number, error: string, message?: string): void {
  assert.equal(`${answer.status} ${answer.body['error']}`, `${status} ${error}`, message);
  const { error_uri: where, ...fields } = answer.body;
  assert.deepEqual(Object.keys(fields), ['error', 'error_description'], message);
  assert.match(String(where), /^undefined$|\/developers#reason-[a-z-]+$/, message);
  assert.match(String(answer.body['error_description']), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, message);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/, message);
  assert.equal(answer.headers.get('cache-control'), 'no-store', message);
  assert.equal(answer.headers.get('pragma'), 'no-cache', message);
  assert.equal(
    answer.headers.get('www-authenticate')?.startsWith('Basic '),
    status === 401 ? true : undefined,
    message,
  );
}

/** The acts in the audit trail, oldest first. */
export async function auditActions({ installation }: TestService): Promise<string[]> {
  const events = await installation.audit.listAuditEvents({ limit: 1000 });
  return events.map(({ action }) => action).reverse();
}
