/** The parameters that a request posted. */
import type { FastifyRequest } from 'fastify';
import { Parameters } from '../oauth/protocol/parameters.ts';

const NOTHING = new Parameters([]);

/** The decoded body of a request; empty if it has none. */
export function formOf(request: Pick<FastifyRequest, 'body'>): Parameters {
  return (request.body as Parameters | null | undefined) ?? NOTHING;
}
