/** A product that has the same host name as Valetkey: a proxy hands our paths on, and answers all others for the product. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { freePort, type Lifetime, startTestService, type TestService } from '../support/service.ts';

/** The base path of the pages. */
export const BASE = '/connect';
const OURS = /^\/(connect(\/|\?|$)|auth\/oauth2\/authorize|api\/auth\/oauth\/|oauth2\/|v2\/me$|\.well-known\/oauth-)/;

/** Pages of the product: `/apart` has a policy for its window, and `/isolated` another one as well. */
const OWN = ['/product', '/apart', '/isolated'];

/** What the product's service worker does with our paths: it hands them on, reads what was loaded ahead, or leaves them. */
const WORKERS = {
  'hands-on': 'event.respondWith(fetch(event.request))',
  'reads-ahead': 'event.respondWith(event.preloadResponse)',
  leaves: '',
};

/** Both, at one address. */
export type SharedHost = {
  readonly service: TestService;
  /** The paths that the product was asked for, beside its own. */
  readonly strays: string[];
};

/** Starts both. The product has a few pages, and service workers. */
export async function startSharedHost(t: Lifetime): Promise<SharedHost> {
  const [port, listen] = [await freePort(), await freePort()];
  const strays: string[] = [];
  const server = createServer((request, response) =>
    OURS.test(request.url ?? '') ? handOn(listen, request, response) : answer(strays, request, response),
  );
  await once(server.listen(port, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${port}`;
  const service = await startTestService(t, {
    VALETKEY_APP_URL: url,
    VALETKEY_API_URL: url,
    VALETKEY_APP_LISTEN: `127.0.0.1:${listen}`,
    VALETKEY_PAGES_BASE_PATH: BASE,
  });
  return { service: { ...service, appUrl: url, apiUrl: url }, strays };
}

function handOn(port: number, request: IncomingMessage, response: ServerResponse): void {
  const { method, url: path, rawHeaders: headers } = request;
  const handed = send({ host: '127.0.0.1', port, method, path, headers });
  handed.on('response', (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.rawHeaders);
    answered.pipe(response);
  });
  handed.on('error', () => response.destroy());
  request.pipe(handed);
}

function answer(strays: string[], { url = '' }: IncomingMessage, response: ServerResponse): void {
  const worker = Object.entries(WORKERS).find(([name]) => url === `/${name}.js`)?.[1];
  if (worker !== undefined) return void response.setHeader('Content-Type', 'text/javascript').end(scriptOf(worker));
  if (url === '/apart' || url === '/isolated') response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  if (url === '/isolated') response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
  if (!OWN.includes(url)) strays.push(url);
  response
    .setHeader('Content-Type', 'text/html')
    .end('<title>product</title><link rel="icon" href="data:,"><h1>product</h1>');
}

function scriptOf(worker: string): string {
  return `addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) =>
  event.waitUntil(Promise.all([clients.claim(), registration.navigationPreload.enable()])));
addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate' && !event.request.url.endsWith('/product')) { ${worker} }
});`;
}
