/** What a request says of itself to throttles, logs and the audit trail. */
import type { Socket } from 'node:net';
import type { RequestOrigin } from '../oauth/client-authenticator.ts';
import type { EndpointRequest } from './endpoint.ts';
import type { Service } from './service.ts';
import { sourceOf } from './source.ts';

/** The source and the id of a request. */
export function originOf({ id, source }: Pick<EndpointRequest, 'id' | 'source'>): RequestOrigin {
  return { source, requestId: id };
}

/** The source of a request, from its connection and `X-Forwarded-For`. */
export function readSource(service: Service, socket: Socket, forwardedFor: string | string[] | undefined): string {
  const peer = peers.get(socket) ?? NOBODY;
  if (forwardedFor === undefined) return peer.source;
  const forwarded = Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor;
  return sourceOf(peer.address, forwarded, service.isTrustedProxy);
}

/** Who is at the other end of a connection: the address, and the source of what forwards for nobody. */
type Peer = { readonly address: string; readonly source: string };

const NOBODY: Peer = { address: '', source: '' };

/** A connection that was reset has no address any more, while what it sent is still read. */
const peers = new WeakMap<Socket, Peer>();

/** Remembers where a new connection comes from; one that has no address any more is not served. */
export function rememberSource(service: Service, socket: Socket): void {
  const address = socket.remoteAddress;
  if (address === undefined) socket.destroy();
  else peers.set(socket, { address, source: sourceOf(address, undefined, service.isTrustedProxy) });
}
