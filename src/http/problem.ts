/** What can go wrong before or around a handler, whichever face says so. */

/** Things that can go wrong before or around a handler, with the HTTP status each one has. */
export const STATUS = {
  bad_request: 400,
  plain_http: 400,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
} as const;

/** A problem by name; `retryAfter` in seconds and `allow` go into headers, `description` is public. */
export type HttpProblem = {
  readonly kind: keyof typeof STATUS;
  readonly description?: string;
  readonly retryAfter?: number;
  readonly allow?: readonly string[];
};
