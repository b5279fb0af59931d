/** The one check of the operators' API: the key of an operator, its limit, and the act that the route names. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../../oauth/error.ts';
import { ACTS, type Access, type AccessRefusal, type Act, refusalOf } from '../../../operator/access/rights.ts';
import { countVisit } from '../../checks/public-limit.ts';
import { membersOf } from '../../provider/requests.ts';
import { authorizationOf, readBearerToken } from '../../request/client-authentication.ts';
import { originOf } from '../../request/origin.ts';
import type { Service } from '../../service/service.ts';
import { ApiError, refuseMethod } from './api-error.ts';

/** The access of a request that passed the check, and the check of a further act: it throws `ApiError`. */
export type KeyGuard = {
  accessOf(request: FastifyRequest): Access;
  requires(request: FastifyRequest, act: Act): Promise<void>;
};

/**
 * Adds the check to a part of the server, whose routes each name an act. Returns the access of a request that passed it. No
 * cookie is read here, so that no page of another site can have a browser act.
 */
export function addKeyGuard(part: FastifyInstance, service: Service): KeyGuard {
  const found = new WeakMap<FastifyRequest, Access>();

  part.addHook('onRequest', async (request, reply) => {
    const { act, allow } = request.routeOptions.config;
    if (allow) return refuseMethod(request, reply, allow);
    if (act === undefined) throw new Error(`no act is named for ${request.routeOptions.url}`);
    const access = await accessOf(service, request);
    const wait =
      access.by.kind === 'key' ? countVisit(service.throttles.operatorCalls, access.by.keyId, service.now()) : 0;
    if (wait > 0) throw new ApiError('too_many_requests', TOO_MANY, null, wait);
    const refusal = refusalOf(act, access, service.now());
    if (refusal !== null) await refuse(service, request, access, act, refusal);
    found.set(request, access);
    return undefined;
  });

  part.addHook('preHandler', async (request) => {
    const { also } = request.routeOptions.config;
    const access = found.get(request);
    if (!also || !access) return;
    for (const act of also(membersOf(request))) await requires(request, act);
  });

  const accessOfRequest = (request: FastifyRequest) => found.get(request) as Access;

  async function requires(request: FastifyRequest, act: Act): Promise<void> {
    const access = accessOfRequest(request);
    const refusal = refusalOf(act, access, service.now());
    if (refusal !== null) await refuse(service, request, access, act, refusal);
  }

  return { accessOf: accessOfRequest, requires };
}

const TOO_MANY = 'this key made 100 calls in 10 seconds: wait, and ask again';

async function accessOf(service: Service, request: FastifyRequest): Promise<Access> {
  const authorization = authorizationOf(request.headers);
  const key = authorization === undefined ? null : readBearerToken(authorization);
  if (key === null) throw new ApiError('missing_key', 'a key of an operator is required: send Authorization: Bearer');
  const access = await service.operators.access.byKey(key, request.source);
  if (access instanceof Refusal) {
    request.outcome = { error: access.code, detail: access.detail };
    const { retryAfter } = access;
    throw retryAfter === undefined
      ? new ApiError('invalid_key', access.description)
      : new ApiError('too_many_requests', access.description, null, retryAfter);
  }
  request.outcome = { operator_id: access.operator.id, ...(access.by.kind === 'key' && { key_id: access.by.keyId }) };
  return access;
}

async function refuse(
  service: Service,
  request: FastifyRequest,
  access: Access,
  act: Act,
  refusal: AccessRefusal,
): Promise<never> {
  await service.operators.access.refused(act, access, refusal, originOf(request));
  request.outcome = { ...request.outcome, detail: `${act}: ${refusal}` };
  throw new ApiError('forbidden', sentenceOf(act, refusal));
}

/** The public sentence says what is missing: whoever holds the key is an operator. */
function sentenceOf(act: Act, refusal: AccessRefusal): string {
  const needs = ACTS[act];
  if (typeof needs === 'string' || refusal === 'commands alone') return 'only a command does this';
  if (refusal === 'role') return `this needs the role ${needs.role}`;
  if (refusal === 'right') return needs.right === null ? 'no key may do this' : `this needs a key with ${needs.right}`;
  return 'this operator may not do this';
}
