/** The examples for a host name that Valetkey shares with a product, behind a real nginx and a real Caddy. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { freePort, type Lifetime } from '../support/service.ts';
import { isCaddyThere, runCaddy } from './caddy.ts';
import { isThere, runNginx } from './nginx.ts';
import { assertShared, assertSource, assertWalk, EXAMPLE, startProduct, startShared } from './shared-host.ts';

const FOLDER = new URL('../../deploy/shared-host/', import.meta.url);

/** Starts a proxy at an address. */
type Start = (t: Lifetime, url: string, example: string) => Promise<unknown>;

const PROXIES: readonly (readonly [name: string, isThere: boolean, file: string, start: Start])[] = [
  ['nginx', isThere(), 'nginx.conf', startNginx],
  ['Caddy', isCaddyThere(), 'Caddyfile', startCaddy],
];

for (const [name, isInstalled, file, start] of PROXIES)
  test(`operators: behind ${name}, Valetkey and a product share a host name as deploy/shared-host/${file} says`, async (t) => {
    // Not a skipped test: nothing that this project brings is missing.
    if (!isInstalled) return t.diagnostic(`not tried: ${name} is not installed, and npm run test:nginx installs it`);
    const [listen, product] = [`127.0.0.1:${await freePort()}`, await startProduct(t)];
    const url = `http://127.0.0.1:${await freePort()}`;
    const service = await startShared(t, url, listen);
    const example = readFileSync(new URL(file, FOLDER), 'utf8');
    for (const place of Object.values(EXAMPLE)) assert.ok(example.includes(place), place);
    const here = example.replaceAll(EXAMPLE.valetkey, listen).replaceAll(EXAMPLE.product, product);
    await start(t, url, here);
    await assertShared(service);
    await assertWalk(service);
    await assertSource(service);
  });

/** Without TLS, which has nothing to do with who is asked. */
async function startNginx(t: Lifetime, url: string, example: string): Promise<void> {
  const plain = `listen 127.0.0.1:${await freePort()};`;
  await runNginx(t, url, async (folder) =>
    example
      .replaceAll(/^ +ssl_.*\n/gm, '')
      .replace('listen 443 ssl;', `listen ${new URL(url).host};`)
      .replace('listen 80;', plain)
      .replaceAll(/server_name .*;/g, '')
      .replaceAll('/var/log/nginx/', `${folder}/`),
  );
}

async function startCaddy(t: Lifetime, url: string, example: string): Promise<void> {
  await runCaddy(t, url, example.replace(`${EXAMPLE.host} {`, `${url} {`));
}
