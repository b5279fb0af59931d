/** The metadata documents of Codex, which are its client ids (openai/codex, `codex-rs/rmcp-client/src/oauth_client_registration.rs`). */
import { hash } from 'node:crypto';

/** The document of all Codex: it names this one where the authorization response has `iss` (RFC 9207), as here. */
export const CODEX_DOCUMENT = 'https://chatgpt.com/oauth/codex/client.json';

/**
 * Returns the document that earlier versions of Codex name at an MCP server, or null for a resource that is no `http` or `https`
 * URL. In its address are the first 9 bytes, in base64url, of the SHA-256 of the server's URL, as browsers write that.
 */
export function codexDocumentFor(resource: string | null): string | null {
  const url = resource === null ? null : URL.parse(resource);
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  url.hash = '';
  const id = hash('sha256', url.href, 'buffer').subarray(0, 9).toString('base64url');
  return `https://chatgpt.com/oauth/codex/${id}/client.json`;
}
