/** The origin of a request, for throttles, logs and the audit trail. */
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import type { Seen } from '../../oauth/keys/doctor-pass.ts';
import type { Service } from '../service/service.ts';
import { plainAddress, sourceOf } from './source.ts';

/** Returns the source and the id of a request. */
export function originOf({ id, source }: Pick<FastifyRequest, 'id' | 'source'>): RequestOrigin {
  return { source, requestId: id };
}

/** Returns the source of a request, from its connection and `X-Forwarded-For`. */
export function readSource(service: Service, socket: Socket, forwardedFor: string | string[] | undefined): string {
  const peer = peers.get(socket) ?? NOBODY;
  if (forwardedFor === undefined) return peer.source;
  const forwarded = Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor;
  return sourceOf(peer.address, forwarded, service.isTrustedProxy);
}

/** Returns the source that a connection counts for; null for a trusted proxy's, which many people share. */
export function boundedSource(socket: Socket): string | null {
  const { source, isProxy } = peers.get(socket) ?? NOBODY;
  return isProxy ? null : source;
}

/** True if a trusted proxy says that the request came by plain http; of several values, the last is the proxy's own. */
export function cameByPlainHttp(socket: Socket, forwardedProto: string | string[] | undefined): boolean {
  if (forwardedProto === undefined || !peers.get(socket)?.isProxy) return false;
  return String(forwardedProto).split(',').at(-1)?.trim().toLowerCase() === 'http';
}

/** Returns the request as it arrived through a proxy, for the doctor; without `authorization`. */
export function asArrived(request: FastifyRequest): Seen {
  const { headers, socket, url = '', httpVersion } = request.raw;
  const { address, isProxy } = peers.get(socket) ?? NOBODY;
  const text = (name: string) => (headers[name] === undefined ? null : String(headers[name]));
  return {
    source: request.source,
    peer: address,
    peer_is_trusted: isProxy,
    forwarded_for: text('x-forwarded-for'),
    forwarded_proto: text('x-forwarded-proto'),
    host: text('host'),
    target: url,
    http_version: httpVersion,
    connection: text('connection'),
    cookie: text('cookie'),
    has_authorization: headers.authorization !== undefined,
  };
}

/** The other end of a connection; `source` is that of a request without `X-Forwarded-For`. */
type Peer = { readonly address: string; readonly source: string; readonly isProxy: boolean };

const NOBODY: Peer = { address: '', source: '', isProxy: false };

/** By socket: a reset connection has no address any more, but its input is still read. */
const peers = new WeakMap<Socket, Peer>();

/** Notes the address of a new connection; one without an address any more is not served. */
export function rememberSource(service: Service, socket: Socket): void {
  if (socket.remoteAddress === undefined) return void socket.destroy();
  const address = plainAddress(socket.remoteAddress);
  const source = sourceOf(address, undefined, service.isTrustedProxy);
  peers.set(socket, { address, source, isProxy: service.isTrustedProxy(address) });
}
