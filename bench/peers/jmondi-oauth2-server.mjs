/** @jmondi/oauth2-server with the repositories that its documentation asks for, and node:http around it. */
import { randomBytes } from 'node:crypto';
import { AuthorizationServer, DateInterval, JwtService } from '@jmondi/oauth2-server';
import { handleVanillaError } from '@jmondi/oauth2-server/vanilla';
import { answer, api, app, inTransaction, lifetimes, openSqlite, readForm, serve, user } from './serve.mjs';

const database = openSqlite(`
  CREATE TABLE code (code TEXT PRIMARY KEY, expires_at INTEGER, redirect_uri TEXT, scopes TEXT, client_id TEXT,
    user_id TEXT, challenge TEXT, challenge_method TEXT, revoked INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
  CREATE TABLE token (access_token TEXT PRIMARY KEY, access_expires_at INTEGER, refresh_token TEXT UNIQUE,
    refresh_expires_at INTEGER, scopes TEXT, client_id TEXT, user_id TEXT, code TEXT) WITHOUT ROWID`);
const addCode = database.prepare('INSERT INTO code VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)');
const findCode = database.prepare('SELECT * FROM code WHERE code = ?');
const revokeCode = database.prepare('UPDATE code SET revoked = 1 WHERE code = ?');
// It persists a token with its access token alone, and a second time with its refresh token.
const putToken =
  database.prepare(`INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (access_token) DO UPDATE
  SET refresh_token = excluded.refresh_token, refresh_expires_at = excluded.refresh_expires_at`);
const findAccess = database.prepare('SELECT * FROM token WHERE access_token = ?');
const findRefresh = database.prepare('SELECT * FROM token WHERE refresh_token = ?');
const revokeToken = database.prepare(
  'UPDATE token SET access_expires_at = 0, refresh_expires_at = 0 WHERE access_token = ?',
);

const scope = { name: 'profile' };
const client = {
  id: app.id,
  name: 'Bench',
  secret: app.secret,
  redirectUris: [app.redirectUri],
  allowedGrants: ['authorization_code', 'refresh_token'],
  scopes: [scope],
};
const introspector = { ...client, id: api.id, secret: api.secret, allowedGrants: ['client_credentials'] };
const clients = new Map([client, introspector].map((one) => [one.id, one]));
const users = new Map([[user.id, user]]);

const clientRepository = {
  getByIdentifier: async (id) => clients.get(id),
  isClientValid: async (grant, { secret, allowedGrants }, given) => given === secret && allowedGrants.includes(grant),
};
const scopeRepository = {
  getAllByIdentifiers: async (names) => names.filter((name) => name === scope.name).map(() => scope),
  finalize: async (scopes) => scopes,
};
const userRepository = { getUserByCredentials: async (id) => users.get(id) };
const codeRepository = {
  issueAuthCode: (issuedTo, owner, scopes) => ({
    code: secret(),
    expiresAt: inSeconds(lifetimes.code),
    client: issuedTo,
    user: owner,
    scopes,
  }),
  async persist(code) {
    const { expiresAt, redirectUri, codeChallenge, codeChallengeMethod } = code;
    const owned = [redirectUri ?? null, namesOf(code.scopes), code.client.id, code.user?.id ?? null];
    addCode.run(code.code, expiresAt.getTime(), ...owned, codeChallenge ?? null, codeChallengeMethod ?? null);
  },
  async getByIdentifier(code) {
    const row = findCode.get(code);
    if (!row) throw new Error('no such code');
    const { redirect_uri: redirectUri, challenge: codeChallenge, challenge_method: codeChallengeMethod } = row;
    return {
      code,
      expiresAt: new Date(row.expires_at),
      redirectUri,
      codeChallenge,
      codeChallengeMethod,
      ...whose(row),
    };
  },
  isRevoked: async (code) => findCode.get(code)?.revoked !== 0,
  revoke: async (code) => void revokeCode.run(code),
};
const tokenRepository = {
  issueToken: async (issuedTo, scopes, owner) => ({
    accessToken: secret(),
    accessTokenExpiresAt: inSeconds(lifetimes.access),
    client: issuedTo,
    user: owner,
    scopes,
  }),
  async issueRefreshToken(token) {
    token.refreshToken = secret();
    token.refreshTokenExpiresAt = inSeconds(lifetimes.refresh);
    await this.persist(token);
    return token;
  },
  async persist(token) {
    const { accessToken, accessTokenExpiresAt: access, refreshToken, refreshTokenExpiresAt: refresh } = token;
    const owned = [namesOf(token.scopes), token.client.id, token.user?.id ?? null, token.originatingAuthCodeId ?? null];
    putToken.run(accessToken, access.getTime(), refreshToken ?? null, refresh?.getTime() ?? null, ...owned);
  },
  revoke: async ({ accessToken }) => void revokeToken.run(accessToken),
  isRefreshTokenRevoked: async ({ refreshTokenExpiresAt }) => refreshTokenExpiresAt.getTime() <= Date.now(),
  getByRefreshToken: async (token) => tokenOf(findRefresh.get(token)),
  getByAccessToken: async (token) => tokenOf(findAccess.get(token)),
};

const jwt = new JwtService(secret());
const server = new AuthorizationServer(clientRepository, tokenRepository, scopeRepository, jwt, {
  requiresPKCE: false,
});
const lifetime = new DateInterval(`${lifetimes.access}s`);
server.enableGrantTypes(
  [{ grant: 'authorization_code', authCodeRepository: codeRepository, userRepository }, lifetime],
  ['refresh_token', lifetime],
);

const routes = {
  '/token': (request) => server.respondToAccessTokenRequest(request),
  '/introspect': (request) => server.introspect(request),
  '/me': async ({ headers }) => ({ status: 200, body: await userOf(headers.authorization?.slice('Bearer '.length)) }),
};

serve(
  async (message, answerMessage) => {
    const body = message.method === 'POST' ? await readForm(message) : {};
    const route = routes[message.url] ?? (async () => ({ status: 404, body: {} }));
    const request = { headers: message.headers, query: {}, body };
    const { status, body: answered } = await route(request).catch(handleVanillaError);
    answer(answerMessage, status, answered);
  },
  mint,
  { atOnce: inTransaction(database) },
);

/** A code, as the library's authorization endpoint makes it for a user who allowed. */
async function mint() {
  const query = {
    response_type: 'code',
    client_id: app.id,
    redirect_uri: app.redirectUri,
    scope: 'profile',
    state: 's',
  };
  const request = await server.validateAuthorizationRequest({ headers: {}, query, body: {} });
  request.user = user;
  request.isAuthorizationApproved = true;
  const { headers } = await server.completeAuthorizationRequest(request);
  return new URL(headers.location).searchParams.get('code');
}

/** Its access tokens are signed; whether one was revoked only the database knows. */
async function userOf(token) {
  const { jti } = await jwt.verify(token);
  const found = tokenOf(findAccess.get(jti));
  if (found.accessTokenExpiresAt.getTime() <= Date.now()) throw new Error('revoked');
  const { id, email, name } = found.user;
  return { sub: id, email, name };
}

function tokenOf(row) {
  if (!row) throw new Error('no such token');
  return {
    accessToken: row.access_token,
    accessTokenExpiresAt: new Date(row.access_expires_at),
    refreshToken: row.refresh_token,
    refreshTokenExpiresAt: new Date(row.refresh_expires_at),
    originatingAuthCodeId: row.code,
    ...whose(row),
  };
}

function whose({ scopes, client_id: clientId, user_id: userId }) {
  return {
    client: clients.get(clientId),
    user: users.get(userId),
    scopes: scopes.split(' ').map((name) => ({ name })),
  };
}

function namesOf(scopes) {
  return scopes.map(({ name }) => name).join(' ');
}

function inSeconds(seconds) {
  return new Date(Date.now() + seconds * 1000);
}

function secret() {
  return randomBytes(32).toString('base64url');
}
