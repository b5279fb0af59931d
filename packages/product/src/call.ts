/** One call to Valetkey, repeated while that can help. */
import type { Credentials } from './credentials.ts';

/** A call that failed. Its members are for the product's log: none of them holds a secret or a sign-in request. */
export class ValetkeyError extends Error {
  override readonly name = 'ValetkeyError';
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** The error code of the answer, such as `invalid_client`; otherwise `unreachable`, or `odd_answer`. */
  readonly code: string;

  constructor(status: number, code: string, description: string) {
    super(`Valetkey: ${code}${status ? ` (${status})` : ''}: ${withoutLongWords(description)}`);
    [this.status, this.code] = [status, withoutLongWords(code)];
  }
}

/** A call: `within` is how long it may take with its repetitions, in ms. */
export type CallParts = {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly within?: number;
};

/** How long one try may take, in ms. */
const MAX_WAIT = 10_000;
/** The statuses after which the same call may succeed. */
const PASSING = [429, 502, 503, 504];

/**
 * Makes a call, and returns its JSON; undefined for 204. Repeats it, since all calls may be repeated, at most twice and
 * not before `Retry-After`. Throws `ValetkeyError`.
 */
export async function call(credentials: Credentials, parts: CallParts): Promise<unknown> {
  const until = Date.now() + (parts.within ?? 30_000);
  for (let tries = 1; ; tries += 1) {
    const { error, wait, value } = await attempt(credentials, parts, until);
    if (!error) return value;
    const pause = wait ?? 250 * tries;
    if (tries === 3 || Date.now() + pause >= until) throw error;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** The result of one try: an error may say how long to wait (ms), forever if another try is of no use. */
type Attempt = { readonly error?: ValetkeyError; readonly wait?: number; readonly value?: unknown };

async function attempt(credentials: Credentials, { method, path, body }: CallParts, until: number): Promise<Attempt> {
  const { fetch } = credentials;
  const { headers, members } = credentials.prove(body !== undefined);
  if (body) headers['Content-Type'] = 'application/json';
  const url = `${credentials.url}/api/auth/oauth${path}`;
  const signal = AbortSignal.timeout(Math.max(1, Math.min(MAX_WAIT, until - Date.now())));
  const init = { method, headers, redirect: 'error' as const, signal };
  try {
    const response = await fetch(url, body ? { ...init, body: JSON.stringify({ ...members, ...body }) } : init);
    const text = await response.text();
    if (response.status === 204) return {};
    const said = JSON.parse(text) as { error?: unknown; error_description?: unknown };
    if (response.ok) return { value: said };
    const error = new ValetkeyError(response.status, String(said.error), String(said.error_description ?? ''));
    const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
    if (!PASSING.includes(response.status)) return { error, wait: Number.POSITIVE_INFINITY };
    return seconds >= 0 ? { error, wait: seconds * 1000 } : { error };
  } catch (problem) {
    const { name, cause } = problem as { name: string; cause?: { code?: string } };
    if (problem instanceof SyntaxError) return { error: new ValetkeyError(0, 'odd_answer', 'the answer is no JSON') };
    return { error: new ValetkeyError(0, 'unreachable', cause?.code ?? name) };
  }
}

/** Returns a text of another program for a log: short, and without anything that could be a credential. */
function withoutLongWords(text: string): string {
  return text.replace(/[\w.~+/=-]{40,}/g, '…').slice(0, 300);
}
