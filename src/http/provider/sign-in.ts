/** `/api/auth/oauth/sign-in`: an identity provider's server says who signed in. */
import type { FastifyInstance } from 'fastify';
import { readStatement } from '../../accounts/providers/sign-in-statement.ts';
import { Refusal } from '../../oauth/error.ts';
import { sendJson } from '../api/json-answers.ts';
import { answer, type Operation, object, postedJson, SECRET_FIELDS, text } from '../api/operation.ts';
import { originOf } from '../origin.ts';
import { PROVIDER_PATHS } from '../paths.ts';
import type { Service } from '../service.ts';
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
  summary: 'Says who signed in at an identity provider, or that the person refused',
  description:
    'The first statement binds the request to one person; the same may be said again, and the older address dies. Send the browser to `redirect_to` at once. What is said of the person is written when it comes back.',
  security: [{ providerBasic: [] }, {}],
  requestBody: postedJson(
    {
      ...SECRET_FIELDS,
      sign_in_request: text('What the browser brought, as it is.', { maxLength: 6000 }),
      ...PROFILE_FIELDS,
      auth_time: {
        type: ['integer', 'null'],
        minimum: 0,
        description:
          'When the person signed in, in seconds since 1970; required where `prompt=login` or `max_age` was asked.',
      },
      amr: { type: ['array', 'null'], items: { type: 'string' }, maxItems: 10, description: 'How (RFC 8176).' },
      error: { const: 'access_denied', description: 'Instead of `subject`: the person refused.' },
    },
    ['sign_in_request'],
  ),
  responses: {
    200: answer(
      'Where to send the browser.',
      object({ redirect_to: text('Good for 60 s, in the browser that came.', { format: 'uri' }) }),
    ),
    ...providerRefusals('invalid_request', 'invalid_grant'),
  },
};
