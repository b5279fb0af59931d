/** The parameters of a posted body. */
import type { FastifyRequest } from 'fastify';
import { Parameters } from '../../oauth/parameters.ts';

const NOTHING = new Parameters([]);

/** Returns the decoded body of a request; empty if it has none. */
export function formOf(request: Pick<FastifyRequest, 'body'>): Parameters {
  return (request.body as Parameters | null | undefined) ?? NOTHING;
}
