/**
 * Routes that are no pages, described as operations of OpenAPI 3.1, and the pieces that operations are made of. An
 * endpoint reads the parameters that its operation names; `openapi.ts` makes one document of all operations.
 */
import type { ErrorCode } from '../../oauth/error.ts';
import { STATUS } from '../problem.ts';

/** A JSON Schema (draft 2020-12). */
export type Schema = { readonly [keyword: string]: unknown };

/** The schema of an object, by its properties. */
export type ObjectSchema = Schema & { readonly properties: Readonly<Record<string, Schema>> };

/** A header of an answer; `required` when the answer always has it. */
export type DescribedHeader = { readonly description: string; readonly required: boolean; readonly schema: Schema };

/** One answer of an operation, by media type. */
export type DescribedAnswer = {
  readonly description: string;
  readonly headers: Readonly<Record<string, DescribedHeader>>;
  readonly content: Readonly<Record<string, { readonly schema: Schema; readonly [extension: `x-${string}`]: unknown }>>;
};

/** Answers by status. */
export type DescribedAnswers = { readonly [status: number]: DescribedAnswer };

/** The security schemes of the document. */
export type SecurityScheme =
  | 'clientBasic'
  | 'resourceServerBasic'
  | 'providerBasic'
  | 'providerAssertion'
  | 'accessToken'
  | 'refreshToken'
  | 'publishedFace'
  | 'standardFace';

/** An operation; `security` lists the alternatives, and an empty one stands for credentials in the body. */
export type Operation = {
  readonly operationId: string;
  readonly tags: readonly [
    'published face' | 'standard face' | 'resource servers' | 'identity providers' | 'discovery' | 'health',
  ];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly { readonly [scheme in SecurityScheme]?: readonly string[] }[];
  /** Parameters of the query, and headers. */
  readonly parameters?: readonly (ReturnType<typeof queryParameter> | ReturnType<typeof optionalQueryParameter>)[];
  readonly requestBody?: ReturnType<typeof posted> | ReturnType<typeof postedJson>;
  readonly responses: DescribedAnswers;
};

const NAME = Symbol('name among the components');

/** Gives a part a name: the document then has it once, among its components, and refers to it elsewhere. */
export function component<Part extends object>(
  kind: 'schemas' | 'responses' | 'headers',
  name: string,
  part: Part,
): Part {
  return { ...part, [NAME]: `${kind}/${name}` };
}

/** Where a part stands among the components, or undefined when it has no name. */
export function componentName(part: object): `${string}/${string}` | undefined {
  return (part as { [NAME]?: `${string}/${string}` })[NAME];
}

/** A text. */
export function text(description: string, more: Schema = {}): Schema {
  return { type: 'string', description, ...more };
}

/** An object with exactly these properties, of which only those in `optional` may be missing. */
export function object(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): ObjectSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** A request's parameters; unknown ones are ignored (RFC 6749 §3.2). */
export function fields(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
  more: Schema = {},
): ObjectSchema {
  return { type: 'object', properties, required, ...more };
}

/** The names of the parameters that an operation reads. */
export function parametersOf({ requestBody }: Operation): string[] {
  return Object.keys(requestBody?.content['application/json'].schema.properties ?? {});
}

/** A posted body, in both encodings that are read. */
export function posted(schema: ObjectSchema) {
  return {
    required: true,
    content: { 'application/x-www-form-urlencoded': { schema }, 'application/json': { schema } },
  } as const;
}

/** The same where values are more than strings: in JSON alone. */
export function postedJson(properties: Readonly<Record<string, Schema>>, required: readonly string[]) {
  return { required: true, content: { 'application/json': { schema: fields(properties, required) } } } as const;
}

/** A parameter of the query that must be there. */
export function queryParameter(name: string, schema: Schema) {
  return { name, in: 'query', required: true, schema } as const;
}

/** A query parameter that may be there. */
export function optionalQueryParameter(name: string, schema: Schema) {
  return { name, in: 'query', required: false, schema } as const;
}

/** An access or refresh token, a code, or another credential: opaque. */
export function credential(description: string, example: string): Schema {
  return text(description, { pattern: '^[!-~]+$', maxLength: 255, examples: [example] });
}

/** Credentials of a client or resource server in the body. */
export const SECRET_FIELDS = {
  client_id: text('Who asks. With Basic it may be left out, or be the same.', { examples: ['app_example'] }),
  client_secret: text('The secret, unless it is sent by Basic (RFC 6749 §2.3.1).', { examples: ['vk_cs_example'] }),
};

/** A header that is among the components by its name. */
export function header(name: string, description: string, schema: Schema = {}, required = true): DescribedHeader {
  return component('headers', name, { description, required, schema: { type: 'string', ...schema } });
}

const ALWAYS = {
  'X-Request-Id': header('RequestId', 'Names the request in the log of the service.'),
  'Cache-Control': header('NoStore', 'Nobody may keep the answer (RFC 6749 §5.1).', { const: 'no-store' }),
};

const WAIT = {
  'Retry-After': header('RetryAfter', 'Seconds to wait.', { pattern: '^[0-9]+$' }),
  RateLimit: header('RateLimit', 'The same as `r` (remaining) and `t` (seconds).'),
};

/** The header of a stream, which nobody may keep, compress or hold back. */
export const STREAMED = {
  'Cache-Control': header('Streamed', 'Nobody may keep it, or change its form.', { const: 'no-store, no-transform' }),
};

/** The header of what may be kept for five minutes. */
export const PUBLIC = {
  'Cache-Control': header('FiveMinutes', 'Good for five minutes.', { const: 'public, max-age=300' }),
};

/** The challenges of status 401. */
export const CHALLENGE = {
  basic: { 'WWW-Authenticate': header('BasicChallenge', 'RFC 6749 §5.2.', { pattern: '^Basic realm=' }) },
  bearer: {
    'WWW-Authenticate': header('BearerChallenge', 'With `error` if a token came (RFC 6750 §3.1).', {
      pattern: '^Bearer realm=',
    }),
  },
};

/** An answer in JSON. */
export function answer(description: string, schema: Schema, headers: DescribedAnswer['headers'] = {}): DescribedAnswer {
  return { description, headers: { ...ALWAYS, ...headers }, content: { 'application/json': { schema } } };
}

/** The answer that it was done, without a body. */
export function done(description: string): DescribedAnswer {
  return { description, headers: ALWAYS, content: {} };
}

const OAUTH_ERROR = component(
  'schemas',
  'OAuthError',
  object(
    {
      error: text('The kind of error: decide on this (RFC 6749 §5.2).'),
      error_description: text(
        'A sentence for developers: it may change, and tells a client that proved its secret more.',
        {
          pattern: '^[ !#-\\[\\]-~]+$',
        },
      ),
      error_uri: text('On the standard face, where the reason of a refusal is explained.', { format: 'uri' }),
    },
    ['error_uri'],
  ),
);

const API_ERROR = component(
  'schemas',
  'ApiError',
  object({
    status: { const: 'error' },
    error: object({
      code: text('The kind of error: decide on this.'),
      message: text('A constant sentence for developers.'),
    }),
  }),
);

/** An error of the token endpoints, with one of these codes. */
export function oauthError(...codes: (ErrorCode | 'server_error')[]): Schema {
  return { allOf: [OAUTH_ERROR, { properties: { error: { enum: codes } } }] };
}

/** An error of the API, with one of these codes. */
export function apiError(...codes: string[]): Schema {
  return { allOf: [API_ERROR, { properties: { error: { properties: { code: { enum: codes } } } } }] };
}

/** Problems before or around a handler; each face answers them in its own form. */
const PROBLEMS = {
  method_not_allowed: {
    name: 'MethodNotAllowed',
    says: 'The answer to every other method.',
    oauth: 'invalid_request',
    headers: { Allow: header('Allow', 'The right methods.') },
  },
  too_large: { name: 'TooLarge', says: 'The body is larger than 64 KiB.', oauth: 'invalid_request', headers: {} },
  unsupported_media_type: {
    name: 'UnsupportedMediaType',
    says: 'The body is neither a form nor JSON, is not UTF-8, or is compressed.',
    oauth: 'invalid_request',
    headers: {},
  },
  too_many_requests: {
    name: 'TooManyRequests',
    says: 'Too many attempts to authenticate failed, or too many requests came.',
    oauth: 'temporarily_unavailable',
    headers: WAIT,
  },
  internal: { name: 'Internal', says: 'A fault of the service.', oauth: 'server_error', headers: {} },
  unavailable: {
    name: 'Unavailable',
    says: 'The service cannot answer right now; nothing was changed.',
    oauth: 'temporarily_unavailable',
    headers: WAIT,
  },
} as const;

/** The answers to problems of some kinds, in the form of a face. */
export function problems(face: 'OAuth' | 'Api', ...kinds: (keyof typeof PROBLEMS)[]): DescribedAnswers {
  return Object.fromEntries(
    kinds.map((kind) => {
      const { name, says, oauth, headers } = PROBLEMS[kind];
      const schema = face === 'OAuth' ? oauthError(oauth) : apiError(kind);
      return [STATUS[kind], component('responses', face + name, answer(says, schema, headers))];
    }),
  );
}

/** The refusals of an endpoint that authenticates its callers (RFC 6749 §5.2). */
export function refusals(): DescribedAnswers {
  const unproven = answer('Who asks did not prove it.', oauthError('invalid_client'), CHALLENGE.basic);
  return {
    401: component('responses', 'InvalidClient', unproven),
    ...problems('OAuth', 'method_not_allowed', 'too_many_requests', 'internal', 'unavailable'),
  };
}

/** The same for an endpoint that reads a body; `codes` are those of status 400. */
export function bodyRefusals(...codes: ErrorCode[]): DescribedAnswers {
  return {
    400: answer('The request is refused.', oauthError(...codes)),
    ...refusals(),
    ...problems('OAuth', 'too_large', 'unsupported_media_type'),
  };
}
