/** @node-oauth/oauth2-server with the model that its documentation asks for, and node:http around it. */
import OAuth2Server from '@node-oauth/oauth2-server';
import { answer, app, inTransaction, lifetimes, openSqlite, readForm, serve, user } from './serve.mjs';

const { Request, Response } = OAuth2Server;
const SCOPE = ['profile'];

const database = openSqlite(`
  CREATE TABLE code (code TEXT PRIMARY KEY, expires_at INTEGER, redirect_uri TEXT, scope TEXT, client_id TEXT, user_id TEXT)
    WITHOUT ROWID;
  CREATE TABLE token (access_token TEXT PRIMARY KEY, access_expires_at INTEGER, refresh_token TEXT UNIQUE,
    refresh_expires_at INTEGER, scope TEXT, client_id TEXT, user_id TEXT) WITHOUT ROWID`);
const addCode = database.prepare('INSERT INTO code VALUES (?, ?, ?, ?, ?, ?)');
const findCode = database.prepare('SELECT * FROM code WHERE code = ?');
const dropCode = database.prepare('DELETE FROM code WHERE code = ?');
const addToken = database.prepare('INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?)');
const findAccess = database.prepare('SELECT * FROM token WHERE access_token = ?');
const findRefresh = database.prepare('SELECT * FROM token WHERE refresh_token = ?');
const dropToken = database.prepare('DELETE FROM token WHERE refresh_token = ?');

const client = { id: app.id, grants: ['authorization_code', 'refresh_token'], redirectUris: [app.redirectUri] };
const clients = new Map([[client.id, { client, secret: app.secret }]]);
const users = new Map([[user.id, user]]);

const model = {
  async getClient(id, secret) {
    const known = clients.get(id);
    return known && (secret === null || secret === known.secret) ? known.client : null;
  },
  async saveAuthorizationCode(code, { id }, { id: userId }) {
    const { authorizationCode, expiresAt, redirectUri, scope } = code;
    addCode.run(authorizationCode, expiresAt.getTime(), redirectUri, scope.join(' '), id, userId);
    return { ...code, client, user };
  },
  async getAuthorizationCode(code) {
    const row = findCode.get(code);
    if (!row) return null;
    const { expires_at: expiresAt, redirect_uri: redirectUri } = row;
    return { authorizationCode: code, expiresAt: new Date(expiresAt), redirectUri, ...belonging(row) };
  },
  revokeAuthorizationCode: async ({ authorizationCode }) => dropCode.run(authorizationCode).changes > 0,
  async saveToken(token, { id }, { id: userId }) {
    const { accessToken, accessTokenExpiresAt: access, refreshToken, refreshTokenExpiresAt: refresh } = token;
    addToken.run(accessToken, access.getTime(), refreshToken, refresh.getTime(), token.scope.join(' '), id, userId);
    return { ...token, client, user };
  },
  getAccessToken: async (accessToken) => tokenOf(findAccess.get(accessToken)),
  getRefreshToken: async (refreshToken) => tokenOf(findRefresh.get(refreshToken)),
  revokeToken: async ({ refreshToken }) => dropToken.run(refreshToken).changes > 0,
};

const oauth = new OAuth2Server({ model });
const tokenOptions = { accessTokenLifetime: lifetimes.access, refreshTokenLifetime: lifetimes.refresh };

serve(
  async (message, answerMessage) => {
    const { method, headers } = message;
    const isToken = message.url === '/token';
    const body = isToken ? await readForm(message) : {};
    const request = new Request({ method, headers, query: {}, body });
    const response = new Response();
    try {
      if (isToken) await oauth.token(request, response, tokenOptions);
      else response.body = userInfo(await oauth.authenticate(request, response));
      answer(answerMessage, response.status, response.body, response.headers);
    } catch (error) {
      answer(answerMessage, error.code ?? 500, { error: error.name });
    }
  },
  mint,
  { atOnce: inTransaction(database) },
);

/** A code, as the library's authorization endpoint saves it for a user who allowed. */
async function mint() {
  const query = {
    response_type: 'code',
    client_id: app.id,
    redirect_uri: app.redirectUri,
    scope: 'profile',
    state: 's',
  };
  const request = new Request({ method: 'GET', headers: {}, query, body: {} });
  const code = await oauth.authorize(request, new Response(), {
    authenticateHandler: { handle: () => user },
    authorizationCodeLifetime: lifetimes.code,
  });
  return code.authorizationCode;
}

function tokenOf(row) {
  return row
    ? {
        accessToken: row.access_token,
        accessTokenExpiresAt: new Date(row.access_expires_at),
        refreshToken: row.refresh_token,
        refreshTokenExpiresAt: new Date(row.refresh_expires_at),
        ...belonging(row),
      }
    : null;
}

function belonging({ scope, client_id: clientId, user_id: userId }) {
  return { scope: scope?.split(' ') ?? SCOPE, client: clients.get(clientId)?.client, user: users.get(userId) };
}

function userInfo({ user: { id, email, name } }) {
  return { sub: id, email, name };
}
