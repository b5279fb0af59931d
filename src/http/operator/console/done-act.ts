/**
 * The name of an act in an address (`?done=deleted`), whose sentence a page shows. It counts only right after our own post:
 * anybody can send a link that has it.
 */
import type { FastifyRequest } from 'fastify';
import type { Parameters } from '../../../oauth/parameters.ts';

/**
 * Returns the query of a page, with the name of an act only after our own page: browsers keep `same-origin` through the redirect
 * that answers a post, and say `cross-site` or `none` for links from elsewhere (Fetch Metadata §2.3). Without the header there is
 * no sentence.
 */
export function queryOf({ query, headers }: FastifyRequest): Parameters {
  const asked = query as Parameters;
  return headers['sec-fetch-site'] === 'same-origin' ? asked : asked.without('done');
}
