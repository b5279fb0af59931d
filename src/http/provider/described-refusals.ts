/** The refusals of the endpoints for identity providers, for their operations in OpenAPI. */
import type { ErrorCode } from '../../oauth/error.ts';
import { answer, bodyRefusals, component, type DescribedAnswers, oauthError, refusals } from '../api/operation.ts';

/** The refusals of an endpoint for identity providers. */
export function providerRefusals(...codes: ErrorCode[]): DescribedAnswers {
  return { ...bodyRefusals(...codes), ...FORBIDDEN };
}

/** The same for one that reads no body. */
export function providerQueryRefusals(): DescribedAnswers {
  return { 400: answer('The request is refused.', oauthError('invalid_request')), ...refusals(), ...FORBIDDEN };
}

const FORBIDDEN = {
  403: answer('The person or this provider may not.', oauthError('access_denied', 'unauthorized_client')),
};

/** The answer where a provider has nobody with a subject. */
export const NO_SUCH_SUBJECT = {
  404: component(
    'responses',
    'NoSuchSubject',
    answer('This identity provider has nobody with this subject.', oauthError('not_found')),
  ),
};
