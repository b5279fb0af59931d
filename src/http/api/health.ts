/** `/healthz` (the process is alive) and `/readyz` (it can serve), on both addresses, for load balancers and watchdogs. */
import type { FastifyInstance } from 'fastify';
import type { Service } from '../service.ts';
import { apiAnswers } from './json-answers.ts';
import { answer, type Operation, object, problems } from './operation.ts';

/** Adds both, also for HEAD, which some watchdogs use. The answers tell an attacker nothing. */
export function addHealth(app: FastifyInstance, service: Service): void {
  const answers = apiAnswers;
  app.get(
    '/healthz',
    { config: { answers, operation: ALIVE, mayBePlain: true }, exposeHeadRoute: true },
    async (_request, reply) => reply.header('Cache-Control', 'no-store').send({ status: 'alive' }),
  );
  app.get(
    '/readyz',
    { config: { answers, operation: READY, mayBePlain: true }, exposeHeadRoute: true },
    async (_request, reply) => {
      const isReady = await service.isReady();
      return reply
        .code(isReady ? 200 : 503)
        .header('Cache-Control', 'no-store')
        .send({ status: isReady ? 'ready' : 'not ready' });
    },
  );
}

const OTHERWISE = problems('Api', 'method_not_allowed');
const ALIVE: Operation = {
  operationId: 'healthz',
  tags: ['health'],
  summary: 'Whether the process is alive',
  responses: { 200: answer('It is.', object({ status: { const: 'alive' } })), ...OTHERWISE },
};
const READY: Operation = {
  operationId: 'readyz',
  tags: ['health'],
  summary: 'Whether requests can be served now',
  responses: {
    200: answer('They can.', object({ status: { const: 'ready' } })),
    503: answer('They cannot.', object({ status: { const: 'not ready' } })),
    ...OTHERWISE,
  },
};
