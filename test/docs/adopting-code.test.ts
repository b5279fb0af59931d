/** The code of docs/adopting.md and docs/operating/product.md to copy: it runs as it stands, in Express and in Flask. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import express from 'express';
import { createApi } from '../../packages/product/src/product.ts';

const root = new URL('../..', import.meta.url);
const adopting = readFileSync(new URL('docs/adopting.md', root), 'utf8');
const live = readFileSync(new URL('docs/operating/product.md', root), 'utf8');
const python = ['python3', '/usr/bin/python3'].find((one) => spawnSync(one, ['-c', 'import flask']).status === 0);

/** Returns the first block of a language in a page that contains a text. */
function codeOf(page: string, language: string, text: string): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) => code);
  return blocks.find((code) => code.includes(text)) ?? assert.fail(text);
}

/** Starts Valetkey's part of these pages: one user with a waiting app, until it is revoked; `isDown` breaks it. */
async function startStandIn(t: TestContext): Promise<{ url: string; isDown: boolean }> {
  let apps = [{ name: 'Postcards <b>', client_id: 'app_1', connection_id: 'c', is_waiting: true }];
  const service = { url: '', isDown: false };
  const url = await listen(t, async (request, response) => {
    if (service.isDown) return response.writeHead(401).end('{"error":"invalid_client"}');
    if (request.method === 'GET') return response.end(JSON.stringify({ connections: apps, next: null }));
    const chunks = await request.toArray();
    assert.deepEqual(JSON.parse(String(Buffer.concat(chunks))), { subject: '17', client_id: 'app_1' });
    apps = [];
    response.writeHead(204).end();
  });
  return Object.assign(service, { url });
}

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, 'localhost');
  await once(server, 'listening');
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

test('product: the settings page of Express lists apps, escaped, removes one, and says that the list is unavailable', async (t) => {
  const service = await startStandIn(t);
  const { connections } = createApi({ url: service.url, id: 'product', secret: 's' });
  const app = express();
  app.use(express.urlencoded({ extended: false }), (request, _response, next) => {
    Object.assign(request, { session: { user: { id: 17 } } });
    next();
  });
  const silent = { error: () => {} };
  const code = codeOf(live, 'js', "app.all('/settings/apps'");
  new Function('app', 'connections', 'console', code)(app, connections, silent);
  const address = `${await listen(t, app)}/settings/apps`;
  const shown = await (await fetch(address)).text();
  assert.match(shown, /Postcards &#60;b&#62; \(not finished yet\)\s+<button name="app" value="app_1">/);
  const left = await fetch(address, { method: 'POST', body: new URLSearchParams({ app: 'app_1' }) });
  assert.equal(await left.text(), 'No app is connected.');
  service.isDown = true;
  const failed = await fetch(address);
  assert.deepEqual([failed.status, await failed.text()], [503, 'Your apps can’t be shown right now.']);
});

/** Runs the Flask part of the guide and the settings page of Flask in one app, then lines that put text into `said`. */
async function runFlask(url: string, lines: string): Promise<unknown> {
  const program = [
    'import json, logging, sys',
    'from flask import Flask, render_template_string',
    'from valetkey_product import ValetkeyError',
    'app = Flask(__name__)',
    'app.secret_key = "x"',
    'app.logger.setLevel(logging.CRITICAL)',
    codeOf(adopting, 'py', 'def current_user').replace('http://localhost:3000', url),
    codeOf(live, 'py', '/settings/apps'),
    'app.add_url_rule("/login", view_func=lambda: login({"id": 17, "name": "Ada", "hash": "h"}), methods=["POST"])',
    'browser = app.test_client()',
    'go = lambda next: browser.post("/login", data={"next": next}).headers["Location"]',
    lines,
    'print(json.dumps(said))',
  ].join('\n');
  const options = { cwd: fileURLToPath(new URL('examples', root)), env: { ...process.env, OAUTH_SECRET: 's' } };
  const { stdout } = await promisify(execFile)(String(python), ['-B', '-c', program], options);
  return JSON.parse(stdout);
}

test('adopting: the Flask part signs in, finds the user, and leads to paths of its own site alone', {
  skip: !python && 'there is no Flask',
}, async () => {
  const said = await runFlask(
    'http://localhost:3000',
    `said = [go(next) for next in ("/a?b=c", "//evil.example", "/\\\\evil.example", "/\\t/evil.example", "https://evil.example", "/a\\n")]
with browser:
    browser.get("/oauth/sign-in")
    user = current_user(request)
    said.append([user["subject"], user["name"], user["signed_in_at"] > 1e9])
said.append(login_url("/x", {"must_sign_in": True}))`,
  );
  const home = Array(5).fill('/');
  assert.deepEqual(said, ['/a?b=c', ...home, ['17', 'Ada', true], '/login?next=%2Fx&again=1']);
});

test('product: the settings page of Flask does the same as that of Express', {
  skip: !python && 'there is no Flask',
}, async (t) => {
  const service = await startStandIn(t);
  const pages = `go("/")
said = [browser.get("/settings/apps").text, browser.post("/settings/apps", data={"app": "app_1"}).text]`;
  const [shown = '', left] = (await runFlask(service.url, pages)) as string[];
  assert.match(shown, /Postcards &lt;b&gt; \(not finished yet\)\s+<button name="app" value="app_1">/);
  assert.equal(left, 'No app is connected.');
  service.isDown = true;
  const failed = await runFlask(service.url, 'go("/")\nsaid = browser.get("/settings/apps").status_code');
  assert.equal(failed, 503);
});
