/** What the log says of a request: what it came to, never its query, body, cookies or credentials. */

/** A request that was answered, or given up. `ms` is how long that took. */
type Answered = {
  readonly method: string;
  /** The route's address, or null where there is none. */
  readonly route: string | null;
  readonly status: number;
  readonly ms: number;
  readonly source: string;
};

/** The line's fields, in their order. */
export function requestLine({ method, route, status, ms, source }: Answered): object {
  return { method, route, status, ms: Math.round(ms * 10) / 10, source };
}
