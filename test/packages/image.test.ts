/**
 * The image without an engine: its file system is made by the script that the Dockerfile runs, and its commands run in it as
 * the image runs them: as its user, on a read-only root, with nothing of this machine but its kernel and its network.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/service.ts';

/** Maximum size of the image (bytes): 121 MiB of it are Node.js. */
const MAX_SIZE = 170 * 1024 * 1024;

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const dockerfile = readFileSync(join(checkout, 'Dockerfile'), 'utf8').replaceAll(/ \\\n */g, ' ');
const lines = (word: string) =>
  [...dockerfile.matchAll(new RegExp(`^ *${word} (.*)$`, 'gm'))].map(([, rest = '']) => rest);
const list = (text = ''): string[] => JSON.parse(/\[.*\]/.exec(text)?.[0] ?? '[]');
const entrypoint = list(lines('ENTRYPOINT')[0]);
const variables = Object.fromEntries(
  lines('ENV').flatMap((text) => text.split(' ').map((pair) => pair.split('=') as [string, string])),
);
const [uid = 0, gid = 0] = lines('USER')[0]?.split(':').map(Number) ?? [];

/** Mounts what an engine mounts, then runs what follows with the variables that it begins with, and no others. */
const ENTER = `
  mount --bind "$ROOT" "$ROOT" && mount -o remount,bind,ro "$ROOT"
  mount -t proc proc "$ROOT/proc" && mount -t tmpfs tmpfs "$ROOT/tmp"
  mount --bind "$VOLUME" "$ROOT$PLACE"
  exec env --ignore-environment "$@"`;

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const canEnter = isRoot && spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0;
const skip = canEnter ? false : 'only root on Linux can make and enter the file system of an image';

const [appPort, apiPort] = [await freePort(), await freePort()];

describe('the image, in a chroot', { skip }, () => {
  if (!canEnter) return;
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-image-'));
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const [root, volume] = [join(folder, 'root'), join(folder, 'volume')];
  for (const made of [root, volume]) mkdirSync(made);
  chownSync(volume, uid, gid);
  const [made = ''] = lines('RUN');
  const env = { ...process.env, npm_config_prefer_offline: 'true' };
  before(async () => void (await promisify(execFile)(join(checkout, made.split(' ')[0] ?? ''), [root], { env })));

  const ports = {
    VALETKEY_APP_LISTEN: `0.0.0.0:${appPort}`,
    VALETKEY_API_LISTEN: `0.0.0.0:${apiPort}`,
  };
  const urls = { VALETKEY_APP_URL: 'https://auth.example', VALETKEY_API_URL: 'https://api.example' };
  const appUrl = ports.VALETKEY_APP_LISTEN.replace('0.0.0.0', 'http://127.0.0.1');

  const healthcheck = list(lines('HEALTHCHECK')[0]);

  /** Starts a program of the image as an engine does: its user without a way to more rights, its variables and its volume. */
  function start(
    program: readonly string[],
    given: Readonly<Record<string, string>> = { ...ports, ...urls },
  ): ChildProcess {
    const place = lines('WORKDIR').at(-1) ?? '';
    const environment = Object.entries({ ...variables, ...given }).map(([name, value]) => `${name}=${value}`);
    const user = ['/usr/bin/setpriv', '--no-new-privs', '--clear-groups', '/usr/bin/unshare'];
    const inside = ['--root', root, '--wd', place, '--setgid', String(gid), '--setuid', String(uid), '--'];
    const words = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', ENTER, 'sh'];
    const env = { PATH: process.env['PATH'], ROOT: root, VOLUME: volume, PLACE: place };
    return spawn('unshare', [...words, ...environment, ...user, ...inside, ...program], { env });
  }
  async function run(program: readonly string[]) {
    const child = start(program);
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        said[name] += text;
      });
    const [code] = await once(child, 'close');
    return { code, ...said };
  }

  test('it is made by the script alone, from nothing', () => {
    assert.deepEqual([lines('RUN').length, lines('FROM').at(-1)], [1, 'scratch']);
    assert.deepEqual(lines('COPY').at(-1)?.split(' '), ['--from=build', made.split(' ')[1], '/']);
    assert.notEqual(uid, 0);
  });

  test('it holds the program, its packages and Node.js, and nothing that could be used for more', () => {
    assert.deepEqual(readdirSync(join(root, 'opt/valetkey')).sort(), [
      'LICENSE',
      'THIRD-PARTY-LICENSES.txt',
      'demo',
      'node_modules',
      'package.json',
      'packages',
      'sbom.cdx.json',
      'src',
    ]);
    assert.deepEqual(readdirSync(join(root, 'usr/local/bin')), ['node']);
    let size = 0;
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const { mode, uid: owner, size: bytes } = statSync(path);
      size += entry.isFile() ? bytes : 0;
      assert.ok(!/(^|\/)(sh|bash|npm|npx|apt)$/.test(path), path);
      assert.equal(mode & 0o6000, 0, `${path} gives no rights`);
      if (path === join(root, 'tmp')) continue;
      assert.equal(mode & 0o022, 0, `${path} is its owner's to write`);
      assert.equal(owner, path === join(root, 'var/lib/valetkey') ? uid : 0, path);
    }
    assert.ok(size < MAX_SIZE, `${Math.round(size / 1024 / 1024)} MiB`);
    const bill = JSON.parse(readFileSync(join(root, 'opt/valetkey/sbom.cdx.json'), 'utf8'));
    assert.ok(bill.components.length > 50);
    const licenses = readdirSync(join(root, 'usr/local/share/licenses'));
    for (const file of ['libc6.txt', 'libstdc++6.txt', 'node.txt']) assert.ok(licenses.includes(file), file);
  });

  test('its commands run: demo walks the flow, with and without a product', async () => {
    for (const words of [
      ['demo', '--headless'],
      ['demo', '--headless', '--product'],
    ]) {
      const { code, stdout, stderr } = await run([...entrypoint, ...words]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^All \d+ steps went as expected/m);
    }
  });

  test('operating: with nothing but a volume, as the README runs it, serve begins on SQLite at localhost', async (t) => {
    const port = await freePort();
    const serving = start([...entrypoint, ...list(lines('CMD')[0])], {
      VALETKEY_APP_LISTEN: `0.0.0.0:${port}`,
      VALETKEY_API_LISTEN: `0.0.0.0:${await freePort()}`,
      VALETKEY_DATABASE_URL: 'sqlite:data/alone.db',
      VALETKEY_KEYS_FILE: 'data/alone-keys',
    });
    t.after(() => serving.kill('SIGKILL'));
    let printed = '';
    for await (const chunk of serving.stdout ?? []) {
      printed += chunk;
      if (/^api /m.test(printed)) break;
    }
    assert.match(printed, /^app http:\/\/localhost:3000\napi http:\/\/localhost:3001$/m);
    assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
  });

  test('serve is healthy, commands beside it find its database, and it writes on its volume alone', async (t) => {
    assert.equal((await run(healthcheck)).code, 1, 'nothing serves yet');
    const serving = start([...entrypoint, ...list(lines('CMD')[0])]);
    t.after(() => serving.kill('SIGKILL'));
    for await (const chunk of serving.stdout ?? []) if (/^api /m.test(String(chunk))) break;
    assert.equal((await run(healthcheck)).code, 0);
    assert.equal((await fetch(`${appUrl}/readyz`)).status, 200);
    const added = await run([...entrypoint, 'user', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--json']);
    assert.equal(added.code, 0, added.stderr);
    const registered = await run([
      ...entrypoint,
      'client',
      'register',
      '--name',
      'One',
      '--redirect-uri',
      'https://one.example/cb',
    ]);
    assert.equal(registered.code, 0, registered.stderr);
    assert.match(readFileSync(join(volume, 'data/keys'), 'utf8'), /^vk_rk_/m);
    const writes = `for (const place of ['/opt/valetkey/x', '/etc/x', '/x']) try { fs.writeFileSync(place, ''); } catch (e) { console.log(e.code); }
      console.log(process.getuid(), process.getgid(), fs.readFileSync('/proc/self/status', 'utf8').match(/(CapEff|NoNewPrivs):\\s+(\\w+)/g).join());`;
    const tried = await run(['node', '-e', writes]);
    assert.equal(tried.stdout, `${'EROFS\n'.repeat(3)}${uid} ${gid} CapEff:\t0000000000000000,NoNewPrivs:\t1\n`);
  });
});
