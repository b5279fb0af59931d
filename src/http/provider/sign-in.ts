/** `/api/auth/oauth/sign-in`: an identity provider's server states who signed in. */
import type { FastifyInstance } from 'fastify';
import { readStatement } from '../../accounts/providers/sign-in-statement.ts';
import { Refusal } from '../../oauth/error.ts';
import { sendJson } from '../json/json-answers.ts';
import { answer, type Operation, object, postedJson, SECRET_FIELDS, text } from '../json/operation.ts';
import { originOf } from '../request/origin.ts';
import { PROVIDER_PATHS } from '../service/paths.ts';
import type { Service } from '../service/service.ts';
import { providerRefusals } from './described-refusals.ts';
import { PROFILE_FIELDS } from './profile-fields.ts';
import { authenticateProvider, membersOf, providerAnswers, readJsonMembers, sendProviderRefusal } from './requests.ts';

/** Adds the endpoint. */
export async function addProviderSignIn(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(async (part) => {
    readJsonMembers(part);
    const config = { answers: providerAnswers, operation: OPERATION };
    part.post(PROVIDER_PATHS.signIn, { config }, async (request, reply) => {
      const provider = await authenticateProvider(service, request, 'sign-in');
      if (provider instanceof Refusal) return sendProviderRefusal(request, reply, provider);
      const statement = readStatement(membersOf(request));
      if (statement instanceof Refusal) return sendProviderRefusal(request, reply, statement);
      const ticket = await service.externalSignIns.state(provider, statement, originOf(request));
      if (ticket instanceof Refusal) return sendProviderRefusal(request, reply, ticket);
      return sendJson(reply, { redirect_to: `${service.appUrl}${service.paths.signInContinue}?ticket=${ticket}` });
    });
  });
}

const OPERATION: Operation = {
  operationId: 'stateSignIn',
  tags: ['identity providers'],
  summary: 'States who signed in at an identity provider, or that the user refused',
  description:
    'The first statement binds the request to one user. You can repeat it; the earlier `redirect_to` then stops working. Send the browser to `redirect_to` at once: the profile is saved when the browser arrives there.',
  security: [{ providerBasic: [] }, {}],
  requestBody: postedJson(['sign_in_request'], {
    ...SECRET_FIELDS,
    sign_in_request: text('The `sign_in_request` that the browser brought, unchanged.', { maxLength: 6000 }),
    ...PROFILE_FIELDS,
    auth_time: {
      type: ['integer', 'null'],
      minimum: 0,
      description:
        'Time of the sign-in, in seconds since 1970. Required if the request had `prompt=login` or `max_age`.',
    },
    amr: {
      type: ['array', 'null'],
      items: { type: 'string' },
      maxItems: 10,
      description: 'Methods of the sign-in (RFC 8176).',
    },
    error: { const: 'access_denied', description: 'In place of `subject`: the user refused.' },
  }),
  responses: {
    200: answer(
      'The address to send the browser to.',
      object({ redirect_to: text('Works for 60 s, in the browser that brought the request.', { format: 'uri' }) }),
    ),
    ...providerRefusals('invalid_request', 'invalid_grant'),
  },
};
