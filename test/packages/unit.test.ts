/** The units for systemd, as systemd's own judge reads them: without complaints, and the service with next to nothing that it may do. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { aptGet, whyNotInstallable } from '../../tools/debian.mjs';
import { COMPILED } from '../support/compiled.ts';

const ANALYZE = 'systemd-analyze';
/** The highest exposure (tenths, of 100). It is 13: the network, files under /var/lib/valetkey, and compiling while it runs. */
const MAX_EXPOSURE = 15;
/** The maximum time of a stop in src/main.ts (s). */
const STOP_S = 12;

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const SERVICE = 'valetkey.service';
const BACKUP = 'valetkey-backup.service';
const TIMER = 'valetkey-backup.timer';
const setting = (unit: string, name: string) =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(join(deploy, unit), 'utf8'))?.[1] ?? '';

const isThere = () => spawnSync(ANALYZE, ['--version']).status === 0;
// A machine of CI is nobody's, and skips nothing.
if (!isThere() && process.env['CI'] && whyNotInstallable() === '')
  for (const words of [['update'], ['install', '-y', '--no-install-recommends', 'systemd']]) aptGet(words, 300_000);
const skip = isThere() ? false : `there is no ${ANALYZE}: install Debian's package systemd`;

/** A unit where systemd looks for it, with the drop-in if it is asked for; Node.js is where it is on this machine. */
function installed(t: TestContext, name: string, withCredentials = false): string {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-unit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const unit of [SERVICE, BACKUP, TIMER])
    writeFileSync(
      join(folder, unit),
      readFileSync(join(deploy, unit), 'utf8').replace('/usr/bin/node', process.execPath),
    );
  const path = join(folder, name);
  if (withCredentials) {
    mkdirSync(`${path}.d`);
    copyFileSync(join(deploy, 'valetkey-credentials.conf'), join(`${path}.d`, 'credentials.conf'));
  }
  return path;
}

for (const [unit, withCredentials] of [
  [SERVICE, false],
  [SERVICE, true],
  [BACKUP, false],
  [BACKUP, true],
  [TIMER, false],
] as const)
  test(`operating: systemd finds nothing wrong with ${unit}${withCredentials ? ' and its credentials' : ''}`, {
    skip,
  }, (t) => {
    const words = ['verify', installed(t, unit, withCredentials)];
    const { status, stdout, stderr } = spawnSync(ANALYZE, words, { encoding: 'utf8' });
    assert.deepEqual([status, stdout, stderr], [0, '', '']);
  });

test('operating: each night is a backup, also where the machine was off, by the program of the service', {
  skip,
}, () => {
  const { status, stdout } = spawnSync(ANALYZE, ['calendar', '--iterations=2', setting(TIMER, 'OnCalendar')], {
    encoding: 'utf8',
    env: { ...process.env, TZ: 'UTC' },
  });
  assert.equal(status, 0);
  const times = [...stdout.matchAll(/(?:Next elapse|Iter\. #2): \w+ (\S+ \S+)/g)].map(([, at]) => Date.parse(`${at}Z`));
  assert.equal((times[1] ?? 0) - (times[0] ?? 0), 24 * 3_600_000, stdout);
  assert.deepEqual([setting(TIMER, 'Persistent'), setting(TIMER, 'WantedBy')], ['yes', 'timers.target']);
  assert.match(setting(BACKUP, 'ExecStart'), / database backup --into \/var\/backups\/valetkey --keep 14$/);
  assert.ok(setting(BACKUP, 'ReadWritePaths').split(' ').includes('/var/backups/valetkey'));
  for (const name of ['User', 'EnvironmentFile', 'WorkingDirectory', 'UMask', 'LimitCORE', 'NoNewPrivileges'])
    assert.equal(setting(BACKUP, name), setting(SERVICE, name), name);
});

test('decision 0043: the service starts once the clock was set', () => {
  assert.ok(setting(SERVICE, 'After').split(' ').includes('time-sync.target'));
});

test('no signal opens a debugger in what the units start', () => {
  for (const unit of [SERVICE, BACKUP])
    assert.match(setting(unit, 'ExecStart'), /^\/usr\/bin\/node .*--disable-sigusr1 /, unit);
});

test(`operating: systemd rates the unit's exposure at ${MAX_EXPOSURE / 10} or less`, { skip }, (t) => {
  const words = ['security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`, installed(t, SERVICE)];
  const { status, stdout } = spawnSync(ANALYZE, words, { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  const { status: stricter } = spawnSync(ANALYZE, words.with(3, '--threshold=5'), { encoding: 'utf8' });
  assert.notEqual(stricter, 0, 'a threshold that is passed is told');
});

test('operating: systemd waits longer for a stop than a stop takes, tells the service first, and dumps no memory', () => {
  assert.ok(Number(setting(SERVICE, 'TimeoutStopSec')) > STOP_S);
  const main = readFileSync(join(deploy, '../src/main.ts'), 'utf8');
  assert.match(main, new RegExp(`^const STOP_TIMEOUT_MS = ${STOP_S}_000;$`, 'm'));
  const values = ['KillSignal', 'KillMode', 'Restart', 'LimitCORE', 'UMask'].map((name) => setting(SERVICE, name));
  assert.deepEqual(values, ['SIGTERM', 'mixed', 'always', '0', '0077']);
});

test('operating: a command with credentials gets the same ones as the service, and the wrapper reads them', (t) => {
  const operating = readFileSync(join(deploy, '../docs/operating/install.md'), 'utf8');
  const credentials = readFileSync(join(deploy, 'valetkey-credentials.conf'), 'utf8');
  const handed = (text: string) => text.match(/LoadCredential=\S+/g);
  const [line = ''] = /^systemd-run .*$/m.exec(operating) ?? [];
  assert.deepEqual(handed(line), handed(credentials));
  for (const name of ['User', 'WorkingDirectory', 'UMask'])
    assert.ok(line.includes(` -p ${name}=${setting(SERVICE, name)} `), name);

  const folder = mkdtempSync(join(tmpdir(), 'valetkey-unit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [, wrapper = ''] = /^```sh\n(#!\/bin\/sh\n.*?)^```/ms.exec(operating) ?? [];
  const here = { '/etc/valetkey': folder, '/usr/bin/node': process.execPath, '/opt/valetkey/': join(deploy, '../') };
  const script = Object.entries(here).reduce((text, [from, to]) => text.replaceAll(from, to), wrapper);
  writeFileSync(join(folder, 'valetkey'), script, { mode: 0o755 });
  const urls = 'VALETKEY_APP_URL=http://127.0.0.1:3000\nVALETKEY_API_URL=http://127.0.0.1:3001\n';
  writeFileSync(join(folder, 'env'), urls);
  writeFileSync(join(folder, 'keys'), makeRootKey(), { mode: 0o400 });
  writeFileSync(join(folder, 'database-url'), `sqlite:${join(folder, 'handed.db')}\n`, { mode: 0o400 });
  const run = (env: Record<string, string>) =>
    spawnSync(join(folder, 'valetkey'), ['database', 'migrate'], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...COMPILED, ...env },
    });
  const { status, stderr } = run({ CREDENTIALS_DIRECTORY: folder });
  assert.equal(status, 0, stderr);
  assert.ok(existsSync(join(folder, 'handed.db')));
  appendFileSync(
    join(folder, 'env'),
    `VALETKEY_KEYS_FILE=${join(folder, 'keys')}\nVALETKEY_DATABASE_URL=sqlite:${join(folder, 'own.db')}\n`,
  );
  assert.equal(run({}).status, 0, 'and without them, those of the file');
  assert.ok(existsSync(join(folder, 'own.db')));

  // A shell would end the first line at its `&`, and a command would find another database.
  const url = 'postgres://valetkey:x@127.0.0.1:1/valetkey?target_session_attrs=read-write&sslmode=disable';
  const ca = join(folder, 'ca.pem');
  appendFileSync(join(folder, 'env'), `VALETKEY_DATABASE_URL=${url}\nNODE_EXTRA_CA_CERTS=${ca}\n`);
  assert.match(run({}).stderr, /127\.0\.0\.1:1\/valetkey cannot be reached/);
  // Node.js takes its own variable from where it begins, and not from the file.
  const probe = join(folder, 'probe.mjs');
  writeFileSync(probe, "process.stdout.write((await import('node:fs')).readFileSync('/proc/self/environ'));");
  writeFileSync(join(folder, 'valetkey'), script.replace(/\S+main\.ts/, probe));
  assert.ok(run({}).stdout.includes(`NODE_EXTRA_CA_CERTS=${ca}\0`));
});
