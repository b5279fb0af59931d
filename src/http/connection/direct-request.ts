/** A plain request for a direct endpoint. */
import type { Parameters } from '../../oauth/parameters.ts';
import { BODY_LIMIT_BYTES, usualDecoder } from '../decoding.ts';
import type { Endpoint, EndpointRequest, JsonAnswers, Outcome } from '../endpoint.ts';
import { newRequestId } from '../request-id.ts';
import type { PlainHead, PlainHeaders } from './plain-request.ts';

/** An endpoint with its method and path. */
export type Route = {
  readonly method: string;
  readonly path: string;
  readonly endpoint: Endpoint;
  readonly answers: JsonAnswers;
};

/** The body of a request: its length in bytes, and its decoder; null without a body. */
export type Content = { readonly length: number; readonly decode: ((body: Buffer) => Parameters) | null };

const NOTHING: Content = { length: 0, decode: null };

/** The body that the head announces; null if that is not plain. */
export function contentOf({ method }: Route, headers: PlainHeaders): Content | null {
  const length = headers['content-length'];
  if (method === 'GET') return length === undefined ? NOTHING : null;
  const decode = usualDecoder(headers['content-type']);
  return decode && Number(length) <= BODY_LIMIT_BYTES ? { length: Number(length), decode } : null;
}

/** A request whose head was read. */
export class DirectRequest implements EndpointRequest {
  readonly id = newRequestId();
  readonly route: Route;
  readonly headers: PlainHeaders;
  readonly source: string;
  /** When its head came (ms, as of `performance.now()`). */
  readonly since = performance.now();
  /** Where it ends (bytes). */
  readonly end: number;
  readonly #bodyAt: number;
  readonly #content: Content;
  body: unknown;
  outcome: Outcome | undefined;

  constructor(route: Route, { headers, bodyAt }: PlainHead, content: Content, source: string) {
    this.route = route;
    this.headers = headers;
    this.source = source;
    this.end = bodyAt + content.length;
    this.#bodyAt = bodyAt;
    this.#content = content;
  }

  get method(): string {
    return this.route.method;
  }

  /** Decodes the body out of all the request's bytes. Throws `MalformedBody`. */
  decode(bytes: Buffer): void {
    this.body = this.#content.decode?.(bytes.subarray(this.#bodyAt, this.end));
  }
}
