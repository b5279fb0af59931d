/**
 * The endpoints for programs that are answered on the connection itself. What Node.js and Fastify make of each request would
 * cost more than those of them do that are asked thousands of times a second (decision 0029). Both ways call the same
 * endpoints.
 */
import type { FastifyInstance } from 'fastify';
import type { Route } from './direct-request.ts';

/** They by request line, as `POST /oauth2/token HTTP/1.1`. */
export type DirectRoutes = ReadonlyMap<string, Route>;

/** Collects the endpoints that are added to a server from now on. */
export function collectDirectRoutes(app: FastifyInstance): DirectRoutes {
  const routes = new Map<string, Route>();
  app.addHook('onRoute', ({ url: path, method, config }) => {
    if (config?.direct && typeof method === 'string')
      routes.set(`${method} ${path} HTTP/1.1`, { method, path, ...config.direct });
  });
  return routes;
}
