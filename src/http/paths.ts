/** Where the endpoints are: below `{app_url}` those of both faces and the pages, below `{api_url}` the check. */
export const AUTHORIZE_PATH = '/auth/oauth2/authorize';
export const TOKEN_PATH = '/api/auth/oauth/token';
export const REFRESH_TOKEN_PATH = '/api/auth/oauth/refreshToken';
export const ME_PATH = '/v2/me';
export const LOGO_PATH = '/assets/logo';

/** The standard face. */
export const STANDARD_PATHS = {
  metadata: '/.well-known/oauth-authorization-server',
  authorize: '/oauth2/authorize',
  token: '/oauth2/token',
  revoke: '/oauth2/revoke',
  introspect: '/oauth2/introspect',
  revocations: '/oauth2/revocations',
  pushedAuthorizationRequest: '/oauth2/par',
  deviceAuthorization: '/oauth2/device_authorization',
  device: '/device',
  openApi: '/openapi.json',
} as const;

/** The API's own metadata (RFC 9728 §3), below `{api_url}`. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';
