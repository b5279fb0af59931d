// npm run test:prometheus: Prometheus itself evaluates the rules under deploy/ over figures that were scraped around the fault of
// each alert, and draws each figure of the dashboard. Where it is not installed, Debian's package is unpacked.
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { isThere } from '../test/metrics/prometheus.ts';
import { unpackPackages } from './debian.mjs';

const { place, failed } = isThere() ? { place: '', failed: '' } : unpackPackages('prometheus', ['prometheus']);
if (failed) {
  console.error(`test:prometheus: Prometheus is not there: ${failed}`);
  process.exitCode = 1;
} else {
  const PATH = [join(place, 'usr/bin'), process.env['PATH']].join(delimiter);
  const env = { ...process.env, PATH, VALETKEY_DRAW_DASHBOARD: '1' };
  const tests = ['test/metrics/rules.test.ts', 'test/metrics/dashboard.test.ts'];
  process.exitCode = spawnSync(process.execPath, ['--test', ...tests], { env, stdio: 'inherit' }).status ?? 1;
}
