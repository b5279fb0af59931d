/** The package as others get it: built, packed, installed in a project of its own, and imported by its names. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildVerifier, pack } from '../../tools/package.mjs';

/** Maximum size of the file (bytes). It is 18.4 KiB now. */
const MAX_SIZE = 25 * 1024;

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = join(root, 'packages/verify');
const folder = await mkdtemp(join(tmpdir(), 'valetkey-verify-'));
after(() => rm(folder, { recursive: true, force: true }));

const run = async (cwd: string, program: string, ...args: string[]) =>
  (await promisify(execFile)(program, args, { cwd })).stdout;
const compile = (...args: string[]) =>
  run(folder, process.execPath, join(root, 'node_modules/typescript/bin/tsc'), ...args).catch(
    (error: { stdout: string }) => assert.fail(error.stdout),
  );

const built = join(folder, 'built');
buildVerifier(built);
const manifest = JSON.parse(await readFile(join(built, 'package.json'), 'utf8'));
const packed = pack(built, folder);
const files: string[] = packed.files.map(({ path }: { path: string }) => path);

const consumer = join(folder, 'consumer');
await mkdir(consumer);
await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
// It depends on nothing, so nothing has to be fetched.
await run(consumer, 'npm', 'install', join(folder, packed.filename), '--offline', '--no-audit', '--no-fund');

test('the package holds what is built, the README and the license, and depends on nothing', () => {
  assert.deepEqual(files.filter((path) => !/^dist\/[a-z-]+\.(js|d\.ts)$/.test(path)).sort(), [
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  for (const name of ['verifier', 'fastify', 'express', 'hono', 'node'])
    assert.ok(files.includes(`dist/${name}.js`), name);
  const fields = ['dependencies', 'peerDependencies', 'optionalDependencies', 'devDependencies', 'scripts', 'private'];
  for (const field of fields) assert.equal(manifest[field], undefined, field);
  assert.equal(manifest.license, 'MIT');
  assert.ok(packed.size < MAX_SIZE, `${packed.size} bytes`);
});

test('nothing that is built imports anything but Node.js and itself', async () => {
  for (const path of files.filter((path) => path.startsWith('dist/'))) {
    const text = await readFile(join(built, path), 'utf8');
    for (const [, name = ''] of text.matchAll(/(?:from|import)\s*\(?'([^']+)'/g))
      assert.match(name, path.endsWith('.js') ? /^(node:[a-z]+|\.\/[a-z-]+\.js)$/ : /^\.\/[a-z-]+\.(js|ts)$/, path);
  }
});

test('plain JavaScript imports it by its names, and gets what they promise and nothing else', async () => {
  const names = {
    '': ['createVerifier', 'principalOf'],
    '/fastify': ['principalOf', 'requireToken', 'serveMetadata'],
    '/express': ['principalOf', 'requireToken', 'serveMetadata'],
    '/hono': ['principalOf', 'requireToken', 'serveMetadata'],
    '/node': ['authorize', 'sendRefusal', 'serveMetadata'],
  };
  for (const [path, exported] of Object.entries(names)) {
    const program = `console.log(Object.keys(await import('${manifest.name}${path}')).join())`;
    const shown = await run(consumer, process.execPath, '--input-type=module', '-e', program);
    assert.equal(shown.trim(), exported.join(), path);
  }
  const inside = run(
    consumer,
    process.execPath,
    '--input-type=module',
    '-e',
    `import '${manifest.name}/dist/verifier.js'`,
  );
  await assert.rejects(inside, /ERR_PACKAGE_PATH_NOT_EXPORTED/);
});

test('its declarations compile in strict mode, for somebody who has none of the frameworks', async () => {
  const program = `
    import { createVerifier, principalOf, type CheckResult, type Principal, type Verifier } from '${manifest.name}';
    import { authorize } from '${manifest.name}/node';
    import * as express from '${manifest.name}/express';
    import * as fastify from '${manifest.name}/fastify';
    import * as hono from '${manifest.name}/hono';
    const verifier: Verifier = createVerifier({ issuer: 'https://auth.example', id: 'a', secret: undefined });
    const result: CheckResult = await verifier.check(null, { scopes: ['a'] });
    if (!result.ok) throw new Error(result.headers['WWW-Authenticate'] ?? result.body.error);
    const principal: Principal = result.principal;
    export const seen: [string, string | null, readonly string[], Date] =
      [principal.sub, principal.username, principal.scopes, principal.expiresAt];
    // @ts-expect-error nobody changes a principal
    principal.sub = '';
    // @ts-expect-error a misspelled option is told
    await verifier.check(null, { scope: ['a'] });
    // @ts-expect-error the secret may not be forgotten
    createVerifier({ issuer: 'https://auth.example', id: 'a' });
    const same: typeof principalOf = express.principalOf;
    export const all = [same, fastify.principalOf, hono.principalOf, express.requireToken(verifier), authorize];
  `;
  await writeFile(join(consumer, 'strict.ts'), program);
  const settings = { lib: ['es2022', 'dom'], types: [], exactOptionalPropertyTypes: true };
  await compileConsumer(['strict.ts'], { ...settings, module: 'nodenext' });
  await compileConsumer(['strict.ts'], { ...settings, module: 'esnext', moduleResolution: 'bundler' });
});

test('the examples of the README compile as they stand, with the real frameworks', async () => {
  const modules = join(consumer, 'node_modules');
  for (const name of ['fastify', 'express', 'hono', '@types'])
    await symlink(join(root, 'node_modules', name), join(modules, name), 'dir');
  const readme = await readFile(join(source, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, block = '']) => block);
  const [options = '', fastify = '', express = '', hono = '', node = '', check = '', metadata = ''] = blocks;
  assert.equal(blocks.length, 7);
  const ours = `import { verifier } from './verifier.ts';\ndeclare function readMailOf(sub: string): object;\n`;
  const examples = {
    verifier: options,
    fastify: `import makeApp from 'fastify';\n${ours}const app = makeApp();\n${fastify}`,
    express: `import makeApp from 'express';\n${ours}const app = makeApp();\n${express}`,
    hono: `import { Hono } from 'hono';\n${ours}const app = new Hono();\n${hono}`,
    node: `import http from 'node:http';\n${ours}http.createServer(async (request, response) => {\n${node.replace(/^import .*\n/, '')}});\n${node.split('\n')[0]}`,
    metadata: `import makeApp from 'express';\n${ours}const app = makeApp();\n${metadata}`,
    check: `${ours}export async function GET({ headers }: Request) {\n${check}return Response.json(readMailOf('')); }`,
  };
  for (const [name, text] of Object.entries(examples)) await writeFile(join(consumer, `${name}.ts`), text);
  const files = Object.keys(examples).map((name) => `${name}.ts`);
  const settings = { module: 'nodenext', types: ['node'], skipLibCheck: true, allowImportingTsExtensions: true };
  await compileConsumer(files, settings);
});

/** Compiles files of the consumer, as strictly as can be. */
async function compileConsumer(files: string[], options: object): Promise<void> {
  const compilerOptions = { noEmit: true, strict: true, target: 'es2022', ...options };
  await writeFile(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  await compile('-p', consumer);
}
