/** Where the endpoints are, below `{app_url}`, and the check below `{api_url}`. */
export const AUTHORIZE_PATH = '/auth/oauth2/authorize';
export const TOKEN_PATH = '/api/auth/oauth/token';
export const REFRESH_TOKEN_PATH = '/api/auth/oauth/refreshToken';
export const ME_PATH = '/v2/me';
export const LOGO_PATH = '/assets/logo';
