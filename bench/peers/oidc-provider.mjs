/** oidc-provider with what its documentation asks for in production: an adapter, keys, cookie keys, findAccount. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Provider } from 'oidc-provider';
import { postgresqlStore, sqliteStore } from './oidc-provider-store.mjs';
import { api, app, lifetimes, origin, serve, store, user } from './serve.mjs';

const SCOPE = 'openid offline_access';

const { Adapter, ...options } = store.startsWith('postgres://') ? await postgresqlStore(store) : sqliteStore();
// RS256 is what it signs ID tokens with unless a client asks for something else.
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const provider = new Provider(origin, {
  adapter: Adapter,
  clients: [
    {
      client_id: app.id,
      client_secret: app.secret,
      redirect_uris: [app.redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_post',
    },
    { client_id: api.id, client_secret: api.secret, redirect_uris: [], grant_types: [], response_types: [] },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'bench' }] },
  cookies: { keys: [randomBytes(32).toString('base64url')] },
  findAccount: (_ctx, id) => (id === user.id ? { accountId: id, claims: () => ({ sub: id }) } : undefined),
  features: { devInteractions: { enabled: false }, introspection: { enabled: true }, revocation: { enabled: true } },
  pkce: { required: () => false },
  // Its default keeps the token of an app with a secret until most of its life is over; here every refresh rotates.
  rotateRefreshToken: true,
  ttl: {
    AccessToken: lifetimes.access,
    AuthorizationCode: lifetimes.code,
    Grant: lifetimes.refresh,
    IdToken: lifetimes.access,
    RefreshToken: lifetimes.refresh,
  },
});

serve(provider.callback(), mint, options);

/** A grant and a code, as the authorization endpoint saves them after consent. */
async function mint() {
  const grant = new provider.Grant({ accountId: user.id, clientId: app.id });
  grant.addOIDCScope(SCOPE);
  const code = new provider.AuthorizationCode({
    accountId: user.id,
    client: await provider.Client.find(app.id),
    grantId: await grant.save(),
    gty: 'authorization_code',
    redirectUri: app.redirectUri,
    scope: SCOPE,
    authTime: Math.floor(Date.now() / 1000),
  });
  return code.save();
}
