/** The operators' API, `{operator_url}/v1/…`. */
import type { FastifyInstance } from 'fastify';
import type { Service } from '../../service.ts';

/** Adds the API's routes to the operators' server. */
export async function addOperatorApi(_app: FastifyInstance, _service: Service): Promise<void> {}
