/** The metadata of an API: it tells an app without a token which server issues tokens for the API (RFC 9728). */
import type { MetadataSettings } from './options.ts';

/** An answer to send: its status, its headers, and its body as text. */
export type MetadataAnswer = {
  readonly status: 200 | 204 | 405;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Request headers that pages of any origin may send: those of their own protocol, and of tracing. */
const ALLOWED_HEADERS = 'Authorization, Content-Type, DPoP, MCP-Protocol-Version, traceparent, tracestate, baggage';

/**
 * Returns the address of a resource's metadata: the well-known path comes before the resource's own path (RFC 9728
 * §3.1).
 */
export function metadataUrl(resource: string): URL | undefined {
  const url = new URL(resource);
  if (!/^https?:$/.test(url.protocol)) return undefined;
  const path = url.pathname === '/' ? '' : url.pathname;
  return new URL(`/.well-known/oauth-protected-resource${path}${url.search}`, url);
}

/** Answers a request for the metadata. Undefined if `target`, its path and query, is another address. */
export function answerMetadata(
  { issuer, resource, scopesSupported }: MetadataSettings,
  method: string,
  target: string,
): MetadataAnswer | undefined {
  const url = resource === undefined ? undefined : metadataUrl(resource);
  if (!url || target !== url.pathname + url.search) return undefined;
  const readable = { 'Access-Control-Allow-Origin': '*' };
  if (method === 'OPTIONS') return { status: 204, headers: { ...readable, ...PREFLIGHT }, body: '' };
  if (method !== 'GET' && method !== 'HEAD')
    return { status: 405, headers: { ...readable, Allow: 'GET, HEAD, OPTIONS' }, body: '' };
  const body = JSON.stringify({
    resource,
    authorization_servers: [issuer],
    scopes_supported: scopesSupported,
    bearer_methods_supported: ['header'],
  });
  const headers = { ...readable, 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' };
  return { status: 200, headers, body: method === 'HEAD' ? '' : body };
}

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD',
  'Access-Control-Allow-Headers': ALLOWED_HEADERS,
  'Access-Control-Max-Age': '86400',
};
