/** A small site on a server of its own, as those of the demonstration are: routes, a cookie, forms from its own pages alone. */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Html } from '../src/pages/html/html.ts';

/** Answers one request; `site` is what all handlers of a site share. */
export type Handler<Site> = (site: Site, request: IncomingMessage, response: ServerResponse, url: URL) => unknown;

/** The parts of a site. */
export type SiteParts<Site> = {
  readonly site: Site;
  /** Its one address. */
  readonly origin: string;
  /** By method and path, such as `GET /`. */
  readonly routes: Readonly<Record<string, Handler<Site>>>;
  /** The targets of its forms, in a Content-Security-Policy's words; null for any. */
  readonly formTargets: readonly string[] | null;
  readonly refuse: (response: ServerResponse, status: 403 | 404) => void;
};

/** Answers with a site on a server that listens; the returned function stops it. */
export function runSite<Site>(server: Server, parts: SiteParts<Site>): () => Promise<void> {
  server.on('request', (request, response) => answer(parts, request, response));
  return async () => {
    const closed = once(server.close(), 'close');
    server.closeAllConnections();
    await closed;
  };
}

async function answer<Site>(
  { site, origin, routes, formTargets, refuse }: SiteParts<Site>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = URL.parse(request.url ?? '/', origin);
  response.setHeaders(securityHeaders(formTargets));
  // Under another name, such as localhost, this browser would have another cookie, and a callback would not know it.
  if (request.headers.host !== new URL(origin).host) return redirect(response, origin);
  if (request.method === 'POST' && request.headers.origin !== origin) return refuse(response, 403);
  const handler = routes[`${request.method} ${url?.pathname}`];
  if (!url || !handler) return refuse(response, 404);
  await handler(site, request, response, url);
}

/** Returns the value of a cookie of the request; empty if absent. */
export function cookieOf({ headers }: IncomingMessage, name: string): string {
  const cookies = headers.cookie?.split('; ').map((cookie) => cookie.split('=')) ?? [];
  return cookies.find(([own]) => own === name)?.[1] ?? '';
}

/** Gives the browser a cookie that ends with it. */
export function setCookie(response: ServerResponse, name: string, value: string): void {
  response.setHeader('Set-Cookie', `${name}=${value}; HttpOnly; SameSite=Lax; Path=/`);
}

/** The fields of a form that was posted. */
export async function fieldsOf(request: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams(await text(request));
}

/** Sends a page. */
export function sendPage(response: ServerResponse, status: number, page: Html): void {
  response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8' }).end(String(page));
}

/** Sends a stylesheet. */
export function sendStylesheet(response: ServerResponse, stylesheet: string): void {
  response.setHeader('Content-Type', 'text/css; charset=utf-8').end(stylesheet);
}

/** Sends the browser on, with a GET. */
export function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location }).end();
}

/** Browsers hold `form-action` against a form's whole chain of redirects. */
function securityHeaders(formTargets: readonly string[] | null): Map<string, string> {
  const forms = formTargets === null ? '' : ` form-action ${formTargets.join(' ')};`;
  return new Map([
    [
      'Content-Security-Policy',
      `default-src 'none'; style-src 'self'; img-src data:;${forms} base-uri 'none'; frame-ancestors 'none'`,
    ],
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'same-origin'],
    ['Cache-Control', 'no-store'],
  ]);
}
