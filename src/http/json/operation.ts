/**
 * Describes routes that are not pages as OpenAPI 3.1 operations, and holds the parts of operations. An endpoint reads
 * the parameters that its operation names; `openapi.ts` joins all operations to one document.
 */
import type { ErrorCode } from '../../oauth/error.ts';
import { STATUS } from '../answer/problem.ts';

/** A JSON Schema (draft 2020-12). */
export type Schema = { readonly [keyword: string]: unknown };

/** The schema of an object, by its properties. */
export type ObjectSchema = Schema & { readonly properties: Readonly<Record<string, Schema>> };

/** A header of an answer; `required` if the answer always has it. */
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
  | 'standardFace'
  | 'operatorKey';

/** The groups of operations for apps, APIs and products. */
export type Tag =
  | 'published face'
  | 'standard face'
  | 'resource servers'
  | 'identity providers'
  | 'discovery'
  | 'health';

/** The groups of operations of the operators' API: its nouns. */
export type OperatorTag =
  | 'clients'
  | 'resource-servers'
  | 'identity-providers'
  | 'scopes'
  | 'users'
  | 'grants'
  | 'audit-events'
  | 'identify'
  | 'status'
  | 'description';

/** An operation; `security` lists alternatives, where an empty one means credentials in the body. */
export type Operation = {
  readonly operationId: string;
  readonly tags: readonly [Tag | OperatorTag];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly { readonly [scheme in SecurityScheme]?: readonly string[] }[];
  /** Parameters of path and query, and headers. */
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: ReturnType<typeof posted | typeof postedJson | typeof patchedJson>;
  readonly responses: DescribedAnswers;
};

/** Media types of bodies (RFC 8259 §11, RFC 7396 §4). */
export const JSON_TYPE = 'application/json';
export const MERGE_PATCH = 'application/merge-patch+json';

const NAME = Symbol('name among the components');

/** Names a part: the document then has it once, among its components, and refers to it elsewhere. */
export function component<Part extends object>(
  kind: 'schemas' | 'responses' | 'headers',
  name: string,
  part: Part,
): Part {
  return { ...part, [NAME]: `${kind}/${name}` };
}

/** Returns a part's place among the components, or undefined if it has no name. */
export function componentName(part: object): `${string}/${string}` | undefined {
  return (part as { [NAME]?: `${string}/${string}` })[NAME];
}

/** Returns the schema of a string. */
export function text(description: string, more: Schema = {}): Schema {
  return { type: 'string', description, ...more };
}

const OPTIONAL = Symbol('may be missing');

/** Returns the schema of a property that may be missing in its object. */
export function optional(schema: Schema): Schema {
  return { ...schema, [OPTIONAL]: true };
}

/** Returns the schema of an object with exactly these properties. */
export function object(properties: Readonly<Record<string, Schema>>): ObjectSchema {
  const present = Object.entries(properties).filter(([, schema]) => !(OPTIONAL in schema));
  return { type: 'object', properties, required: present.map(([name]) => name), additionalProperties: false };
}

/** Returns such a schema that has a name among the components. */
export function namedObject(name: string, properties: Readonly<Record<string, Schema>>): ObjectSchema {
  return component('schemas', name, object(properties));
}

/** Returns the schema of a request's parameters; unknown parameters are ignored (RFC 6749 §3.2). */
export function fields(required: readonly string[], properties: Readonly<Record<string, Schema>>): ObjectSchema {
  return { type: 'object', properties, required };
}

/** Returns such a schema that has a name among the components. */
export function namedFields(
  name: string,
  required: readonly string[],
  properties: Readonly<Record<string, Schema>>,
): ObjectSchema {
  return component('schemas', name, fields(required, properties));
}

/** Returns the names of the parameters that an operation reads. */
export function parametersOf({ requestBody }: Operation): string[] {
  return Object.keys(requestBody?.content['application/json'].schema.properties ?? {});
}

/** Describes a posted body, in both encodings. */
export function posted(schema: ObjectSchema) {
  return {
    required: true,
    content: { 'application/x-www-form-urlencoded': { schema }, 'application/json': { schema } },
  } as const;
}

/** Describes a posted body whose values are not only strings: JSON only. */
export function postedJson(required: readonly string[], properties: Readonly<Record<string, Schema>>) {
  return { required: true, content: { [JSON_TYPE]: { schema: fields(required, properties) } } } as const;
}

/** Describes the body of a PATCH: a merge patch, as which JSON counts here too. */
export function patchedJson(properties: Readonly<Record<string, Schema>>) {
  const body = { schema: fields([], properties) };
  return { required: true, content: { [JSON_TYPE]: body, [MERGE_PATCH]: body } } as const;
}

/** A parameter of an operation. */
export type DescribedParameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
};

/** Describes a part of the path, which is one percent-encoded segment. */
export function pathParameter(name: string, schema: Schema): DescribedParameter {
  return { name, in: 'path', required: true, schema };
}

/** Describes a required query parameter. */
export function queryParameter(name: string, schema: Schema) {
  return { name, in: 'query', required: true, schema } as const;
}

/** Describes an optional query parameter. */
export function optionalQueryParameter(name: string, schema: Schema) {
  return { name, in: 'query', required: false, schema } as const;
}

/** Returns the schema of an opaque credential: a token, a code or another secret. */
export function credential(description: string, example: string): Schema {
  return text(description, { pattern: '^[!-~]+$', maxLength: 255, examples: [example] });
}

/** Credentials of a client or resource server in the body. */
export const SECRET_FIELDS = {
  client_id: text('The caller’s ID. With Basic, omit it or send the same ID.', { examples: ['app_example'] }),
  client_secret: text('The caller’s secret. Omit it with Basic (RFC 6749 §2.3.1).', { examples: ['vk_cs_example'] }),
};

/** The verifier of a code challenge. */
export const CODE_VERIFIER = text(
  'Required if the authorization request had a `code_challenge`, refused otherwise (RFC 7636 §4.1).',
  { pattern: '^[A-Za-z0-9._~-]{43,128}$' },
);

/** Describes a header, which is among the components under this name. */
export function header(name: string, description: string, schema: Schema = {}, required = true): DescribedHeader {
  return component('headers', name, { description, required, schema: { type: 'string', ...schema } });
}

const ALWAYS = {
  'X-Request-Id': header('RequestId', 'ID of the request in the service’s log.'),
  'Cache-Control': header('NoStore', 'The answer must not be cached (RFC 6749 §5.1).', { const: 'no-store' }),
};

const WAIT = {
  'Retry-After': header('RetryAfter', 'Seconds to wait.', { pattern: '^[0-9]+$' }),
  RateLimit: header('RateLimit', 'The limit: `r` requests remain, and it resets in `t` seconds.'),
};

/** The header of a stream that caches and proxies must not keep, compress or buffer. */
export const STREAMED = {
  'Cache-Control': header('Streamed', 'The stream must not be cached, compressed or changed.', {
    const: 'no-store, no-transform',
  }),
};

/** The header of an answer that caches may keep for five minutes. */
export const PUBLIC = {
  'Cache-Control': header('FiveMinutes', 'The answer may be cached for five minutes.', {
    const: 'public, max-age=300',
  }),
};

/** The challenges of status 401. */
export const CHALLENGE = {
  basic: { 'WWW-Authenticate': header('BasicChallenge', 'RFC 6749 §5.2.', { pattern: '^Basic realm=' }) },
  bearer: {
    'WWW-Authenticate': header('BearerChallenge', 'Has `error` if the request had a token (RFC 6750 §3.1).', {
      pattern: '^Bearer realm=',
    }),
  },
};

/** Describes an answer in JSON. */
export function answer(description: string, schema: Schema, headers: DescribedAnswer['headers'] = {}): DescribedAnswer {
  return { description, headers: { ...ALWAYS, ...headers }, content: { 'application/json': { schema } } };
}

/** Describes a success without a body. */
export function done(description: string): DescribedAnswer {
  return { description, headers: ALWAYS, content: {} };
}

const OAUTH_ERROR = namedObject('OAuthError', {
  error: text('The kind of error. Programs decide by it (RFC 6749 §5.2).'),
  error_description: text(
    'A sentence for developers. It may change, and says more to a client that proved its secret.',
    {
      pattern: '^[ !#-\\[\\]-~]+$',
    },
  ),
  error_uri: optional(text('A page that explains the reason. Standard face only.', { format: 'uri' })),
});

const API_ERROR = namedObject('ApiError', {
  status: { const: 'error' },
  error: object({
    code: text('The kind of error. Programs decide by it.'),
    message: text('A constant sentence for developers.'),
  }),
});

/** Returns the schema of an error of the token endpoints, with one of these codes. */
export function oauthError(...codes: (ErrorCode | 'server_error')[]): Schema {
  return { allOf: [OAUTH_ERROR, { properties: { error: { enum: codes } } }] };
}

/** Returns the schema of an error of the API, with one of these codes. */
export function apiError(...codes: string[]): Schema {
  return { allOf: [API_ERROR, { properties: { error: { properties: { code: { enum: codes } } } } }] };
}

/** Problems before or around a handler; each face answers them in its own form. */
const PROBLEMS = {
  method_not_allowed: {
    name: 'MethodNotAllowed',
    says: 'The method is not allowed.',
    oauth: 'invalid_request',
    headers: { Allow: header('Allow', 'The allowed methods.') },
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
    says: 'Too many failed authentications, or too many requests.',
    oauth: 'temporarily_unavailable',
    headers: WAIT,
  },
  internal: { name: 'Internal', says: 'An internal error of the service.', oauth: 'server_error', headers: {} },
  unavailable: {
    name: 'Unavailable',
    says: 'The service cannot answer right now, and nothing was changed. Try again.',
    oauth: 'temporarily_unavailable',
    headers: WAIT,
  },
} as const;

/** Describes the answers to these problems, in the form of a face. */
export function problems(face: 'OAuth' | 'Api', ...kinds: (keyof typeof PROBLEMS)[]): DescribedAnswers {
  return Object.fromEntries(
    kinds.map((kind) => {
      const { name, says, oauth, headers } = PROBLEMS[kind];
      const schema = face === 'OAuth' ? oauthError(oauth) : apiError(kind);
      return [STATUS[kind], component('responses', face + name, answer(says, schema, headers))];
    }),
  );
}

/** Describes the refusals of an endpoint that authenticates its callers (RFC 6749 §5.2). */
export function refusals(): DescribedAnswers {
  const unproven = answer('The caller’s authentication failed.', oauthError('invalid_client'), CHALLENGE.basic);
  return {
    401: component('responses', 'InvalidClient', unproven),
    ...problems('OAuth', 'method_not_allowed', 'too_many_requests', 'internal', 'unavailable'),
  };
}

/** Describes the refusals of an authenticated endpoint that reads a body; `codes` are those of status 400. */
export function bodyRefusals(...codes: ErrorCode[]): DescribedAnswers {
  return {
    400: answer('The request is refused.', oauthError(...codes)),
    ...refusals(),
    ...problems('OAuth', 'too_large', 'unsupported_media_type'),
  };
}
