/** The parts of the operators' API in OpenAPI that its operations share. */
import {
  answer,
  type DescribedAnswers,
  type DescribedParameter,
  header,
  namedObject,
  type Operation,
  type OperatorTag,
  object,
  optionalQueryParameter,
  pathParameter,
  type Schema,
  text,
} from '../../json/operation.ts';
import { API_STATUS, type ApiErrorCode } from './api-error.ts';
import { PAGE_LIMITS } from './query.ts';

const ERROR = namedObject('Error', {
  status: { const: 'error' },
  error: object({
    code: text('The kind of error. Programs decide by it.'),
    message: text('A sentence for developers. It may change.'),
    field: { type: ['string', 'null'], description: 'The parameter or member that is wrong, if it is one.' },
    request_id: text('ID of the request in the service’s log.'),
  }),
});

const WAIT = {
  'Retry-After': header('RetryAfter', 'Seconds to wait.', { pattern: '^[0-9]+$' }),
  RateLimit: header('RateLimit', 'The limit: `r` requests remain, and it resets in `t` seconds.'),
};

const MORE_OF: { readonly [code in ApiErrorCode]?: readonly [says: string, headers?: Parameters<typeof answer>[2]] } = {
  bad_request: ['The request cannot be read.'],
  invalid_request: ['The request is refused: `field` says where.'],
  missing_key: [
    'The key is missing, wrong, ended or expired.',
    { 'WWW-Authenticate': header('BearerChallenge', 'RFC 6750 §3.', { pattern: '^Bearer realm=' }) },
  ],
  forbidden: ['The key or its operator may not do this. The refusal is in the audit trail.'],
  not_found: ['Nothing has this ID.'],
  method_not_allowed: ['The method is not allowed.', { Allow: header('Allow', 'The allowed methods.') }],
  conflict: ['The object’s state does not allow this, or somebody else was faster.'],
  changed_since: ['The object changed since its `ETag` was sent.'],
  too_large: ['The body is larger than 64 KiB.'],
  unsupported_media_type: ['The body is no JSON in UTF-8 (or merge patch, of a PATCH), or is compressed.'],
  misdirected_request: ['`Host` is not that of this address.'],
  too_many_requests: ['More than 100 calls of a key in 10 seconds, or too many wrong keys from this network.', WAIT],
  internal: ['An internal error of the service.'],
  unavailable: ['The service cannot answer right now, and nothing was changed. Try again.', WAIT],
};

/** Describes the answers to these errors; those of one status together. */
export function refusals(...codes: ApiErrorCode[]): DescribedAnswers {
  const byStatus = Map.groupBy(codes, (code) => API_STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => {
      const [says = '', headers = {}] = MORE_OF[some[0] as ApiErrorCode] ?? [];
      const schema = { allOf: [ERROR, { properties: { error: { properties: { code: { enum: some } } } } }] };
      return [status, answer(says, schema, headers)];
    }),
  );
}

/** The errors that every call may get. */
export const OF_EVERY_CALL = [
  'missing_key',
  'invalid_key',
  'forbidden',
  'misdirected_request',
  'too_many_requests',
  'internal',
  'unavailable',
] as const satisfies ApiErrorCode[];

/** The credentials of every operation. */
export const BY_KEY = [{ operatorKey: [] }] as const;

/** The id in a path. */
export const ID: DescribedParameter = pathParameter(
  'id',
  text('The ID, percent-encoded as one segment.', { minLength: 1 }),
);

/** The version of a single object. */
export const ETAG = {
  ETag: header('ETag', 'Version of the object. Times of uses do not change it.', { pattern: '^"[\\w-]{22}"$' }),
};

/** A time in a query. */
export function timeParameter(name: string, description: string): DescribedParameter {
  return optionalQueryParameter(name, text(description, { format: 'date-time' }));
}

/** A text in a query. */
export function textParameter(name: string, description: string, more: Schema = {}): DescribedParameter {
  return optionalQueryParameter(name, text(description, more));
}

const PAGE: readonly DescribedParameter[] = [
  optionalQueryParameter('limit', {
    type: 'integer',
    minimum: 1,
    maximum: PAGE_LIMITS.most,
    default: PAGE_LIMITS.usual,
    description: 'Maximum number of items.',
  }),
  textParameter('after', '`next` of the page before, with the same filter. Valid for a day.'),
];

/** Describes a list; `filter` are its parameters besides those of pages. */
export function listOperation(
  noun: OperatorTag,
  operationId: string,
  summary: string,
  item: Schema,
  filter: readonly DescribedParameter[] = [],
  description?: string,
): Operation {
  const page = object({
    items: { type: 'array', items: item },
    next: { type: ['string', 'null'], description: 'Cursor of the next page; null at the end.' },
  });
  return {
    operationId,
    summary,
    tags: [noun],
    security: BY_KEY,
    parameters: [...filter, ...PAGE],
    ...(description === undefined ? {} : { description }),
    responses: {
      200: answer('A page, which may be empty although `next` is not null.', page),
      ...refusals('invalid_request', ...OF_EVERY_CALL),
    },
  };
}

/** Describes a GET of something about an object, which has no version. */
export function readOperation(
  noun: OperatorTag,
  operationId: string,
  summary: string,
  schema: Schema,
  parameters: readonly DescribedParameter[],
): Operation {
  const operation = showOperation(noun, operationId, summary, schema, parameters);
  return { ...operation, responses: { ...operation.responses, 200: answer(summary, schema) } };
}

/** Describes a GET of one object. */
export function showOperation(
  noun: OperatorTag,
  operationId: string,
  summary: string,
  schema: Schema,
  parameters: readonly DescribedParameter[] = [ID],
): Operation {
  return {
    operationId,
    summary,
    tags: [noun],
    security: BY_KEY,
    parameters,
    responses: {
      200: answer('The object.', schema, ETAG),
      ...refusals('invalid_request', 'not_found', ...OF_EVERY_CALL),
    },
  };
}

/** Returns the names of the query's parameters that an operation has. */
export function queryNames({ parameters = [] }: Operation): string[] {
  return parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
}
