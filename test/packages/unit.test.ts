/** The unit for systemd, as systemd's own judge reads it: without complaints, and with next to nothing that it may do. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { aptGet, whyNotInstallable } from '../../tools/debian.mjs';

const ANALYZE = 'systemd-analyze';
/** The highest exposure (tenths, of 100). It is 13: the network, files under /var/lib/valetkey, and compiling while it runs. */
const MAX_EXPOSURE = 15;
/** The maximum time of a stop in src/main.ts (s). */
const STOP_S = 12;

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const unit = readFileSync(join(deploy, 'valetkey.service'), 'utf8');
const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

const isThere = () => spawnSync(ANALYZE, ['--version']).status === 0;
// A machine of CI is nobody's, and skips nothing.
if (!isThere() && process.env['CI'] && whyNotInstallable() === '')
  for (const words of [['update'], ['install', '-y', '--no-install-recommends', 'systemd']]) aptGet(words, 300_000);
const skip = isThere() ? false : `there is no ${ANALYZE}: install Debian's package systemd`;

/** The unit where systemd looks for it, with the drop-in if it is asked for; Node.js is where it is on this machine. */
function installed(t: TestContext, withCredentials: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-unit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'valetkey.service');
  writeFileSync(path, unit.replace('/usr/bin/node', process.execPath));
  if (withCredentials) {
    mkdirSync(`${path}.d`);
    copyFileSync(join(deploy, 'valetkey-credentials.conf'), join(`${path}.d`, 'credentials.conf'));
  }
  return path;
}

for (const withCredentials of [false, true])
  test(`operating: systemd finds nothing wrong with the unit${withCredentials ? ' and its credentials' : ''}`, {
    skip,
  }, (t) => {
    const { status, stdout, stderr } = spawnSync(ANALYZE, ['verify', installed(t, withCredentials)], {
      encoding: 'utf8',
    });
    assert.deepEqual([status, stdout, stderr], [0, '', '']);
  });

test(`operating: systemd rates the unit's exposure at ${MAX_EXPOSURE / 10} or less`, { skip }, (t) => {
  const words = ['security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`, installed(t, false)];
  const { status, stdout } = spawnSync(ANALYZE, words, { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  const { status: stricter } = spawnSync(ANALYZE, words.with(3, '--threshold=5'), { encoding: 'utf8' });
  assert.notEqual(stricter, 0, 'a threshold that is passed is told');
});

test('operating: systemd waits longer for a stop than a stop takes, tells the service first, and dumps no memory', () => {
  assert.ok(Number(setting('TimeoutStopSec')) > STOP_S);
  const main = readFileSync(join(deploy, '../src/main.ts'), 'utf8');
  assert.match(main, new RegExp(`^const STOP_TIMEOUT_MS = ${STOP_S}_000;$`, 'm'));
  const values = ['KillSignal', 'KillMode', 'Restart', 'LimitCORE', 'UMask'].map(setting);
  assert.deepEqual(values, ['SIGTERM', 'mixed', 'always', '0', '0077']);
});
