/** `/healthz` (the process is alive) and `/readyz` (it can serve), on both addresses, for load balancers and watchdogs. */
import type { FastifyInstance } from 'fastify';
import { apiAnswers } from './json-answers.ts';
import type { Service } from './service.ts';

/** Adds both. They say nothing that would help anybody else. */
export function addHealth(app: FastifyInstance, service: Service): void {
  const config = { answers: apiAnswers };
  app.get('/healthz', { config }, async (_request, reply) =>
    reply.header('Cache-Control', 'no-store').send({ status: 'alive' }),
  );
  app.get('/readyz', { config }, async (_request, reply) => {
    const isReady = await service.isReady();
    return reply
      .code(isReady ? 200 : 503)
      .header('Cache-Control', 'no-store')
      .send({ status: isReady ? 'ready' : 'not ready' });
  });
}
