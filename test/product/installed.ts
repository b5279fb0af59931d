/** packages/product as a product has it: built, packed and installed in a project of its own. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type * as forExpress from '../../packages/product/src/express.ts';
import type * as forFastify from '../../packages/product/src/fastify.ts';
import type * as forHono from '../../packages/product/src/hono.ts';
import type * as forFetch from '../../packages/product/src/product.ts';
import { buildProduct, pack } from '../../tools/package.mjs';
import type { Lifetime } from '../support/service.ts';

/** The modules of the package. */
export type Modules = {
  readonly product: typeof forFetch;
  readonly express: typeof forExpress;
  readonly fastify: typeof forFastify;
  readonly hono: typeof forHono;
};

/** The installed package: its modules, the project, the folder that was packed, and what npm says of the file. */
export type Installed = {
  readonly modules: Modules;
  readonly consumer: string;
  readonly built: string;
  readonly packed: { readonly filename: string; readonly size: number; readonly files: { readonly path: string }[] };
};

/** Builds, packs and installs the package, for the length of a test. */
export async function installProduct(t: Lifetime): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'valetkey-product-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [built, consumer] = [join(folder, 'built'), join(folder, 'consumer')];
  buildProduct(built);
  const packed = pack(built, folder);
  await mkdir(consumer);
  await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
  // It depends on nothing, so nothing has to be fetched.
  const options = ['--offline', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', ['install', join(folder, packed.filename), ...options], { cwd: consumer });
  const root = join(consumer, 'node_modules/@valetkey/product');
  const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const load = (name: string) => import(pathToFileURL(join(root, exports[name])).href);
  const [product, express, fastify, hono] = await Promise.all(['.', './express', './fastify', './hono'].map(load));
  return { modules: { product, express, fastify, hono }, consumer, built, packed };
}
