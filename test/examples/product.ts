/** The products of examples/, each as a process that signs people in for a real service. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewIdentityProvider } from '../../src/operator/products-and-apis/identity-provider-registry.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { registerAhead } from '../support/provider.ts';
import { Clock, freePort, type Lifetime, startTestService, type TestService } from '../support/service.ts';

/** One of them, and how it is run; without a command it cannot be run here. */
export type Example = {
  readonly file: string;
  readonly command: readonly string[] | null;
};

/** Debian's packages for the examples in Python. `npm run test:languages` installs them; `npm test` needs Node.js alone. */
export const PYTHON = { name: 'Flask and Django of Python', packages: ['python3-flask', 'python3-django'] };

const [FLASK, DJANGO] = [pythonWith('flask'), pythonWith('django')];

/** The example that does without a package. */
export const EXAMPLES: readonly Example[] = [
  { file: 'examples/product-plain-node/server.mjs', command: [process.execPath] },
];

/** Those that use packages/product, or its file in Python. */
export const WITH_PACKAGE: readonly Example[] = [
  { file: 'examples/product-express/server.mjs', command: [process.execPath] },
  { file: 'examples/product-flask/app.py', command: FLASK === undefined ? null : [FLASK] },
  { file: 'examples/product-django/app.py', command: DJANGO === undefined ? null : [DJANGO] },
];

/** Returns true if both frameworks of the examples in Python are there. */
export function hasPythonFrameworks(): boolean {
  return pythonWith('flask') !== undefined && pythonWith('django') !== undefined;
}

function pythonWith(name: 'flask' | 'django'): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', `import ${name}`], { stdio: 'ignore' }).status === 0,
  );
}

/** The people of each. */
export const ADA = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'numbers and poems' };
/** Another one. */
export const GRACE = { name: 'Grace Hopper', email: 'grace@example.com', password: 'a moth in relay 70' };

/** A service whose people sign in at a product alone. */
export type AtProduct = { readonly service: TestService; readonly productUrl: string };

/** Starts both, for the length of a test; the service follows the machine's time, as the product does. */
export async function startProduct(
  t: Lifetime,
  { file, command }: Example,
  others: readonly Partial<NewIdentityProvider>[] = [],
): Promise<AtProduct> {
  const [program = '', ...options] = command ?? [];
  const port = await freePort();
  const productUrl = `http://localhost:${port}`;
  const { service, secret } = await startService(t, `${productUrl}/oauth/sign-in`, {}, others);
  const env = { PATH: process.env['PATH'], PORT: String(port), OAUTH_URL: service.appUrl, OAUTH_SECRET: secret };
  const child = spawn(program, [...options, file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended at once`)));
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => {});
  return { service, productUrl };
}

/** Starts a service with a product as its only way to sign in, or one of several; it follows the machine's time. */
export async function startService(
  t: Lifetime,
  signInUrl: string,
  settings: Partial<NewIdentityProvider> = {},
  others: readonly Partial<NewIdentityProvider>[] = [],
): Promise<{ service: TestService; secret: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  const variables = { VALETKEY_DATABASE_URL: `sqlite:${join(folder, 'valetkey.db')}`, VALETKEY_KEYS: makeRootKey() };
  const clock = new Clock();
  const { id, secret } = await registerAhead(variables, { signInUrl, ...settings }, clock);
  const methods = [id];
  for (const other of others) methods.push((await registerAhead(variables, other, clock)).id);
  const service = await startTestService(t, { ...variables, VALETKEY_SIGN_IN_METHODS: methods.join(',') }, clock);
  const follow = () => service.clock.advance(Math.max(0, Date.now() - service.clock.now()) / 1000);
  const following = setInterval(follow, 100);
  follow();
  t.after(() => {
    clearInterval(following);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return { service, secret };
}

/** The lines of an example that are for Valetkey: those between its marks, and those that are marked at their end. */
export function linesForValetkey({ file }: Example): string[] {
  let isInside = false;
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => {
      const mark = /(>>>|<<<) Valetkey/.exec(line)?.[1];
      if (mark !== undefined) isInside = mark === '>>>';
      return mark === undefined && (isInside || line.endsWith('// Valetkey'));
    });
}
