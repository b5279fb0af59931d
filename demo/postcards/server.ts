/** Postcards: another company's app, on a server of its own, that asks for access through Valetkey. */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Html } from '../../src/pages/html.ts';
import { connectedPage } from './connected-page.ts';
import { type Message, messagePage } from './message-page.ts';
import { startPage } from './start-page.ts';
import { stylesheet } from './stylesheet.ts';
import { type Registration, Valetkey } from './valetkey.ts';
import { Visits } from './visit.ts';

/** A running Postcards. */
export type RunningPostcards = { readonly url: string; stop(): Promise<void> };

type Handler = (postcards: Postcards, request: IncomingMessage, response: ServerResponse, url: URL) => unknown;

const COOKIE = 'postcards_visit';

const ROUTES: Readonly<Record<string, Handler>> = {
  'GET /': (_postcards, _request, response) => send(response, 200, startPage()),
  'GET /postcards.css': (_postcards, _request, response) =>
    response.setHeader('Content-Type', 'text/css; charset=utf-8').end(stylesheet),
  'POST /connect': connect,
  'GET /callback': callback,
  'GET /connected': connected,
  'POST /check': check,
  'POST /refresh': refresh,
};

/** Runs Postcards on a server that listens at the host and port of its redirect URI. */
export function runPostcards(server: Server, registration: Registration): RunningPostcards {
  const { origin } = new URL(registration.redirectUri);
  const postcards = { registration, origin, valetkey: new Valetkey(registration), visits: new Visits() };
  server.on('request', (request, response) => answer(postcards, request, response));
  const stop = async () => {
    const closed = once(server.close(), 'close');
    server.closeAllConnections();
    await closed;
  };
  return { url: origin, stop };
}

type Postcards = {
  readonly registration: Registration;
  readonly origin: string;
  readonly valetkey: Valetkey;
  readonly visits: Visits;
};

async function answer(postcards: Postcards, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { registration, origin } = postcards;
  const url = URL.parse(request.url ?? '/', origin);
  response.setHeaders(securityHeaders(registration.appUrl));
  // Under another name, such as localhost, this browser would have another cookie, and the callback would not know it.
  if (request.headers.host !== new URL(origin).host) return redirect(response, origin);
  if (request.method === 'POST' && request.headers.origin !== origin) return sendMessage(response, 403, 'foreign_form');
  const handler = ROUTES[`${request.method} ${url?.pathname}`];
  if (!url || !handler) return sendMessage(response, 404, 'not_found');
  await handler(postcards, request, response, url);
}

function connect({ valetkey, visits }: Postcards, _request: IncomingMessage, response: ServerResponse): void {
  const { id, visit } = visits.begin();
  response.setHeader('Set-Cookie', `${COOKIE}=${id}; HttpOnly; SameSite=Lax; Path=/`);
  redirect(response, valetkey.authorizationUrl(visit.state, visit.codeChallenge));
}

/** Where Valetkey sends the browser back to (RFC 6749 §4.1.2). The state comes first: an answer to nobody's question is none. */
async function callback(
  { valetkey, visits }: Postcards,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const visit = visits.find(visitId(request));
  if (!visit?.takeAnswer(url.searchParams.get('state') ?? '')) return sendMessage(response, 400, 'foreign_answer');
  const error = url.searchParams.get('error');
  if (error !== null) return sendMessage(response, 200, error === 'access_denied' ? 'denied' : 'refused', error);
  visit.callbackUrl = url.href;
  const { exchange, token } = await valetkey.exchangeCode(url.searchParams.get('code') ?? '', visit.codeVerifier);
  visit.note('exchange', exchange);
  visit.token = token;
  if (token) visit.note('check', await valetkey.check(token));
  redirect(response, '/connected');
}

function connected({ registration, valetkey, visits }: Postcards, request: IncomingMessage, response: ServerResponse) {
  const visit = visits.find(visitId(request));
  if (!visit || visit.calls.length === 0) return redirect(response, '/');
  const authorizationUrl = valetkey.authorizationUrl(visit.state, visit.codeChallenge);
  send(response, 200, connectedPage({ visit, authorizationUrl, appsUrl: `${registration.appUrl}/account/apps` }));
}

async function check({ valetkey, visits }: Postcards, request: IncomingMessage, response: ServerResponse) {
  const visit = visits.find(visitId(request));
  if (visit?.token) visit.note('check', await valetkey.check(visit.token));
  redirect(response, '/connected');
}

async function refresh({ valetkey, visits }: Postcards, request: IncomingMessage, response: ServerResponse) {
  const visit = visits.find(visitId(request));
  if (visit?.token) {
    const { exchange, token } = await valetkey.refresh(visit.token);
    visit.note('refresh', exchange);
    visit.token = token ?? visit.token;
  }
  redirect(response, '/connected');
}

function visitId({ headers }: IncomingMessage): string {
  const cookies = headers.cookie?.split('; ').map((cookie) => cookie.split('=')) ?? [];
  return cookies.find(([name]) => name === COOKIE)?.[1] ?? '';
}

function send(response: ServerResponse, status: number, page: Html): void {
  response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8' }).end(String(page));
}

function sendMessage(response: ServerResponse, status: number, message: Message, error?: string): void {
  send(response, status, messagePage(message, error));
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location }).end();
}

/** Browsers hold `form-action` against a form's whole chain of redirects, so Valetkey is in it. */
function securityHeaders(appUrl: string): Map<string, string> {
  return new Map([
    [
      'Content-Security-Policy',
      `default-src 'none'; style-src 'self'; img-src data:; form-action 'self' ${appUrl}; base-uri 'none'; frame-ancestors 'none'`,
    ],
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'same-origin'],
    ['Cache-Control', 'no-store'],
  ]);
}
