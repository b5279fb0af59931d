/**
 * A small load balancer: each request goes to the next instance that is ready. It says for whom it forwards, and its own
 * header tells which instance answered. What it cannot do, as TLS or weights, is no matter of the service's.
 */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request as requestTo,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { listenFrom } from '../free-ports.ts';

/** An instance as the balancer reaches it: the addresses where it listens. */
export type Backend = { readonly name: string; readonly appUrl: string; readonly apiUrl: string };

/**
 * An event of the balancer: an answer (with the path, without its query), or an instance that became ready or is not
 * ready any more.
 */
export type BalancerEvent =
  | { readonly kind: 'answer'; readonly name: string; readonly method: string; readonly path: string; status: number }
  | { readonly kind: 'ready' | 'not ready'; readonly name: string };

/** The header, in lower case, that names the instance that answered. */
export const SERVED_BY = 'x-served-by';

const PROBE_EVERY_MS = 500;
const PROBE_TIMEOUT_MS = 2000;
/** Timeout of an instance that says nothing (ms); the stream of revocations always says something. */
const SILENCE_MS = 20_000;
/** Headers of one connection, which are not passed on (RFC 9110 §7.6.1). */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

type Face = 'appUrl' | 'apiUrl';

/** A balancer with one address for the pages and the token endpoints, and one for the API. */
export class Balancer {
  readonly appUrl: string;
  readonly apiUrl: string;
  readonly #fronts: readonly Server[];
  readonly #tell: (event: BalancerEvent) => void;
  readonly #backends: Backend[] = [];
  readonly #ready = new Set<Backend>();
  readonly #stopping = new AbortController();
  #turn = 0;

  private constructor(fronts: readonly [Server, Server], tell: (event: BalancerEvent) => void) {
    this.#fronts = fronts;
    this.#tell = tell;
    const [app, api] = fronts;
    this.appUrl = urlOf(app);
    this.apiUrl = urlOf(api);
    app.on('request', (request, response) => this.#forward('appUrl', request, response));
    api.on('request', (request, response) => this.#forward('apiUrl', request, response));
  }

  /** Listens at two ports on loopback, or at the next free ones; 0 for any. */
  static async start(ports: readonly [number, number], tell: (event: BalancerEvent) => void): Promise<Balancer> {
    return new Balancer([await listenFrom(ports[0]), await listenFrom(ports[1])], tell);
  }

  /** Takes in an instance that is ready, and looks at it twice a second from now on. */
  add(backend: Backend): void {
    this.#backends.push(backend);
    this.#ready.add(backend);
    void this.#watch(backend);
  }

  /** Hangs up on everybody, and stops listening. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(
      this.#fronts.map((server) => {
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeAllConnections();
        return closed;
      }),
    );
  }

  async #watch(backend: Backend): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
      const answer = await fetch(`${backend.appUrl}/readyz`, { signal: timeout }).catch(() => null);
      await answer?.body?.cancel();
      if (!signal.aborted) this.#mark(backend, answer?.ok === true);
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS).unref());
    }
  }

  #mark(backend: Backend, isReady: boolean): void {
    if (this.#ready.has(backend) === isReady) return;
    if (isReady) this.#ready.add(backend);
    else this.#ready.delete(backend);
    this.#tell({ kind: isReady ? 'ready' : 'not ready', name: backend.name });
  }

  /** The next one that is ready. */
  #next(): Backend | undefined {
    for (let tried = 0; tried < this.#backends.length; tried++) {
      const backend = this.#backends[this.#turn++ % this.#backends.length] as Backend;
      if (this.#ready.has(backend)) return backend;
    }
    return undefined;
  }

  /**
   * Hands a request to the next instance. One that takes no connection is passed over, and so is one that hangs up on a
   * request that may be asked again (RFC 9110 §9.2.1) before it answers: whoever is killed may take connections to the last.
   */
  #forward(face: Face, request: IncomingMessage, response: ServerResponse): void {
    const backend = this.#next();
    if (!backend) {
      refuse(response, 503);
      return;
    }
    const forwarded = requestTo(optionsFor(backend[face], request));
    let mayGoOn = true;
    if (isSafe(request)) forwarded.end();
    else {
      // Nothing of the body is taken before there is somebody to take it, so that it can still go to the next one.
      forwarded.on('socket', (socket) =>
        socket.once('connect', () => {
          mayGoOn = false;
          pipeline(request, forwarded, () => {});
        }),
      );
    }
    forwarded.on('response', (answer) => {
      mayGoOn = false;
      this.#answer(backend, request, answer, response);
    });
    forwarded.on('timeout', () => forwarded.destroy());
    forwarded.on('error', () => {
      if (!mayGoOn || response.destroyed) {
        refuse(response, 502);
        return;
      }
      this.#mark(backend, false);
      this.#forward(face, request, response);
    });
    response.once('close', () => forwarded.destroy());
  }

  #answer({ name }: Backend, request: IncomingMessage, answer: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = request;
    const { statusCode: status = 502 } = answer;
    this.#tell({ kind: 'answer', name, method, path: url.replace(/\?.*/s, ''), status });
    response.writeHead(status, { ...endToEnd(answer.headers), [SERVED_BY]: name });
    pipeline(answer, response, () => {});
  }
}

function optionsFor(backendUrl: string, { method, url, headers, socket }: IncomingMessage): RequestOptions {
  const { hostname, port } = new URL(backendUrl);
  const forwardedHeaders = { ...endToEnd(headers), 'x-forwarded-for': socket.remoteAddress };
  return { hostname, port, method, path: url, headers: forwardedHeaders, agent: false, timeout: SILENCE_MS };
}

/** True if a request changes nothing and has no body that could have been sent already. */
function isSafe({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return (method === 'GET' || method === 'HEAD') && !hasBody;
}

function urlOf(server: Server): string {
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
}

function refuse(response: ServerResponse, status: 502 | 503): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { 'Retry-After': 1, 'Cache-Control': 'no-store' }).end();
}
