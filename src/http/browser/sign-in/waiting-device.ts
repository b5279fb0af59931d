/** Finds a device's request by the code that a user typed, or that an address of ours has. Guessing is throttled (RFC 8628 §5.1). */
import type { FastifyRequest } from 'fastify';
import type { Client } from '../../../oauth/clients/client.ts';
import { parseUserCode } from '../../../oauth/device/device-authorization.ts';
import type { ShownDeviceRequest } from '../../../oauth/device/device-flow.ts';
import { networksOf } from '../../../oauth/guessing/networks.ts';
import { decodeQuery } from '../../request/decoding.ts';
import { originOf } from '../../request/origin.ts';
import type { Service } from '../../service/service.ts';

/** The result of a search; `malformed` cannot be a code. */
export type WaitingDevice =
  | { readonly kind: 'found'; readonly found: ShownDeviceRequest }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }
  | { readonly kind: 'malformed' | 'none' };

/** Finds the request of a code, for a signed-in user. A wrong code counts against the user's account and network. */
export async function findWaitingDevice(
  service: Service,
  request: FastifyRequest,
  accountId: string,
  typed: string,
): Promise<WaitingDevice> {
  // Needs no search, so it does not count as a try.
  if (parseUserCode(typed) === null) return { kind: 'malformed' };
  const { userCode } = service.throttles;
  const networks = networksOf(originOf(request).source).map(({ key, weight }) => ({ key: `source ${key}`, weight }));
  const guesses = [`account ${accountId}`, ...networks];
  const retryAfterSeconds = userCode.wait(guesses, service.now());
  if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };
  // Count before the search: otherwise concurrent guesses would all be free.
  userCode.count(guesses, service.now());
  const found = await service.deviceFlow.find(typed);
  if (!found) return { kind: 'none' };
  userCode.refund(guesses, service.now());
  return { kind: 'found', found };
}

/** Returns the client of the device whose code is in an address of ours; null for other pages, and where no request is found. */
export async function findDeviceClient(
  service: Service,
  request: FastifyRequest,
  accountId: string,
  address: string,
): Promise<Client | null> {
  if (address.replace(/\?.*$/s, '') !== service.paths.device) return null;
  const typed = decodeQuery(address.slice(service.paths.device.length + 1)).get('user_code') ?? '';
  const waiting = await findWaitingDevice(service, request, accountId, typed);
  return waiting.kind === 'found' ? waiting.found.client : null;
}
