/** better-auth with its OAuth provider, on SQLite, with what their documentation asks for in production. */
import { randomBytes } from 'node:crypto';
import { oauthProvider } from '@better-auth/oauth-provider';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import { app, lifetimes, openSqlite, origin, serve, user } from './serve.mjs';

const SCOPE = 'openid offline_access';
/** Clients that it keeps in memory. */
const trusted = new Set();

const options = {
  baseURL: origin,
  basePath: '/',
  secret: randomBytes(32).toString('base64url'),
  database: openSqlite(''),
  emailAndPassword: { enabled: true },
  // Its limits are for each source address, and the load comes from one.
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [
    jwt(),
    oauthProvider({
      loginPage: '/login',
      consentPage: '/consent',
      accessTokenExpiresIn: lifetimes.access,
      refreshTokenExpiresIn: lifetimes.refresh,
      codeExpiresIn: lifetimes.code,
      cachedTrustedClients: trusted,
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
  ],
};
await (await getMigrations(options)).runMigrations();
const auth = betterAuth(options);

const signedUp = await auth.api.signUpEmail({
  body: { email: user.email, name: user.name, password: randomBytes(16).toString('hex') },
  asResponse: true,
});
const cookie = signedUp.headers
  .getSetCookie()
  .map((line) => line.split(';')[0])
  .join('; ');

await register();
serve(toNodeHandler(auth), mint);

/** A code, as the authorization endpoint answers it to the browser of somebody who is signed in. */
async function mint() {
  const query = { response_type: 'code', client_id: app.id, redirect_uri: app.redirectUri, scope: SCOPE, state: 's' };
  // A nonce, since it gives no refresh token without that or PKCE.
  const address = `${origin}/oauth2/authorize?${new URLSearchParams({ ...query, nonce: 'n' })}`;
  const { headers } = await auth.handler(new Request(address, { headers: { cookie } }));
  return new URL(headers.get('location')).searchParams.get('code');
}

/** Registers the app, which gets its id and its secret from the library. */
async function register() {
  const { client_id: id, client_secret: secret } = await auth.api.adminCreateOAuthClient({
    headers: new Headers({ cookie }),
    body: {
      redirect_uris: [app.redirectUri],
      scope: SCOPE,
      token_endpoint_auth_method: 'client_secret_post',
      skip_consent: true,
      require_pkce: false,
    },
  });
  Object.assign(app, { id, secret });
  trusted.add(id);
}
