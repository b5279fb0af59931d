/** The parameters that a request posted. */
import type { FastifyRequest } from 'fastify';
import { Parameters } from '../oauth/parameters.ts';

const NOTHING = new Parameters([]);

/** What the content type parsers made of the body; a request without one posted nothing. */
export function formOf(request: FastifyRequest): Parameters {
  return (request.body as Parameters | null | undefined) ?? NOTHING;
}
