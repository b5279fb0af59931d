/** The parameters that a request posted. */
import { Parameters } from '../oauth/parameters.ts';
import type { EndpointRequest } from './endpoint.ts';

const NOTHING = new Parameters([]);

/** The decoded body of a request; empty if it has none. */
export function formOf(request: Pick<EndpointRequest, 'body'>): Parameters {
  return (request.body as Parameters | null | undefined) ?? NOTHING;
}
