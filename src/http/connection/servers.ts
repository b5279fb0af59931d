/** The servers of a service: listening at its addresses, and stopping without failing anybody. */
import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { InstallationError } from '../../process/installation-error.ts';
import { ApiDescription } from '../api/openapi.ts';
import { buildListener, type Faces } from '../listener.ts';
import { boundedSource } from '../origin.ts';
import type { RequestLogger } from '../request-log.ts';
import type { Service } from '../service.ts';
import { OpenConnections } from './open-connections.ts';

/** Where to listen. */
export type ListenAddress = { readonly host: string; readonly port: number };

/**
 * How long after a stop began a connection may begin a request (ms). One may be on its way, and whoever sends one is told
 * that it was the last on this connection; what is silent for longer is a pool's, or a browser's that connects ahead.
 */
const LAST_REQUESTS_MS = 250;
/** Time for a proxy to let go of its idle connections first (ms). */
const PROXY_GOES_FIRST_MS = 1000;
/** So long doors stay open for those who wait there already, if there is never a moment without any (ms). */
const LET_IN_MS = 1000;
const DRAIN_MS = 10_000;
const LOOK_EVERY_MS = 50;

/** Where servers listen, and how long trusted proxies keep a connection on which nothing is asked (seconds). */
export type Listening = {
  readonly appListen: ListenAddress;
  readonly apiListen: ListenAddress;
  readonly proxyIdleTimeout: number;
};

/** Starts one server for each address, or one for both; resolves when they answer. Throws `InstallationError`. */
export async function startServers(
  service: Service,
  { appListen, apiListen, proxyIdleTimeout }: Listening,
  logger: RequestLogger,
): Promise<Servers> {
  const isOne = service.appUrl === service.apiUrl;
  const wanted: [Faces, ListenAddress][] = isOne
    ? [[{ app: true, api: true }, appListen]]
    : [
        [{ app: true, api: false }, appListen],
        [{ app: false, api: true }, apiListen],
      ];
  const description = new ApiDescription(service);
  const open = new OpenConnections({
    most: service.mostConnections,
    sourceOf: (socket) => boundedSource(socket),
    report: (sentence) => logger.warn(sentence),
  });
  const apps = await Promise.all(wanted.map(([faces]) => buildListener(service, faces, description, open, logger)));
  const servers = new Servers(apps, open, proxyIdleTimeout);
  for (const [index, [, address]] of wanted.entries()) {
    try {
      await servers.listen(apps[index] as FastifyInstance, address);
    } catch (error) {
      await servers.drain();
      throw new InstallationError([whyNotListening(address, error as NodeJS.ErrnoException)]);
    }
  }
  return servers;
}

function whyNotListening({ host, port }: ListenAddress, error: NodeJS.ErrnoException): string {
  const place = `${host}:${port}`;
  if (error.code === 'EADDRINUSE')
    return `${place} is in use: stop the other program, or set VALETKEY_APP_LISTEN and VALETKEY_API_LISTEN (or the URLs)`;
  if (error.code === 'EACCES')
    return `${place} may not be bound by this user: choose a port from 1024 on, with a proxy in front`;
  return `${place} cannot be bound (${error.code}): set VALETKEY_APP_LISTEN and VALETKEY_API_LISTEN to addresses of this machine`;
}

/** Servers that listen, with all connections to them. */
class Servers {
  readonly #apps: readonly FastifyInstance[];
  readonly #doors: net.Server[] = [];
  readonly #connections: OpenConnections;
  readonly #proxiesLetGoMs: number;

  constructor(apps: readonly FastifyInstance[], connections: OpenConnections, proxyIdleTimeout: number) {
    this.#apps = apps;
    this.#connections = connections;
    this.#proxiesLetGoMs = proxyIdleTimeout === 0 ? LAST_REQUESTS_MS : proxyIdleTimeout * 1000 + PROXY_GOES_FIRST_MS;
  }

  /** Listens for a server. Throws what the system says. */
  async listen(app: FastifyInstance, { host, port }: ListenAddress): Promise<void> {
    this.#doors.push(app.server);
    if (host !== 'localhost') return void (await app.listen({ host, port }));
    // Fastify would make a second server for the other address, of whose connections nothing is known here.
    await app.listen({ host: '127.0.0.1', port });
    await this.#listenToo(app, '::1', port);
  }

  /**
   * Takes no new connections, and ends each one as soon as its request is answered; after 10 seconds all that are left. A
   * proxy is not hung up on: it cannot send a POST again that set out while its idle connection was closed.
   */
  async drain(): Promise<void> {
    const closed = Promise.all(this.#doors.map((door) => once(door, 'close')));
    await this.#letIn();
    // Not HTTP's own `close`, which hangs up at once on those whose next request may be on its way.
    for (const door of this.#doors) net.Server.prototype.close.call(door);
    this.#connections.endAll(); // Not before, or whoever heard it would come in again.
    const start = performance.now();
    const looking = setInterval(() => {
      const waited = performance.now() - start;
      if (waited > DRAIN_MS) this.#connections.hangUp();
      // When what has come is read: where processors are scarce, that may be more than this process has seen.
      else if (waited > LAST_REQUESTS_MS)
        setImmediate(() => this.#connections.hangUpIdle(waited > this.#proxiesLetGoMs ? 'all' : 'all but proxies'));
    }, LOOK_EVERY_MS);
    await closed;
    clearInterval(looking);
    this.#connections.close();
    await Promise.all(this.#apps.map((app) => app.close()));
  }

  /**
   * Waits until nobody waits at a door, but not for long: whoever does is connected as far as they know, may have sent a
   * request, and would be cut off by its closing. In each turn of the event loop a door lets in one.
   */
  async #letIn(): Promise<void> {
    const start = performance.now();
    await nextTurn(); // What is left of the turn in which the signal came.
    let before: number;
    do {
      before = this.#connections.opened;
      await nextTurn();
    } while (this.#connections.opened > before && performance.now() - start < LET_IN_MS);
  }

  /** Hands what comes at one more address to a server; a machine may have no such address. */
  async #listenToo(app: FastifyInstance, host: string, port: number): Promise<void> {
    const take = (socket: net.Socket) => app.server.emit('connection', socket);
    const door = net.createServer({ allowHalfOpen: true, noDelay: true }, take).listen(port, host);
    try {
      await once(door, 'listening');
      this.#doors.push(door);
      app.log.info(`Server listening at http://[${host}]:${port}`);
    } catch (error) {
      if (!['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    }
  }
}
