/** packages/verify from its tarball on Deno and Bun: metadata, a refusal, and checks of which the later ones ask nobody. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildVerifier, pack } from '../../tools/package.mjs';
import { signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, type Lifetime, startTestService, type TestService } from '../support/service.ts';
import { scopes, standardPair } from '../support/standard.ts';

const RESOURCE = 'https://mail.example/v1';
const PLACE = '/.well-known/oauth-protected-resource/v1';

/** A runtime: its npm package, which holds the program, and how it is started. */
export type Runtime = { readonly name: string; readonly npm: string; readonly command: readonly [string, ...string[]] };

/** The runtimes that are tried beside Node.js. */
export const RUNTIMES: readonly Runtime[] = [
  { name: 'Bun', npm: '@oven/bun-linux-x64@1.4.5', command: ['node_modules/@oven/bun-linux-x64/bin/bun'] },
  {
    name: 'Deno',
    npm: '@deno/linux-x64-glibc@2.9.6',
    command: ['node_modules/@deno/linux-x64-glibc/deno', 'run', '-A'],
  },
];

/** An API of one Fetch-style handler. It prints its port. */
const API = `
import { createVerifier } from '@valetkey/verify';
const { ISSUER, ID, SECRET, RESOURCE } = process.env;
const verifier = createVerifier({ issuer: ISSUER, id: ID, secret: SECRET, resource: RESOURCE });
async function handle(request) {
  const metadata = verifier.metadataResponse(request);
  if (metadata) return metadata;
  const result = await verifier.check(request.headers.get('authorization'), { scopes: ['mail.read'] });
  if (!result.ok) return new Response(JSON.stringify(result.body), result);
  return Response.json({ sub: result.principal.sub });
}
const at = { port: 0, hostname: '127.0.0.1' };
if (globalThis.Bun) console.log(Bun.serve({ ...at, fetch: handle }).port);
else Deno.serve({ ...at, onListen: ({ port }) => console.log(port) }, handle);
`;

/** Installs the runtimes and the package into a new folder. Throws what npm complains of. */
export function installRuntimes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-runtimes-'));
  buildVerifier(join(folder, 'built'));
  const { filename } = pack(join(folder, 'built'), folder);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'api.mjs'), API);
  const packages = [`./${filename}`, ...RUNTIMES.map(({ npm }) => npm)];
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, stderr } = spawnSync('npm', ['install', ...flags, ...packages], { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return folder;
}

/** Checks tokens of a new service with an API on the runtime. */
export async function walkRuntime(t: Lifetime, folder: string, { command }: Runtime): Promise<void> {
  const service = await startTestService(t);
  service.clock.advance((Date.now() - service.clock.now()) / 1000);
  await addUser(service);
  const client = await addClient(service, { scopes: scopes('mail.read') });
  const registered = { name: 'Mail', resource: RESOURCE, scopes: ['mail.read'] };
  const { row: resourceServer, secret } = await service.installation.resourceServers.register(
    registered,
    service.installation.operator,
  );
  const { accessToken } = await standardPair(service, await signedInBrowser(service), client, { resource: RESOURCE });
  const [program, ...args] = command;
  const variables = { ISSUER: service.appUrl, ID: resourceServer.id, SECRET: secret, RESOURCE };
  const api = spawn(join(folder, program), [...args, 'api.mjs'], {
    cwd: folder,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => void api.kill());
  const [port] = await once(api.stdout, 'data');
  await walkApi(service, `http://127.0.0.1:${String(port).trim()}`, accessToken);
}

async function walkApi(service: TestService, url: string, accessToken: string): Promise<void> {
  const metadata = (await (await fetch(url + PLACE)).json()) as object;
  assert.deepEqual(metadata, {
    resource: RESOURCE,
    authorization_servers: [service.appUrl],
    bearer_methods_supported: ['header'],
  });
  const none = await fetch(url);
  assert.equal(none.status, 401);
  assert.match(none.headers.get('www-authenticate') ?? '', /scope="mail.read", resource_metadata="https:\/\/mail/);
  const asked = () => service.log.filter((line) => line.includes('"route":"/oauth2/introspect"')).length;
  for (let before = -1; before !== asked(); await sleep(100)) {
    before = asked();
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${accessToken}` } });
    assert.equal(answer.status, 200, await answer.text());
    await sleep(100);
  }
}
