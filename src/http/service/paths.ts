/**
 * The fixed paths: endpoints and authorization pages. Those of both faces are below `{app_url}`, the token check is
 * below `{api_url}`. All other pages are in `pages/layout/page-paths.ts`.
 */
export const AUTHORIZE_PATH = '/auth/oauth2/authorize';
export const TOKEN_PATH = '/api/auth/oauth/token';
export const REFRESH_TOKEN_PATH = '/api/auth/oauth/refreshToken';
export const ME_PATH = '/v2/me';

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
  keySet: '/oauth2/jwks',
  userInfo: '/oauth2/userinfo',
} as const;

/** Endpoints for identity providers. */
export const PROVIDER_PATHS = {
  signIn: '/api/auth/oauth/sign-in',
  users: '/api/auth/oauth/users',
} as const;

/** The API's own metadata (RFC 9728 §3), below `{api_url}`. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/**
 * The address for clients that look only for OpenID Connect Discovery; it answers with the authorization server's
 * metadata (RFC 8414 §5).
 */
export const OPENID_CONFIGURATION_PATH = '/.well-known/openid-configuration';

/** Returns the addresses of both faces, for developers. The commands that register a client or API print them. */
export function endpointsOf(appUrl: string) {
  const token = appUrl + STANDARD_PATHS.token;
  return {
    published: {
      authorizationUrl: appUrl + AUTHORIZE_PATH,
      accessTokenRequestUrl: appUrl + TOKEN_PATH,
      refreshTokenRequestUrl: appUrl + REFRESH_TOKEN_PATH,
    },
    standard: {
      authorizationUrl: appUrl + STANDARD_PATHS.authorize,
      accessTokenRequestUrl: token,
      refreshTokenRequestUrl: token,
    },
    issuer: appUrl,
    metadataUrl: appUrl + STANDARD_PATHS.metadata,
    deviceAuthorizationUrl: appUrl + STANDARD_PATHS.deviceAuthorization,
    introspectionUrl: appUrl + STANDARD_PATHS.introspect,
    revocationStreamUrl: appUrl + STANDARD_PATHS.revocations,
    signInEndpoint: appUrl + PROVIDER_PATHS.signIn,
  };
}

/**
 * Returns the accepted audiences of a client assertion: this service, or the called endpoint (RFC 7523 §3, RFC 9126
 * §2).
 */
export function assertionAudiences(appUrl: string): string[] {
  const { token, revoke, pushedAuthorizationRequest, deviceAuthorization } = STANDARD_PATHS;
  return [appUrl, ...[token, revoke, pushedAuthorizationRequest, deviceAuthorization].map((path) => appUrl + path)];
}
