/** A plain request for a direct endpoint. */
import type { Parameters } from '../../oauth/parameters.ts';
import { BODY_LIMIT_BYTES, usualDecoder } from '../decoding.ts';
import type { Endpoint, EndpointRequest, JsonAnswers, Outcome } from '../endpoint.ts';
import { newRequestId } from '../request-id.ts';
import type { PlainHead, PlainHeaders } from './plain-request.ts';

/** An endpoint at its address. */
export type Route = {
  readonly method: string;
  readonly path: string;
  readonly endpoint: Endpoint;
  readonly answers: JsonAnswers;
};

/** What a request brings beside its head: so many bytes, and what decodes them; null for nothing. */
export type Content = { readonly length: number; readonly decode: ((body: Buffer) => Parameters) | null };

const NOTHING: Content = { length: 0, decode: null };

/** What a request brings, as its head says; null when that is not as usual. */
export function contentOf({ method }: Route, headers: PlainHeaders): Content | null {
  const length = headers['content-length'];
  if (method === 'GET') return length === undefined ? NOTHING : null;
  const decode = usualDecoder(headers['content-type']);
  return decode && Number(length) <= BODY_LIMIT_BYTES ? { length: Number(length), decode } : null;
}

/** A request whose head has come. */
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
