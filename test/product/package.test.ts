/** packages/product as others get it: its size, what it holds and exports, and that its declarations and README compile. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installProduct } from './installed.ts';

/** Maximum size of the file (bytes). It is 17 KiB now. */
const MAX_SIZE = 24 * 1024;
/** Maximum number of lines, with blank ones and comments. */
const MAX_LINES = 700;

const root = fileURLToPath(new URL('../..', import.meta.url));
const { modules, consumer, built, packed } = await installProduct({ after });
const paths = packed.files.map(({ path }) => path);

test(`the package has at most ${MAX_LINES} lines, and depends on nothing`, () => {
  const sources = globSync('packages/product/src/*.ts', { cwd: root }).map((path) =>
    readFileSync(join(root, path), 'utf8'),
  );
  const lines = sources.flatMap((text) => text.trimEnd().split('\n'));
  assert.ok(lines.length > 300 && lines.length <= MAX_LINES, `${lines.length} lines`);
  const manifest = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'));
  for (const field of [
    'dependencies',
    'peerDependencies',
    'optionalDependencies',
    'devDependencies',
    'scripts',
    'private',
  ])
    assert.equal(manifest[field], undefined, field);
  assert.deepEqual(paths.filter((path) => !/^dist\/[a-z-]+\.(js|d\.ts)$/.test(path)).sort(), [
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  assert.ok(packed.size < MAX_SIZE, `${packed.size} bytes`);
});

test('nothing that is built imports anything but Node.js and itself', () => {
  for (const path of paths.filter((path) => path.startsWith('dist/')))
    for (const [, name = ''] of readFileSync(join(built, path), 'utf8').matchAll(/(?:from|import)\s*\(?'([^']+)'/g))
      assert.match(name, /^(node:[a-z]+|\.\/[a-z-]+\.(js|ts))$/, path);
});

test('each name exports what it promises, and nothing else', () => {
  const exported = Object.entries(modules).map(([name, module]) => [name, Object.keys(module).sort().join()]);
  assert.deepEqual(Object.fromEntries(exported), {
    product: 'ValetkeyError,createApi,signIn',
    express: 'signIn',
    fastify: 'signIn',
    hono: 'signIn',
  });
});

test('its declarations compile in strict mode, with the real frameworks, and find mistakes', async () => {
  const frameworks = ['fastify', 'express', 'hono', '@types'];
  for (const name of frameworks)
    await symlink(join(root, 'node_modules', name), join(consumer, 'node_modules', name), 'dir');
  const program = `
    import express from 'express';
    import fastify from 'fastify';
    import { type Context, Hono } from 'hono';
    import { createApi, signIn as forFetch, type CurrentUser, ValetkeyError } from '@valetkey/product';
    import { signIn as forExpress } from '@valetkey/product/express';
    import { signIn as forFastify } from '@valetkey/product/fastify';
    import { signIn as forHono } from '@valetkey/product/hono';
    const valetkey = { url: process.env['URL'], id: 'product', secret: process.env['SECRET'] };
    const user: CurrentUser = { subject: 'a', signedInAt: new Date() };
    const more = { ...valetkey, address: process.env['ADDRESS'], loginUrl: (next: string) => '/login?next=' + next };
    const app = express();
    const endpoint = forExpress({ ...more, currentUser: (request: express.Request) => (request.ip ? user : null) });
    app.all('/oauth/sign-in', endpoint);
    app.get('/login', (request, response) => void response.send(endpoint.pending(request)?.appName));
    fastify().all('/oauth/sign-in', forFastify({ ...more, currentUser: async ({ headers }) => (headers['x'] ? user : null) }));
    new Hono().on(['GET', 'POST'], '/oauth/sign-in', forHono({ ...more, currentUser: (c: Context) => (c.req.url ? user : null) }));
    export const response: Promise<Response> = forFetch({ ...more, currentUser: () => null })(new Request('https://a.example'));
    const { users, connections, disconnects } = createApi(valetkey);
    const [first] = (await connections.list('a', { language: 'en' })).connections;
    if (first) await connections.revoke('a', first);
    export const ended: boolean = await users.disable('a');
    export const page: string | undefined = (await disconnects())?.disconnects[0]?.reason;
    export const code = (error: unknown) => (error instanceof ValetkeyError ? error.code : null);
    // @ts-expect-error the time of the sign-in may be null, and not forgotten
    export const forgotten: CurrentUser = { subject: 'a' };
    // @ts-expect-error an ID is a text
    export const number: CurrentUser = { subject: 17, signedInAt: null };
    // @ts-expect-error the address may not be forgotten
    forFetch({ ...valetkey, currentUser: () => null, loginUrl: () => '/' });
  `;
  await writeFile(join(consumer, 'strict.ts'), program);
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
  };
  await writeFile(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['strict.ts'] }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '-p', consumer]).catch(({ stdout }) => assert.fail(stdout));
});
