/** The operators' pages. */
import type { FastifyInstance } from 'fastify';
import type { Service } from '../../service.ts';

/** Adds the pages' routes to the operators' server. */
export async function addConsole(_app: FastifyInstance, _service: Service): Promise<void> {}
