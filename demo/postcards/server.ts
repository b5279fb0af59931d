/** Postcards: another company's app, on a server of its own, that asks for access through Valetkey. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { cookieOf, type Handler, redirect, runSite, sendPage, sendStylesheet, setCookie } from '../site.ts';
import type { AccountsPlace } from './accounts-place.ts';
import { connectedPage } from './connected-page.ts';
import { type Message, messagePage } from './message-page.ts';
import { startPage } from './start-page.ts';
import { stylesheet } from './stylesheet.ts';
import { type Registration, Valetkey } from './valetkey.ts';
import { type Visit, Visits } from './visit.ts';

/** A running Postcards. */
export type RunningPostcards = { readonly url: string; stop(): Promise<void> };

const COOKIE = 'postcards_visit';

const ROUTES: Readonly<Record<string, Handler<Postcards>>> = {
  'GET /': ({ accounts }, _request, response) => sendPage(response, 200, startPage(accounts.name)),
  'GET /postcards.css': (_postcards, _request, response) => sendStylesheet(response, stylesheet),
  'POST /connect': connect,
  'GET /callback': callback,
  'GET /connected': connected,
  'POST /check': check,
  'POST /refresh': refresh,
};

/** Runs Postcards on a server that listens at the host and port of its redirect URI. */
export function runPostcards(
  server: Server,
  registration: Registration,
  accounts: AccountsPlace = { name: 'Valetkey', appsUrl: `${registration.appUrl}/account/apps` },
): RunningPostcards {
  const { origin } = new URL(registration.redirectUri);
  const stop = runSite(server, {
    site: { accounts, valetkey: new Valetkey(registration), visits: new Visits() },
    origin,
    routes: ROUTES,
    // Its one button leads through Valetkey, and from there to whoever signs people in.
    formTargets: ["'self'", registration.appUrl, new URL(accounts.appsUrl).origin],
    refuse: (response, status) =>
      sendMessage(accounts, response, status, status === 403 ? 'foreign_form' : 'not_found'),
  });
  return { url: origin, stop };
}

type Postcards = { readonly accounts: AccountsPlace; readonly valetkey: Valetkey; readonly visits: Visits };

function connect({ valetkey, visits }: Postcards, _request: IncomingMessage, response: ServerResponse): void {
  const { id, visit } = visits.begin();
  setCookie(response, COOKIE, id);
  redirect(response, valetkey.authorizationUrl(visit.state, visit.codeChallenge));
}

/** The redirect URI (RFC 6749 §4.1.2). Checks the state first: an answer without a request is ignored. */
async function callback(
  postcards: Postcards,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const { accounts, valetkey } = postcards;
  const visit = visitOf(postcards, request);
  if (!visit?.takeAnswer(url.searchParams.get('state') ?? ''))
    return sendMessage(accounts, response, 400, 'foreign_answer');
  const error = url.searchParams.get('error');
  if (error !== null)
    return sendMessage(accounts, response, 200, error === 'access_denied' ? 'denied' : 'refused', error);
  visit.callbackUrl = url.href;
  const { exchange, token } = await valetkey.exchangeCode(url.searchParams.get('code') ?? '', visit.codeVerifier);
  visit.note('exchange', exchange);
  visit.token = token;
  if (token) visit.note('check', await valetkey.check(token));
  redirect(response, '/connected');
}

function connected(postcards: Postcards, request: IncomingMessage, response: ServerResponse) {
  const { accounts, valetkey } = postcards;
  const visit = visitOf(postcards, request);
  if (!visit || visit.calls.length === 0) return redirect(response, '/');
  const authorizationUrl = valetkey.authorizationUrl(visit.state, visit.codeChallenge);
  sendPage(response, 200, connectedPage({ visit, authorizationUrl, accounts }));
}

async function check(postcards: Postcards, request: IncomingMessage, response: ServerResponse) {
  const visit = visitOf(postcards, request);
  if (visit?.token) visit.note('check', await postcards.valetkey.check(visit.token));
  redirect(response, '/connected');
}

async function refresh(postcards: Postcards, request: IncomingMessage, response: ServerResponse) {
  const visit = visitOf(postcards, request);
  if (visit?.token) {
    const { exchange, token } = await postcards.valetkey.refresh(visit.token);
    visit.note('refresh', exchange);
    visit.token = token ?? visit.token;
  }
  redirect(response, '/connected');
}

function visitOf({ visits }: Postcards, request: IncomingMessage): Visit | undefined {
  return visits.find(cookieOf(request, COOKIE));
}

function sendMessage(
  { name }: AccountsPlace,
  response: ServerResponse,
  status: number,
  message: Message,
  error?: string,
): void {
  sendPage(response, status, messagePage(name, message, error));
}
