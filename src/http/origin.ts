/** What a request says of itself to throttles, logs and the audit trail. */
import type { FastifyRequest } from 'fastify';
import type { RequestOrigin } from '../oauth/authorization-server.ts';
import type { Service } from './service.ts';
import { sourceOf } from './source.ts';

/** The source and the id of a request. */
export function originOf(service: Service, request: FastifyRequest): RequestOrigin {
  return { source: request.source ?? readSource(service, request), requestId: request.id };
}

/** The source of a request, from its socket and headers. */
export function readSource(service: Service, request: FastifyRequest): string {
  const forwardedFor = request.headers['x-forwarded-for'];
  const forwarded = Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor;
  return sourceOf(request.socket.remoteAddress ?? '', forwarded, service.isTrustedProxy);
}
