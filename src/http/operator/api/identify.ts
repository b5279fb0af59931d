/** `POST /v1/identify`: what a credential is that somebody found. Nothing of it is stored or logged. */
import { identifiedJson } from '../../../operator/json/identified.ts';
import { MAX_CREDENTIAL_LENGTH } from '../../../operator/leaks/identify-credential.ts';
import { answer, type Operation, postedJson, text } from '../../json/operation.ts';
import { JsonMembers } from '../../request/decoding.ts';
import type { Service } from '../../service/service.ts';
import { ApiError } from './api-error.ts';
import { BY_KEY, OF_EVERY_CALL, refusals } from './described-parts.ts';
import { invalidParameter } from './query.ts';
import { type Route, route } from './route.ts';
import { IDENTIFIED } from './schemas.ts';

const IDENTIFY: Operation = {
  operationId: 'identify',
  tags: ['identify'],
  summary: 'Says what a credential or one-time link is that somebody found, whose it is, and if it works',
  description: 'Nothing of the credential is stored or logged.',
  security: BY_KEY,
  requestBody: postedJson(['credential'], {
    credential: text('The whole credential, or the link or its token.', {
      minLength: 1,
      maxLength: MAX_CREDENTIAL_LENGTH,
    }),
  }),
  responses: {
    200: answer('The credential is of this installation.', IDENTIFIED),
    ...refusals('bad_request', 'invalid_request', 'not_found', 'too_large', 'unsupported_media_type', ...OF_EVERY_CALL),
  },
};

/** Returns the route. */
export function identifying({ operatorApi: { identification } }: Service): Route[] {
  return [
    route('POST', '/identify', 'identify', IDENTIFY, async ({ request: { body } }) => {
      const { credential } = body instanceof JsonMembers ? body.members : {};
      const isText = typeof credential === 'string' && credential !== '' && credential.length <= MAX_CREDENTIAL_LENGTH;
      if (!isText) throw invalidParameter('credential', `must be a text of 1 to ${MAX_CREDENTIAL_LENGTH} characters`);
      const sent = credential.trim();
      const found = await identification.identify(sent);
      if (!found) throw new ApiError('not_found', identification.whyUnknown(sent), 'credential');
      return identifiedJson(found);
    }),
  ];
}
