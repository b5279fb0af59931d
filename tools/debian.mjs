// Installs Debian's packages for the runs that need them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

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
