/** `/healthz` (the process is alive) and `/readyz` (it can serve), for load balancers and watchdogs. */
import type { FastifyInstance } from 'fastify';
import { DOCTORS_COOKIE, isDoctorPass, PADDING, PADDING_HEADER, PASS_HEADER } from '../../oauth/keys/doctor-pass.ts';
import { apiAnswers } from '../json/json-answers.ts';
import { answer, type Operation, object, optional, problems } from '../json/operation.ts';
import { asArrived } from '../request/origin.ts';
import type { Service } from '../service/service.ts';

/** Adds `/healthz`. Its answer tells nothing to somebody without the root keys. */
export function addLiveness(app: FastifyInstance, service: Service): void {
  app.get(
    '/healthz',
    { config: { answers: apiAnswers, operation: ALIVE, mayBePlain: true, isForAnyHost: true } },
    async (request, reply) => {
      const pass = request.headers[PASS_HEADER];
      reply.header('Cache-Control', 'no-store');
      if (pass === undefined || !isDoctorPass(service.keyring, String(pass), service.now()))
        return reply.send({ status: 'alive' });
      reply.header('Set-Cookie', DOCTORS_COOKIE).header(PADDING_HEADER, PADDING);
      return reply.send({ status: 'alive', seen: asArrived(request), sign_in_methods: service.signInMethods });
    },
  );
}

/** Adds `/readyz`. Its answer tells an attacker nothing. */
export function addReadiness(app: FastifyInstance, service: Service): void {
  app.get(
    '/readyz',
    { config: { answers: apiAnswers, operation: READY, mayBePlain: true } },
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
/** Only in answers to `valetkey doctor`. */
const SEEN = optional({
  type: 'object',
  description: 'The request as it arrived; only in answers to `valetkey doctor`.',
});
const METHODS = optional({
  type: 'array',
  items: { type: 'string' },
  description: 'The ways to sign in; only in answers to commands that have the root keys.',
});
const ALIVE: Operation = {
  operationId: 'healthz',
  tags: ['health'],
  summary: 'Checks that the process is alive',
  responses: {
    200: answer('Alive.', object({ status: { const: 'alive' }, seen: SEEN, sign_in_methods: METHODS })),
    ...OTHERWISE,
  },
};
const READY: Operation = {
  operationId: 'readyz',
  tags: ['health'],
  summary: 'Checks that the service can serve requests',
  responses: {
    200: answer('Ready.', object({ status: { const: 'ready' } })),
    503: answer('Not ready; try again later.', object({ status: { const: 'not ready' } })),
    ...OTHERWISE,
  },
};
