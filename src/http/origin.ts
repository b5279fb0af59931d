/** Where a request comes from, for throttles, logs and the audit trail. */
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { RequestOrigin } from '../oauth/clients/client-authenticator.ts';
import type { Seen } from '../oauth/keys/doctor-pass.ts';
import type { Service } from './service.ts';
import { plainAddress, sourceOf } from './source.ts';

/** The source and the id of a request. */
export function originOf({ id, source }: Pick<FastifyRequest, 'id' | 'source'>): RequestOrigin {
  return { source, requestId: id };
}

/** The source of a request, from its connection and `X-Forwarded-For`. */
export function readSource(service: Service, socket: Socket, forwardedFor: string | string[] | undefined): string {
  const peer = peers.get(socket) ?? NOBODY;
  if (forwardedFor === undefined) return peer.source;
  const forwarded = Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor;
  return sourceOf(peer.address, forwarded, service.isTrustedProxy);
}

/** The source by which a connection is counted; null for that of a trusted proxy, which many people share. */
export function boundedSource(socket: Socket): string | null {
  const { source, isProxy } = peers.get(socket) ?? NOBODY;
  return isProxy ? null : source;
}

/** Whether a trusted proxy says that a request came to it by plain http; of several values the last is its own. */
export function cameByPlainHttp(socket: Socket, forwardedProto: string | string[] | undefined): boolean {
  if (forwardedProto === undefined || !peers.get(socket)?.isProxy) return false;
  return String(forwardedProto).split(',').at(-1)?.trim().toLowerCase() === 'http';
}

/** What a service saw of a request, for the doctor: what a proxy in front made of it. Only `authorization` is not told. */
export function seenOf(request: FastifyRequest): Seen {
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

/** Kept by socket: a connection that was reset has no address any more, but what it sent is still read. */
const peers = new WeakMap<Socket, Peer>();

/** Remembers where a new connection comes from; one that has no address any more is not served. */
export function rememberSource(service: Service, socket: Socket): void {
  if (socket.remoteAddress === undefined) return void socket.destroy();
  const address = plainAddress(socket.remoteAddress);
  const source = sourceOf(address, undefined, service.isTrustedProxy);
  peers.set(socket, { address, source, isProxy: service.isTrustedProxy(address) });
}
