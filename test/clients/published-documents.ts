/**
 * Metadata documents as their makers publish them. We could not ask the makers' hosts: each text is what people who fetched it
 * put into public repositories on GitHub, at least two of them alike, read on 26 November 2026. `fetched`: the day that one of them
 * names; null if none does.
 */

/** A document, and a redirect URI that its agent then sends. */
export type PublishedDocument = {
  readonly fetched: string | null;
  readonly members: Readonly<Record<string, unknown>> & { readonly client_id: string };
  readonly sends: string;
};

const CODE_AND_REFRESH = ['authorization_code', 'refresh_token'];
const OPENAI_LOGO = 'https://persistent.oaistatic.com/sonic/misc/openai-logo.png';

/** Codex has one document for services with `iss` in their answers, and one for each MCP server elsewhere. */
function codex(id: string, path: string): PublishedDocument['members'] {
  return {
    client_id: id,
    client_uri: 'https://chatgpt.com/codex',
    application_type: 'native',
    redirect_uris: [`http://127.0.0.1${path}`, `http://localhost${path}`],
    token_endpoint_auth_method: 'none',
    token_endpoint_auth_methods_supported: ['none'],
    grant_types: CODE_AND_REFRESH,
    response_types: ['code'],
    client_name: 'Codex',
    logo_uri: OPENAI_LOGO,
  };
}

/** The documents by the names of their agents. */
export const PUBLISHED: Readonly<Record<string, PublishedDocument>> = {
  'Claude Code': {
    fetched: '2026-09-08',
    members: {
      client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    sends: 'http://localhost:3118/callback',
  },
  'Claude on the web': {
    fetched: '2026-09-29',
    members: {
      client_id: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
      client_name: 'Claude',
      client_uri: 'https://claude.ai',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      grant_types: [...CODE_AND_REFRESH, 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    sends: 'https://claude.ai/api/mcp/auth_callback',
  },
  'VS Code': {
    fetched: '2026-09-08',
    members: {
      client_name: 'Visual Studio Code',
      logo_uri: 'https://code.visualstudio.com/assets/branding/code-stable.png',
      grant_types: [...CODE_AND_REFRESH, 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      client_id: 'https://vscode.dev/oauth/client-metadata.json',
      client_uri: 'https://vscode.dev/product',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
    },
    sends: 'http://127.0.0.1:49731/',
  },
  ChatGPT: {
    fetched: '2026-09-08',
    members: {
      client_id: 'https://chatgpt.com/oauth/client.json',
      client_uri: 'https://chatgpt.com/',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      client_name: 'ChatGPT',
      logo_uri: OPENAI_LOGO,
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
    },
    sends: 'https://chatgpt.com/connector_platform_oauth_redirect',
  },
  Codex: {
    fetched: '2026-09-24',
    members: codex('https://chatgpt.com/oauth/codex/client.json', '/callback'),
    sends: 'http://127.0.0.1:41733/callback',
  },
  'Codex, for one MCP server': {
    fetched: null,
    members: codex('https://chatgpt.com/oauth/codex/4-bzS8rt42zJ/client.json', '/callback/4-bzS8rt42zJ'),
    sends: 'http://127.0.0.1:41733/callback/4-bzS8rt42zJ',
  },
};
