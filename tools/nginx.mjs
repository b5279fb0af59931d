// npm run test:nginx: walks behind a real nginx, restarts of two instances behind it under posts (VALETKEY_ROUNDS is how many,
// 20), and one machine as deploy/nginx.conf and docs/operating/proxy.md have it, and a shared host name, also behind Caddy. The packages are installed where root runs this on Debian.
import { spawnSync } from 'node:child_process';
import { isCaddyThere } from '../test/nginx/caddy.ts';
import { isThere } from '../test/nginx/nginx.ts';
import { aptGet, whyNotInstallable } from './debian.mjs';

const LONGEST_INSTALL = 5 * 60_000;

const areThere = () => isThere() && isCaddyThere();

if (!areThere()) {
  const failed = whyNotInstallable() || aptGet(['update'], LONGEST_INSTALL) || install();
  if (failed || !areThere()) console.error(`test:nginx: nginx or Caddy is not installed: ${failed}`);
}
const VALETKEY_ROUNDS = process.env['VALETKEY_ROUNDS'] ?? '20';
const options = { env: { ...process.env, VALETKEY_ROUNDS }, stdio: /** @type {const} */ ('inherit') };
if (!areThere()) process.exitCode = 1;
else process.exitCode = spawnSync(process.execPath, ['--test', 'test/nginx/*.test.ts'], options).status ?? 1;

function install() {
  return aptGet(['install', '-y', '--no-install-recommends', 'nginx', 'caddy'], LONGEST_INSTALL);
}
