/**
 * The shape that all peers share: `node PEER.mjs PORT STORE` serves on 127.0.0.1, with its data in STORE (the path of a
 * SQLite file, or a postgres:// address), and prints its address. A route of the bench alone mints codes.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';

/** What the command line says. */
export const [port, store] = [Number(process.argv[2]), process.argv[3] ?? ''];
/** The address of this peer. */
export const origin = `http://127.0.0.1:${port}`;
/** The one app, with a secret of its own. */
export const app = { id: 'app_bench', secret: secret(), redirectUri: 'https://client.example/callback' };
/** The API that may introspect. */
export const api = { id: 'api_bench', secret: secret() };
/** The one user. */
export const user = { id: 'usr_0123456789abcdef', email: 'ada@example.com', name: 'Ada Example' };
/** How long things live, in seconds, as at Valetkey. */
export const lifetimes = { code: 600, access: 1800, refresh: 30 * 86_400 };
/** So many codes are minted at once. */
const AT_ONCE = 100;

/**
 * Serves. `mint` answers a new code, made by the library's own model; `atOnce` makes what is minted one transaction
 * where a store can have that, so that filling it is not what takes long.
 */
export function serve(handler, mint, { atOnce = (work) => work() } = {}) {
  const server = createServer(async (request, response) => {
    if (!request.url?.startsWith('/bench/codes/')) return handler(request, response);
    try {
      const codes = await atOnce(() => mintMany(mint, Number(request.url.split('/').pop())));
      const { id: clientId, secret: clientSecret, redirectUri } = app;
      answer(response, 200, { clientId, clientSecret, redirectUri, codes, resourceServer: api });
    } catch (error) {
      answer(response, 500, { error: String(error?.stack ?? error) });
    }
  });
  // A loop that was kept for five seconds hangs up idle connections before it looks whether a request has come on them.
  server.keepAliveTimeout = 0;
  server.listen(port, '127.0.0.1', () => console.log(origin));
}

/** Opens the SQLite file as durable as Valetkey's: what was answered survives a power cut. */
export function openSqlite(schema) {
  const database = new DatabaseSync(store);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec(schema);
  return database;
}

/** Runs some work as one transaction of a SQLite database on which nothing else is done meanwhile. */
export function inTransaction(database) {
  return async (work) => {
    database.exec('BEGIN');
    try {
      return await work();
    } finally {
      database.exec('COMMIT');
    }
  };
}

/** Answers JSON. */
export function answer(response, status, body, headers = {}) {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json', 'Content-Length': bytes.length });
  response.end(bytes);
}

/** A request's form, as an object. */
export function readForm(request) {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('latin1').on('data', (some) => {
      text += some;
    });
    request.once('error', reject).once('end', () => resolve(Object.fromEntries(new URLSearchParams(text))));
  });
}

async function mintMany(mint, count) {
  const codes = [];
  while (codes.length < count)
    codes.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - codes.length) }, mint))));
  return codes;
}

function secret() {
  return randomBytes(32).toString('base64url');
}
