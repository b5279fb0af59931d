/** The servers of a service: listening at its addresses, and stopping without failing anybody. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { Refused } from '../refused.ts';
import { buildListener, type Faces } from './listener.ts';
import { ApiDescription } from './openapi.ts';
import type { Service } from './service.ts';

/** Where to listen. */
export type ListenAddress = { readonly host: string; readonly port: number };

const DRAIN_MS = 10_000;

/** Starts one server for each address, or one for both; resolves when they answer. Throws `Refused`. */
export async function startServers(
  service: Service,
  { appListen, apiListen }: { readonly appListen: ListenAddress; readonly apiListen: ListenAddress },
  logger: FastifyBaseLogger,
): Promise<FastifyInstance[]> {
  const isOne = service.appUrl === service.apiUrl;
  const wanted: [Faces, ListenAddress][] = isOne
    ? [[{ app: true, api: true }, appListen]]
    : [
        [{ app: true, api: false }, appListen],
        [{ app: false, api: true }, apiListen],
      ];
  const description = new ApiDescription(service);
  const servers = await Promise.all(wanted.map(([faces]) => buildListener(service, faces, description, logger)));
  for (const [index, [, address]] of wanted.entries()) {
    try {
      await servers[index]?.listen(address);
    } catch (error) {
      await Promise.all(servers.map((server) => server.close()));
      throw new Refused([whyNotListening(address, error as NodeJS.ErrnoException)]);
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

/** Takes no new connections, and ends each one as soon as its request is answered; after 10 seconds all that are left. */
export async function drain(servers: readonly FastifyInstance[]): Promise<void> {
  const drained = Promise.all(servers.map((server) => server.close()));
  const reaping = setInterval(() => {
    for (const { server } of servers) server.closeIdleConnections();
  }, 50);
  const ending = setTimeout(() => {
    for (const { server } of servers) server.closeAllConnections();
  }, DRAIN_MS);
  await drained;
  clearInterval(reaping);
  clearTimeout(ending);
}
