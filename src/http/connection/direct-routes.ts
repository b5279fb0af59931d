/**
 * The endpoints that are answered on the connection itself, without Fastify. They are asked thousands of times a
 * second, and Node.js and Fastify cost more than their own work (decision 0029). Both ways call the same endpoints.
 */
import type { FastifyInstance } from 'fastify';
import type { Route } from './direct-request.ts';

/** Direct endpoints by request line, such as `POST /oauth2/token HTTP/1.1`. */
export type DirectRoutes = ReadonlyMap<string, Route>;

/** Collects the endpoints that are added to a server from now on. */
export function collectDirectRoutes(app: FastifyInstance): DirectRoutes {
  const routes = new Map<string, Route>();
  app.addHook('onRoute', ({ url: path, method, config }) => {
    // HEAD, which Fastify adds to each GET, is rare, and is left to Node.js.
    if (config?.direct && typeof method === 'string' && method !== 'HEAD')
      routes.set(`${method} ${path} HTTP/1.1`, { method, path, ...config.direct });
  });
  return routes;
}
