// npm run test:prometheus: Prometheus itself evaluates the rules under deploy/ over figures that were scraped around the fault of
// each alert. The package is installed where root runs this on Debian.
import { spawnSync } from 'node:child_process';
import { isThere } from '../test/metrics/prometheus.ts';
import { aptGet, whyNotInstallable } from './debian.mjs';

const LONGEST_INSTALL = 5 * 60_000;

if (!isThere()) {
  const failed = whyNotInstallable() || aptGet(['update'], LONGEST_INSTALL) || install();
  if (failed || !isThere()) console.error(`test:prometheus: promtool is not installed: ${failed}`);
}
if (!isThere()) process.exitCode = 1;
else
  process.exitCode =
    spawnSync(process.execPath, ['--test', 'test/metrics/rules.test.ts'], { stdio: 'inherit' }).status ?? 1;

// Its service would be started by the installation.
function install() {
  return aptGet(['install', '-y', '--no-install-recommends', 'prometheus'], LONGEST_INSTALL);
}
