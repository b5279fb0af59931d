/** npm run release: its refusals, and that the same commit gives the same files in another folder, for another user. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SUMS } from '../../tools/release/build.mjs';
import { releasedVersions, sectionOf } from '../../tools/release/changelog.mjs';
import { advisoryRefusals, readAudit } from '../../tools/release/refusals.mjs';
import { setVersion, statedVersions } from '../../tools/release/versions.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'valetkey-release-'));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
chmodSync(folder, 0o755);

const VERSION = '9.8.7-rc.1';
const git = (place: string, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...words], { cwd: place });

/** Copies the checkout, with another version and its section, in one commit. */
function checkout(name: string, reversed = false): string {
  const place = join(folder, name);
  mkdirSync(place);
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = globSync(tracked.trimEnd().split('\n'), { cwd: root }).sort();
  for (const file of reversed ? files.reverse() : files) {
    mkdirSync(dirname(join(place, file)), { recursive: true });
    copyFileSync(join(root, file), join(place, file));
  }
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'), 'dir');
  setVersion(place, VERSION);
  const changelog = join(place, 'CHANGELOG.md');
  const text = readFileSync(changelog, 'utf8');
  writeFileSync(changelog, text.replace(/^## /m, `## ${VERSION} (2026-11-29)\n\nA first version.\n\n## `));
  git(place, 'init', '--quiet');
  appendFileSync(join(place, '.git/info/exclude'), 'node_modules\n');
  git(place, 'add', '.');
  git(place, 'commit', '--quiet', '--message', 'Release');
  return place;
}

const release = (place: string, ...words: string[]) =>
  spawnSync(process.execPath, ['tools/release.mjs', ...words], { cwd: place, encoding: 'utf8' });

const skip = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root }).status === 0 ? false : 'this is no checkout of git';
const place = skip ? root : checkout('one');

test('release: a clean checkout gives packages that run, lists, sums and the commands to publish, and publishes nothing', {
  skip,
}, () => {
  const { status, stdout, stderr } = release(place, VERSION);
  assert.equal(status, 0, stderr);
  const names = ['valetkey', 'valetkey-verify', 'valetkey-product'].map((name) => `${name}-${VERSION}.tgz`);
  for (const name of names) {
    assert.ok(stdout.includes(`${name}: built, installed in an empty folder, and run\n`), stdout);
    assert.ok(stdout.includes(`npm publish dist/${VERSION}/${name} --access public --tag next\n`), stdout);
  }
  assert.match(stdout, /^advisories: (none is open|NOT ASKED, since the registry did not answer \(.+\)\..*)$/m);
  assert.match(
    stdout,
    /^image( valetkey:.*: built by \w+, sha256:|: NOT BUILT, since neither docker, podman nor buildah)/m,
  );
  assert.match(stdout, /^Nothing is published\./m);
  assert.match(stdout, new RegExp(`git tag --sign v${VERSION} [0-9a-f]{40} `));
  execFileSync('sha256sum', ['--check', '--quiet', SUMS], { cwd: join(place, 'dist', VERSION) });
  assert.equal(git(place, 'status', '--porcelain').toString(), '');
});

test('release: the same commit gives the same sums in another folder, for another user, umask, time zone and age of files', {
  skip,
}, () => {
  const other = checkout('another folder', true);
  for (const file of globSync(['**'], { cwd: other, exclude: ['node_modules', '.git'], withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    utimesSync(path, 1e9, 1e9);
    if (process.getuid?.() !== 0) chmodSync(path, file.isDirectory() ? 0o700 : 0o600);
  }
  const home = join(folder, 'home');
  mkdirSync(home);
  chmodSync(home, 0o777);
  const env = { PATH: process.env['PATH'], HOME: home, TZ: 'Pacific/Kiritimati', LC_ALL: 'C' };
  const user = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {};
  const built = 'umask 077 && exec "$0" tools/release/build.mjs "$HOME/built"';
  const { status, stderr } = spawnSync('sh', ['-c', built, process.execPath], {
    cwd: other,
    env,
    encoding: 'utf8',
    ...user,
  });
  assert.equal(status, 0, stderr);
  assert.equal(
    readFileSync(join(home, 'built', SUMS), 'utf8'),
    readFileSync(join(place, 'dist', VERSION, SUMS), 'utf8'),
  );
});

test('release: what the packages run with is listed with its license, each package once', { skip }, () => {
  const licenses = readFileSync(join(place, 'dist', VERSION, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const bill = JSON.parse(readFileSync(join(place, 'dist', VERSION, 'sbom.cdx.json'), 'utf8'));
  assert.equal(bill.metadata.component.version, VERSION);
  for (const { group, name, version } of bill.components as { group?: string; name: string; version: string }[]) {
    const whole = group && !name.startsWith('@') ? `${group}/${name}` : name;
    assert.ok(licenses.includes(`\n${whole} ${version} (`), `${whole} ${version}`);
  }
  assert.doesNotMatch(licenses, /\(undefined\)/);
});

test('release: each refusal says what is wrong and what to do, all of them at once', { skip }, () => {
  assert.match(release(place).stderr, /^release: no version is named\. To do: run "npm run release -- 0\.1\.0-rc\.1"/);
  assert.match(release(place, 'v1').stderr, /^release: "v1" is no version\. To do: /);
  writeFileSync(join(place, 'note.txt'), 'not committed');
  const { status, stdout, stderr } = release(place, '1.0.0');
  assert.deepEqual([status, stdout], [1, '']);
  assert.ok(
    stderr.includes(
      `the versions are not all 1.0.0: package.json says ${VERSION}, package-lock.json says ${VERSION}, `,
    ),
  );
  assert.ok(stderr.includes('To do: run "npm run set-version -- 1.0.0", and commit.'), stderr);
  assert.ok(stderr.includes('CHANGELOG.md has no section "## 1.0.0" with a text. To do: write '), stderr);
  assert.ok(
    stderr.includes('the checkout differs from its commit: note.txt. To do: commit these files, or remove them.'),
  );
  rmSync(join(place, 'note.txt'));
  renameSync(join(place, '.git'), join(folder, 'git'));
  assert.match(
    release(place, VERSION).stderr,
    /^release: git tells nothing of this folder\. To do: run this in a clone/m,
  );
  renameSync(join(folder, 'git'), join(place, '.git'));
});

test('release: an open advisory refuses it, and a registry that does not answer is told', { skip }, () => {
  const found = readAudit(JSON.stringify({ vulnerabilities: { fastify: { severity: 'high' } } }));
  const [refusal] = advisoryRefusals(found);
  assert.match(refusal?.problem ?? '', /open advisories .*: fastify \(high\)$/);
  assert.match(refusal?.remedy ?? '', /npm audit --omit=dev/);
  assert.deepEqual(advisoryRefusals(readAudit(JSON.stringify({ vulnerabilities: {} }))), []);
  const silent = readAudit(JSON.stringify({ message: '405 Method Not Allowed - POST https://registry.example/-/x' }));
  assert.deepEqual(silent, { asked: false, why: '405 Method Not Allowed - POST the registry' });
  assert.deepEqual(advisoryRefusals(silent), []);
  assert.equal(readAudit('').asked, false);
});

test('all manifests state one version, and one command sets it', { skip }, () => {
  const stated = new Set([...statedVersions(root).values()].flat());
  assert.equal(stated.size, 1, `${[...stated]}`);
  assert.deepEqual([...statedVersions(place).values()].flat(), Array(6).fill(VERSION));
});

test('a version is released once the changelog has its section', { skip }, () => {
  assert.equal(releasedVersions(place)[0], VERSION);
  assert.equal(sectionOf(place, VERSION), 'A first version.');
  assert.equal(sectionOf(place, '9.8.7'), '');
});
