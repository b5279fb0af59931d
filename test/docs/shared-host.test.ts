/** The examples for a shared host name: each names the same paths, and they are the ones that the service answers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  AUTHORIZE_PATH,
  ME_PATH,
  REFRESH_TOKEN_PATH,
  RESOURCE_METADATA_PATH,
  STANDARD_PATHS,
  TOKEN_PATH,
} from '../../src/http/service/paths.ts';
import { pagePaths } from '../../src/pages/layout/page-paths.ts';

const FOLDER = new URL('../../deploy/shared-host/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, FOLDER), 'utf8');

/** The paths that go to Valetkey; one that ends with a star stands for everything that begins with it. */
const PATHS = [
  '/connect',
  '/connect/*',
  '/auth/oauth2/authorize',
  '/api/auth/oauth/*',
  '/oauth2/*',
  '/v2/me',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
];

test('operators: the paths of a shared host name are all that the service answers', () => {
  const published = [AUTHORIZE_PATH, TOKEN_PATH, REFRESH_TOKEN_PATH, ME_PATH, RESOURCE_METADATA_PATH];
  const pages = Object.values(pagePaths('/connect')).map((path) => (typeof path === 'string' ? path : path('0')));
  for (const served of [...published, ...Object.values(STANDARD_PATHS), ...pages])
    assert.ok(
      PATHS.some((path) => (path.endsWith('*') ? served.startsWith(path.slice(0, -1)) : served === path)),
      served,
    );
});

test('operators: nginx, Caddy and Next.js are told the same paths, and docs/operating/shared-host.md lists them', async () => {
  const nginx = [
    ...read('nginx.conf').matchAll(/^ {4}location (=|\^~) (\/\S*) \{\n {8}proxy_pass http:\/\/valetkey;/gm),
  ]
    .map(([, kind, path = '']) => (kind === '=' ? path : `${path}*`))
    .filter((path) => path !== STANDARD_PATHS.revocations);
  assert.deepEqual(nginx, PATHS);
  const [, caddy = ''] = /@valetkey path (.*)/.exec(read('Caddyfile')) ?? [];
  assert.deepEqual(caddy.split(' '), PATHS);
  const { default: next } = await import(new URL('next.config.mjs', FOLDER).href);
  const { beforeFiles } = (await next.rewrites()) as { beforeFiles: { source: string; destination: string }[] };
  assert.deepEqual(
    beforeFiles.map(({ source }) => source.replace(':path*', '*')),
    PATHS,
  );
  for (const { source, destination } of beforeFiles) assert.equal(destination, `http://127.0.0.1:3000${source}`);
  const page = readFileSync(new URL('../../docs/operating/shared-host.md', import.meta.url), 'utf8');
  for (const path of PATHS) assert.ok(page.includes(`| \`${path.replace('/connect', '{base}')}\` |`), path);
});
