/** Problems before or around a handler. Each face answers them in its own form. */

/** The kinds of problems, each with its HTTP status. */
export const STATUS = {
  bad_request: 400,
  plain_http: 400,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  too_large: 413,
  unsupported_media_type: 415,
  misdirected_request: 421,
  too_many_requests: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
} as const;

/** A problem. `retryAfter` (s) and `allow` go into headers; `description` is public, as is the address that was `meant`. */
export type HttpProblem = {
  readonly kind: keyof typeof STATUS;
  readonly description?: string;
  readonly meant?: string;
  readonly retryAfter?: number;
  readonly allow?: readonly string[];
};
