/** How the program was called: what hints say, and options that npm kept. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../support/command.ts';

/** Runs a line as npm does for `npm run -s valetkey`, with what npm made of the options as its configuration. */
async function throughNpm(line: string, taken: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-cli-'));
  try {
    const config = Object.entries({ yes: '', noproxy: '', ...taken }).map(([name, value]) => [
      `npm_config_${name}`,
      value,
    ]);
    return await runCommand(line.split(' '), {
      npm_lifecycle_event: 'valetkey',
      VALETKEY_DATABASE_URL: `sqlite:${join(folder, 'valetkey.db')}`,
      VALETKEY_KEYS_FILE: join(folder, 'keys'),
      ...Object.fromEntries(config),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const WITHOUT_DASHES: [line: string, taken: Record<string, string>, right: string][] = [
  [
    'client register',
    { name: 'My App', redirect_uri: 'https://a.example/cb' },
    "client register --name 'My App' --redirect-uri https://a.example/cb …",
  ],
  ['client list', { json: 'true' }, 'client list --json'],
  ['user update usr_1', { username: '' }, 'user update usr_1 --no-username'],
  ['audit list 5', { limit: 'true' }, 'audit list --limit …'],
  [
    'client register https://a.example/cb',
    { name: 'A', redirect_uri: 'true' },
    'client register --name A --redirect-uri …',
  ],
  ['demo', { headless: 'true' }, 'demo --headless'],
  ['client update app_1 b', { scope: 'a' }, 'client update app_1 --scope a …'],
];
for (const [line, taken, right] of WITHOUT_DASHES)
  test(`"npm run valetkey ${line}" without "--" runs nothing, and says how`, async () => {
    const { code, stderr, stdout } = await throughNpm(line, taken);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(
      stderr,
      /^valetkey: npm took --\S+( --\S+)* for itself, and nothing was done: put -- before the command/,
    );
    assert.ok(stderr.endsWith(`\n  npm run -s valetkey -- ${right}\n`), stderr);
  });

test('what stands in files of npm is not taken for an option', async () => {
  const files = { yes: 'true', email: 'me@example.com', scope: '@acme', name: 'x' };
  const registered = await throughNpm('client register --name A --redirect-uri https://a.example/cb', files);
  assert.equal(registered.code, 0, registered.stderr);
  assert.match((await throughNpm('keys list', files)).stderr, /there is no database/);
});

test('hints, examples and refusals name the program as it was called', async () => {
  const line = 'client register --name A --redirect-uri https://a.example/cb';
  assert.match((await throughNpm(line)).stderr, /^Next: "npm run -s valetkey -- client show app_\w+" shows/);
  const help = (await throughNpm('client show --help')).stdout;
  assert.match(help, /^Usage: npm run -s valetkey -- client show \[options\] <app>\n/);
  assert.match(help, /\n {2}npm run -s valetkey -- client show app_\w+\n/);
  assert.match((await throughNpm('client show')).stderr, /; see "npm run -s valetkey -- client show --help"\n$/);
  assert.match((await throughNpm('app list')).stderr, /; see "npm run -s valetkey -- --help"\n$/);
  const json = JSON.parse(
    (await throughNpm('client register --name A --redirect-uri https://a.example/?valetkey --json')).stdout,
  );
  assert.ok(json.client_id);
});

test('a command that hands Node.js options is known by its name in the folder of the release as well, and the file by its path', () => {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const usage = (...options: string[]) => {
    const { stdout } = spawnSync(process.execPath, [...options, 'src/main.ts', '--help'], { cwd, env: {} });
    return String(stdout).split('\n')[0];
  };
  assert.match(String(usage('--disable-sigusr1')), /^Usage: valetkey /);
  assert.match(String(usage()), /^Usage: node src\/main\.ts /);
});
