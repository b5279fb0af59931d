/**
 * The fixed paths: endpoints and authorization pages. Those of both faces are below `{app_url}`, the token check is
 * below `{api_url}`. All other pages are in `pages/page-paths.ts`.
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

/** Paths that exist at only one of the two addresses, and are requested at the other by mistake. */
const APP_ALONE: readonly string[] = [
  AUTHORIZE_PATH,
  TOKEN_PATH,
  REFRESH_TOKEN_PATH,
  ...Object.values(STANDARD_PATHS),
  OPENID_CONFIGURATION_PATH,
  ...Object.values(PROVIDER_PATHS),
];
const API_ALONE: readonly string[] = [ME_PATH, RESOURCE_METADATA_PATH];

/** Returns equal texts for paths that are easily confused: in case, slashes, dashes or underscores. */
export function likeness(path: string): string {
  return path
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/[_-]/g, '')
    .toLowerCase();
}

/** Returns the method and address that a request to an unknown address probably meant, or undefined. */
export function askInstead(path: string, appUrl: string, apiUrl: string): string | undefined {
  const elsewhere = addressElsewhere(path, appUrl, apiUrl);
  if (elsewhere) return nothingHere(elsewhere);
  return likeness(path).endsWith('/refreshtoken')
    ? `there is nothing at this address: a refresh goes to ${appUrl}${REFRESH_TOKEN_PATH}, or with grant_type=refresh_token to ${appUrl}${STANDARD_PATHS.token}`
    : undefined;
}

/** Returns the sentence that names the right address. */
export function nothingHere(address: string): string {
  return `there is nothing at this address: use ${address}`;
}

/** Returns the right address of a path that was requested at the other one, or undefined. */
export function addressElsewhere(path: string, appUrl: string, apiUrl: string): string | undefined {
  const alike = (each: string) => likeness(each) === likeness(path);
  const ofApi = API_ALONE.find(alike);
  if (ofApi) return apiUrl + ofApi;
  const ofApp = APP_ALONE.find(alike);
  return ofApp && appUrl + ofApp;
}

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
