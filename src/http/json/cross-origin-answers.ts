/** Describes the CORS headers, by which pages of other origins read an answer; `cross-origin.ts` sends them. */
import { STATUS } from '../answer/problem.ts';
import { EXPOSED_HEADERS } from '../checks/cross-origin.ts';
import { component, componentName, type DescribedAnswer, type DescribedAnswers, header } from './operation.ts';

/** Statuses that are answered before an endpoint's handler: they know no client, so they have no CORS headers. */
const FOR_NO_PAGE: readonly number[] = [STATUS.method_not_allowed, STATUS.too_large, STATUS.unsupported_media_type];

const READABLE = {
  Any: {
    'Access-Control-Allow-Origin': header('AnyOrigin', 'Every page may read the answer.', { const: '*' }),
    'Access-Control-Expose-Headers': header('ExposedHeaders', 'Headers that scripts can read.', {
      const: EXPOSED_HEADERS,
    }),
  },
  Own: {
    'Access-Control-Allow-Origin': header(
      'OwnOrigin',
      'The request’s origin, if the public client that the body names has a redirect URI there.',
      { format: 'uri' },
      false,
    ),
    'Access-Control-Expose-Headers': header(
      'OwnExposedHeaders',
      'Headers that scripts can read; sent with `Access-Control-Allow-Origin`.',
      { const: EXPOSED_HEADERS },
      false,
    ),
  },
};

/** Adds the CORS headers to an operation's answers: for any origin, or for the origins of the named public client. */
export function readableBy(origin: keyof typeof READABLE, answers: DescribedAnswers): DescribedAnswers {
  const readable = Object.entries(answers).map(([status, answer]) => [
    status,
    FOR_NO_PAGE.includes(Number(status)) ? answer : withHeaders(origin, answer),
  ]);
  return Object.fromEntries(readable);
}

/** Returns a copy with the headers; a named component gets a new name for its copy. */
function withHeaders(origin: keyof typeof READABLE, answer: DescribedAnswer): DescribedAnswer {
  const [, name] = componentName(answer)?.split('/') ?? [];
  const copy = { ...answer, headers: { ...answer.headers, ...READABLE[origin] } };
  return name === undefined ? copy : component('responses', `${name}To${origin}Origin`, copy);
}
