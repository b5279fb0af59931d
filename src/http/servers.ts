/** The servers of a service: they listen at its addresses, and stop without failing a request. */
import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Fault, InstallationError } from '../process/installation-error.ts';
import { ApiDescription, documentFrame } from './api/openapi.ts';
import { OpenConnections } from './connection/open-connections.ts';
import { boundedSource } from './request/origin.ts';
import type { RequestLogger } from './request/request-log.ts';
import { buildServer, type Face } from './server.ts';
import type { Service } from './service/service.ts';

/** An address to listen at. */
export type ListenAddress = { readonly host: string; readonly port: number };

/**
 * Timeout of idle connections during a stop (ms). A request may be on its way, and its answer says that it was the
 * last. A connection that is silent for longer is in a pool, or a browser opened it ahead of need.
 */
const LAST_REQUESTS_MS = 250;
/** Added to a proxy's idle timeout, so that it closes its connections first (ms). */
const PROXY_GOES_FIRST_MS = 1000;
/** Maximum time to accept waiting connections, if more keep coming (ms). */
const ACCEPT_TIMEOUT_MS = 1000;
/** Number of turns in a row without a new connection after which none waits. The first ones may read much input. */
const EMPTY_TURNS = 8;
/**
 * Number of connections that the kernel holds until they are accepted; it may allow fewer. Beyond it, the kernel turns them away
 * for a second, or holds them half open, where a stop cannot reach them. Node.js has 511.
 */
const BACKLOG = 4096;
const DRAIN_TIMEOUT_MS = 10_000;
const CHECK_EVERY_MS = 50;

/** The listening addresses, and the keep-alive timeout of trusted proxies (s). */
export type Listening = {
  readonly appListen: ListenAddress;
  readonly apiListen: ListenAddress;
  readonly operatorListen: ListenAddress;
  readonly proxyIdleTimeout: number;
};

/** Starts one server per address, or one for the users' two; resolves when they accept requests. Throws `InstallationError`. */
export async function startServers(
  service: Service,
  { appListen, apiListen, operatorListen, proxyIdleTimeout }: Listening,
  logger: RequestLogger,
): Promise<Servers> {
  const isOne = service.appUrl === service.apiUrl;
  const wanted: [readonly Face[], ListenAddress][] = isOne
    ? [[['app', 'api'], appListen]]
    : [
        [['app'], appListen],
        [['api'], apiListen],
      ];
  if (service.operatorUrl !== null) wanted.push([['operator'], operatorListen]);
  const description = new ApiDescription(documentFrame(service));
  const open = new OpenConnections({
    max: service.maxConnections,
    sourceOf: (socket) => boundedSource(socket),
    report: (sentence) => logger.warn(sentence),
  });
  const apps = await Promise.all(wanted.map(([faces]) => buildServer(service, faces, description, open, logger)));
  const servers = new Servers(apps, open, proxyIdleTimeout);
  for (const [index, [faces, address]] of wanted.entries()) {
    try {
      await servers.listen(apps[index] as FastifyInstance, address);
    } catch (error) {
      await servers.drain();
      throw new InstallationError(whyNotListening(faces, address, error as NodeJS.ErrnoException));
    }
  }
  return servers;
}

function whyNotListening(faces: readonly Face[], { host, port }: ListenAddress, error: NodeJS.ErrnoException): Fault {
  const place = `${host}:${port}`;
  const isOperators = faces.includes('operator');
  const variables = isOperators ? 'VALETKEY_OPERATOR_LISTEN' : 'VALETKEY_APP_LISTEN and VALETKEY_API_LISTEN';
  if (error.code === 'EADDRINUSE')
    return {
      problem: `${place} is in use`,
      remedy: `stop the other program, or set ${variables} (or the URL${isOperators ? '' : 's'})`,
    };
  if (error.code === 'EACCES')
    return {
      problem: `${place} may not be bound by this user`,
      remedy: 'choose a port from 1024 on, with a proxy in front',
    };
  return {
    problem: `${place} cannot be bound (${error.code})`,
    remedy: `set ${variables} to ${isOperators ? 'an address' : 'addresses'} of this machine`,
  };
}

/** Servers that listen, with all connections to them. */
class Servers {
  readonly #apps: readonly FastifyInstance[];
  readonly #listeners: net.Server[] = [];
  readonly #connections: OpenConnections;
  readonly #proxiesLetGoMs: number;

  constructor(apps: readonly FastifyInstance[], connections: OpenConnections, proxyIdleTimeout: number) {
    this.#apps = apps;
    this.#connections = connections;
    this.#proxiesLetGoMs = proxyIdleTimeout === 0 ? LAST_REQUESTS_MS : proxyIdleTimeout * 1000 + PROXY_GOES_FIRST_MS;
  }

  /** Returns the number of open connections, and of all connections ever opened. */
  connections(): { open: number; opened: number } {
    return { open: this.#connections.size, opened: this.#connections.opened };
  }

  /** Listens for a server. Throws the system's error. */
  async listen(app: FastifyInstance, { host, port }: ListenAddress): Promise<void> {
    this.#listeners.push(app.server);
    if (host !== 'localhost') return void (await app.listen({ host, port, backlog: BACKLOG }));
    // With Fastify's own `listen` on both addresses, a second server's connections would be unknown here.
    await app.listen({ host: '127.0.0.1', port, backlog: BACKLOG });
    await this.#listenToo(app, '::1', port);
  }

  /**
   * Accepts no new connections, and ends each one when its request is answered; after 10 seconds, all. A proxy's idle
   * connections stay open until its timeout: it may send a POST while we close, and cannot repeat that.
   */
  async drain(): Promise<void> {
    const closed = Promise.all(this.#listeners.map((listener) => once(listener, 'close')));
    await this.#acceptWaiting();
    // Not HTTP's own `close`, which ends idle connections at once although a request may be on its way.
    for (const listener of this.#listeners) net.Server.prototype.close.call(listener);
    this.#connections.isAccepting = false;
    this.#connections.endAll(); // Not before: a client whose connection ends would open another one.
    const start = performance.now();
    const checking = setInterval(() => {
      const waited = performance.now() - start;
      if (waited > DRAIN_TIMEOUT_MS) this.#connections.closeAll();
      // Check after reading this turn's input: on a busy machine, requests may have come that are not read yet.
      else if (waited > LAST_REQUESTS_MS)
        setImmediate(() => this.#connections.closeIdle(waited > this.#proxiesLetGoMs ? 'all' : 'all but proxies'));
    }, CHECK_EVERY_MS);
    await closed;
    clearInterval(checking);
    this.#connections.stopChecks();
    await Promise.all(this.#apps.map((app) => app.close()));
  }

  /**
   * Accepts the connections that the kernel already holds, for a limited time. For its client such a connection is
   * open, and may carry a request, which closing the listener would cut off. Each turn of the event loop accepts one, so
   * the requests wait meanwhile: a turn that handles them takes longer than it takes until the next connection comes.
   */
  async #acceptWaiting(): Promise<void> {
    const start = performance.now();
    this.#connections.isAccepting = true;
    await nextTurn(); // The rest of the turn in which the signal came.
    for (let empty = 0; empty < EMPTY_TURNS && performance.now() - start < ACCEPT_TIMEOUT_MS; ) {
      const before = this.#connections.opened;
      await nextTurn();
      empty = this.#connections.opened > before ? 0 : empty + 1;
    }
  }

  /** Also accepts connections for a server at another address, unless the machine has no such address. */
  async #listenToo(app: FastifyInstance, host: string, port: number): Promise<void> {
    const take = (socket: net.Socket) => app.server.emit('connection', socket);
    const listener = net
      .createServer({ allowHalfOpen: true, noDelay: true }, take)
      .listen({ port, host, backlog: BACKLOG });
    try {
      await once(listener, 'listening');
      this.#listeners.push(listener);
      app.log.info(`Server listening at http://[${host}]:${port}`);
    } catch (error) {
      if (!['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    }
  }
}
