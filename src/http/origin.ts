/** What a request says of itself to throttles, logs and the audit trail. */
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { RequestOrigin } from '../oauth/client-authenticator.ts';
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
  return sourceOf(addresses.get(request.socket) ?? '', forwarded, service.isTrustedProxy);
}

/** A connection that was reset has no address any more, while what it sent is still read. */
const addresses = new WeakMap<Socket, string>();

/** Keeps the address of a new connection; one that has none any more is not served. */
export function keepAddress(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
  else addresses.set(socket, socket.remoteAddress);
}
