// Installs or unpacks Debian's packages for the runs that need them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LONGEST_FETCH = 5 * 60_000;

/** Why nothing can be installed here, or nothing. */
export function whyNotInstallable() {
  if (!existsSync('/etc/debian_version') || !existsSync('/usr/bin/apt-get')) return 'this is not Debian';
  return process.getuid?.() === 0 ? '' : 'only root can install packages';
}

/** @param {string[]} options @param {number} timeout in ms @returns {string} the last thing that apt-get said, if it failed */
export function aptGet(options, timeout) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, stderr } = spawnSync('/usr/bin/apt-get', ['-q', ...options], { env, timeout });
  return status === 0 ? '' : `apt-get failed: ${String(stderr).trim().split('\n').at(-1)}`;
}

/**
 * Packages, and all that they need and the machine lacks, unpacked under node_modules/.cache. They are fetched once; nothing
 * is installed.
 * @param {string} name of the folder @param {string[]} packages @returns {{ place: string, failed: string }} `failed`: why it failed, if it did
 */
export function unpackPackages(name, packages) {
  const place = fileURLToPath(new URL(`../node_modules/.cache/debian-${name}`, import.meta.url));
  if (existsSync(place)) return { place, failed: '' };
  return { place, failed: whyNotInstallable() || aptGet(['update'], LONGEST_FETCH) || fetchInto(place, packages) };
}

/** @param {string} place @param {string[]} packages @returns {string} why it failed, if it did */
function fetchInto(place, packages) {
  const files = `${place}-files`;
  const part = `${place}-part`;
  for (const folder of [files, part]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(files, 'partial'), { recursive: true });
  mkdirSync(part);
  const options = ['-y', '--no-install-recommends', '--download-only', '-o', `Dir::Cache::archives=${files}`];
  const refused = aptGet([...options, 'install', ...packages], LONGEST_FETCH);
  if (refused) return refused;
  for (const file of readdirSync(files).filter((one) => one.endsWith('.deb')))
    if (spawnSync('dpkg', ['-x', join(files, file), part]).status !== 0) return `${file} cannot be unpacked`;
  rmSync(files, { recursive: true });
  renameSync(part, place);
  return '';
}
