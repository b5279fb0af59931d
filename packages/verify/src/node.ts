/** For an API on bare `node:http`, and any framework with its requests and responses. */
import type { CheckOptions } from './options.ts';
import type { Principal } from './principal.ts';
import type { Refusal } from './refusal.ts';
import type { Verifier } from './verifier.ts';

/** The part of a `node:http` request that is read. */
export type NodeRequest = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly authorization?: string | undefined };
};

/** The part of a `node:http` response that is used. */
export type NodeResponse = {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
};

/** Checks the token of a request. Null if the request was refused: its answer is already sent. */
export async function authorize(
  verifier: Verifier,
  request: NodeRequest,
  response: NodeResponse,
  options?: CheckOptions,
): Promise<Principal | null> {
  const result = await verifier.check(request.headers.authorization, options);
  if (result.ok) return result.principal;
  sendRefusal(response, result);
  return null;
}

/**
 * Answers a request for the API's metadata (RFC 9728), which needs no token. False for any other, without sending
 * anything.
 */
export function serveMetadata(verifier: Verifier, { method, url }: NodeRequest, response: NodeResponse): boolean {
  const answer = verifier.metadata(method ?? '', url ?? '');
  if (answer) send(response, answer);
  return answer !== undefined;
}

/** Answers with a refusal. */
export function sendRefusal(response: NodeResponse, { status, headers, body }: Refusal): void {
  send(response, { status, headers, body: JSON.stringify(body) });
}

type Answer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };

function send(response: NodeResponse, { status, headers, body }: Answer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
}
