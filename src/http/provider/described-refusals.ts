/** Describes the refusals of the endpoints for identity providers. */
import type { ErrorCode } from '../../oauth/error.ts';
import { answer, bodyRefusals, component, type DescribedAnswers, oauthError, refusals } from '../json/operation.ts';

/** Describes the refusals of an endpoint for identity providers. */
export function providerRefusals(...codes: ErrorCode[]): DescribedAnswers {
  return { ...bodyRefusals(...codes), ...FORBIDDEN };
}

/** Describes the refusals of an endpoint for identity providers that reads no body. */
export function providerQueryRefusals(): DescribedAnswers {
  return { 400: answer('The request is refused.', oauthError('invalid_request')), ...refusals(), ...FORBIDDEN };
}

const FORBIDDEN = {
  403: answer(
    'This user or this identity provider is not allowed to do this.',
    oauthError('access_denied', 'unauthorized_client'),
  ),
};

/** The answer if the provider has no user with this subject. */
export const NO_SUCH_SUBJECT = {
  404: component(
    'responses',
    'NoSuchSubject',
    answer('This identity provider has no user with this subject.', oauthError('not_found')),
  ),
};
