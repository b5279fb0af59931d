/**
 * Valetkey beside a product made with Next.js on one host name: these paths go to Valetkey, all others stay with the
 * product. Valetkey has these settings:
 *   VALETKEY_APP_URL=https://app.example.com
 *   VALETKEY_API_URL=https://app.example.com
 *   VALETKEY_PAGES_BASE_PATH=/connect
 *   VALETKEY_TRUSTED_PROXIES=127.0.0.1
 * The proxy before Next.js ends TLS and sets `X-Forwarded-For` and `X-Forwarded-Proto`: Next.js hands on what it gets, also
 * what a visitor claims. A middleware of the product leaves these paths alone.
 */
const VALETKEY = 'http://127.0.0.1:3000';

const PATHS = [
  '/connect',
  '/connect/:path*',
  '/auth/oauth2/authorize',
  '/api/auth/oauth/:path*',
  '/oauth2/:path*',
  '/v2/me',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
];

export default {
  // Before the product's own files, so that none of them can stand in for an endpoint.
  rewrites: async () => ({ beforeFiles: PATHS.map((source) => ({ source, destination: VALETKEY + source })) }),
};
