// npm run test:failover: PgBouncer before PostgreSQL, from Debian's packages. They are fetched with apt-get, once, and unpacked
// under node_modules/.cache; nothing is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptGet, whyNotInstallable } from './debian.mjs';

const LONGEST_FETCH = 5 * 60_000;
const PACKAGES = ['pgbouncer', 'libevent-2.1-7', 'libc-ares2'];

const place = fileURLToPath(new URL('../node_modules/.cache/debian-failover', import.meta.url));
const failed = existsSync(place) ? '' : whyNotInstallable() || aptGet(['update'], LONGEST_FETCH) || fetchPackages();
if (failed) {
  console.error(`test:failover: the packages are not there: ${failed}`);
  process.exitCode = 1;
} else {
  const env = { ...process.env, VALETKEY_FAILOVER_PACKAGES: place };
  process.exitCode =
    spawnSync(process.execPath, ['--test', 'test/failover/*.test.ts'], { env, stdio: 'inherit' }).status ?? 1;
}

/** @returns {string} why it failed, if it did */
function fetchPackages() {
  const [files, part] = [`${place}-files`, `${place}-part`];
  for (const folder of [files, part]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(files, { recursive: true });
  const cwd = process.cwd();
  process.chdir(files);
  const refused = aptGet(['download', ...PACKAGES], LONGEST_FETCH);
  process.chdir(cwd);
  if (refused) return refused;
  for (const file of readdirSync(files))
    if (spawnSync('dpkg', ['-x', join(files, file), part]).status !== 0) return `${file} cannot be unpacked`;
  renameSync(part, place);
  return '';
}
