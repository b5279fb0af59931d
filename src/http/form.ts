/** The parameters that a request posted. */
import { Parameters } from '../oauth/parameters.ts';
import type { EndpointRequest } from './endpoint.ts';

const NOTHING = new Parameters([]);

/** What the content type parsers made of the body; a request without one posted nothing. */
export function formOf(request: Pick<EndpointRequest, 'body'>): Parameters {
  return (request.body as Parameters | null | undefined) ?? NOTHING;
}
