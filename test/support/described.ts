/** A service seen through its own OpenAPI document: requests by operation, and answers held against what it says of them. */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonAnswer } from './flow.ts';
import type { TestService } from './service.ts';

type Header = { readonly required: boolean; readonly schema: object };
type Codes = {
  readonly properties: { readonly error: { enum?: string[]; properties?: { code: { enum: string[] } } } };
};
type Schema = { readonly properties: Readonly<Record<string, object>>; readonly allOf?: readonly [object, Codes] };
type Answer = {
  readonly headers: Readonly<Record<string, Header>>;
  readonly content: Readonly<Record<string, { readonly schema: Schema; readonly 'x-events': Record<string, Schema> }>>;
};
type Operation = {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, Answer>>;
};
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
type PathItem = { readonly servers?: readonly { readonly url: string }[] } & Readonly<
  Record<(typeof METHODS)[number], Operation>
>;

/** An OpenAPI document, as far as the tests read it; references are resolved. */
type Document = {
  readonly servers: readonly [{ readonly url: string }];
  readonly paths: Readonly<Record<string, PathItem>>;
};

/** An operation with its addresses. */
type Described = { readonly method: string; readonly urls: readonly string[]; readonly operation: Operation };

const FORMATS = {
  uri: (text: string) => URL.canParse(text),
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
};
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true, formats: FORMATS });
const validators = new WeakMap<object, ValidateFunction>();

/** Asserts that a value is as a schema says. */
export function assertFits(schema: object, value: unknown, what: string): void {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}

/** The document with each reference replaced by what it leads to. */
function resolved(document: object): Document {
  const resolve = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(resolve);
    if (!('$ref' in part)) return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, resolve(value)]));
    const steps = String(part.$ref).split('/').slice(1);
    const found = steps.reduce((at, step) => (at as Record<string, unknown> | undefined)?.[step], document as unknown);
    assert.ok(found, `${part.$ref} leads somewhere`);
    return resolve(found);
  };
  return resolve(document) as Document;
}

/** The operations of a document by their ids. */
function operationsOf({ servers, paths }: Document): Map<string, Described> {
  const operations = new Map<string, Described>();
  for (const [path, item] of Object.entries(paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      assert.ok(!operations.has(operation.operationId), `${operation.operationId} is there once`);
      const urls = (item.servers ?? servers).map(({ url }) => url + path);
      operations.set(operation.operationId, { method: method.toUpperCase(), urls, operation });
    }
  return operations;
}

/** The names of the parameters that an operation reads, in whatever encoding. */
export function parameterNames({ requestBody }: Operation): string[] {
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => Object.keys(schema.properties));
  for (const names of bodies) assert.deepEqual(names, bodies[0], 'both encodings carry the same');
  return bodies[0] ?? [];
}

/** All that the operation may answer: each as its id and status, and the error if the document names some. */
export function possibleAnswers({ operationId, responses }: Operation): string[] {
  return Object.entries(responses).flatMap(([status, { content }]) => {
    const error = content['application/json']?.schema.allOf?.[1].properties.error;
    const codes = error?.enum ?? error?.properties?.code.enum ?? [''];
    return codes.map((code) => `${operationId} ${status} ${code}`.trim());
  });
}

/** What is sent: fields as a form, or a body of its own. */
export type Sent = {
  readonly fields?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
};

/** A service that is asked by operation, and whose every answer must be as its document says. */
export class DescribedService {
  readonly operations: Map<string, Described>;
  /** All that was answered, as `possibleAnswers` has it. */
  readonly seen: Set<string>;

  private constructor(document: Document, seen: Set<string>) {
    this.operations = operationsOf(document);
    this.seen = seen;
  }

  /** Fetches the document of a service. */
  static async of({ appUrl }: Pick<TestService, 'appUrl'>, seen = new Set<string>()): Promise<DescribedService> {
    const answer = await fetch(`${appUrl}/openapi.json`);
    return new DescribedService(resolved((await answer.json()) as object), seen);
  }

  /** The operation of an id. */
  operation(id: string): Described {
    const described = this.operations.get(id);
    assert.ok(described, `the document has ${id}`);
    return described;
  }

  /** Asks, asserts that answer and request are described, and returns what came. */
  async ask(id: string, { fields = {}, headers = {}, method, body }: Sent = {}): Promise<JsonAnswer> {
    const described = this.operation(id);
    const sent = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const posted = described.method === 'POST' ? { body: body ?? new URLSearchParams(sent) } : {};
    const [url = ''] = described.urls;
    const response = await fetch(url, { method: method ?? described.method, headers, ...posted });
    const answer = { status: response.status, headers: response.headers, body: await response.json() } as JsonAnswer;
    this.check(id, answer);
    const schema = described.operation.requestBody?.content['application/x-www-form-urlencoded']?.schema;
    if (schema && response.ok) assertFits(schema, Object.fromEntries(sent), `the request of ${id}`);
    return answer;
  }

  /** Asserts that an answer is as the document says. */
  check(id: string, { status, headers, body }: JsonAnswer): void {
    const { operation } = this.operation(id);
    const answer = operation.responses[status];
    assert.ok(answer, `${id} answered ${status}: ${JSON.stringify(body)}`);
    for (const [name, { required, schema }] of Object.entries(answer.headers)) {
      const value = headers.get(name);
      if (value !== null || required) assertFits(schema, value, `${name} of ${id} ${status}`);
    }
    const named = Object.keys(answer.headers).map((name) => name.toLowerCase());
    for (const name of headers.keys())
      assert.ok(!name.startsWith('access-control-') || named.includes(name), `${id} ${status} has ${name}`);
    const type = headers.get('content-type')?.replace(/;.*$/, '') ?? '';
    const content = answer.content[type];
    assert.ok(content, `${id} ${status} has ${type}`);
    assertFits(content.schema, body, `${id} ${status}`);
    const { error } = body as { error?: string | { code: string } };
    this.seen.add(`${id} ${status} ${typeof error === 'object' ? error.code : (error ?? '')}`.trim());
  }
}
