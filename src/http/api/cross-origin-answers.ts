/** The headers by which pages of other origins read an answer (CORS), in the descriptions; `cross-origin.ts` sends them. */
import { EXPOSED_HEADERS } from '../cross-origin.ts';
import { STATUS } from '../problem.ts';
import { component, componentName, type DescribedAnswer, type DescribedAnswers, header } from './operation.ts';

/** Answers before the handler of an endpoint, which name no client and so are for no page. */
const FOR_NO_PAGE: readonly number[] = [STATUS.method_not_allowed, STATUS.too_large, STATUS.unsupported_media_type];

const READABLE = {
  Any: {
    'Access-Control-Allow-Origin': header('AnyOrigin', 'Every page may read it.', { const: '*' }),
    'Access-Control-Expose-Headers': header('ExposedHeaders', 'Scripts can read these.', { const: EXPOSED_HEADERS }),
  },
  Own: {
    'Access-Control-Allow-Origin': header(
      'OwnOrigin',
      'The origin of the request, if it is that of a redirect URI of the public client that the body names.',
      { format: 'uri' },
      false,
    ),
    'Access-Control-Expose-Headers': header(
      'OwnExposedHeaders',
      'Beside the origin: scripts can read these.',
      { const: EXPOSED_HEADERS },
      false,
    ),
  },
};

/** The answers of an operation with the headers for pages: of any origin, or the own ones of the public client. */
export function readableBy(origin: keyof typeof READABLE, answers: DescribedAnswers): DescribedAnswers {
  const readable = Object.entries(answers).map(([status, answer]) => [
    status,
    FOR_NO_PAGE.includes(Number(status)) ? answer : withHeaders(origin, answer),
  ]);
  return Object.fromEntries(readable);
}

/** A copy with the headers; what has a name among the components gets one of its own. */
function withHeaders(origin: keyof typeof READABLE, answer: DescribedAnswer): DescribedAnswer {
  const [, name] = componentName(answer)?.split('/') ?? [];
  const copy = { ...answer, headers: { ...answer.headers, ...READABLE[origin] } };
  return name === undefined ? copy : component('responses', `${name}To${origin}Origin`, copy);
}
