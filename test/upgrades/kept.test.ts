/** Nothing that a released version wrote may change: its migrations, and the databases that are kept of it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { MIGRATIONS as OF_POSTGRESQL } from '../../src/storage/postgresql/plain-database.ts';
import { MIGRATIONS as OF_SQLITE } from '../../src/storage/sqlite/plain-database.ts';
import { releasedVersions } from '../../tools/release/changelog.mjs';
import { keptDatabase, keptFaces, keptVersions, STORES } from './kept.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const released = releasedVersions(root);
const known = { sqlite: OF_SQLITE, postgresql: OF_POSTGRESQL };

test('upgrades: the migrations of this version begin with those of each kept version, unchanged', () => {
  for (const version of keptVersions())
    for (const store of STORES)
      for (const { number, name, checksum } of keptDatabase(version, store).facts.migrations) {
        const file = `src/storage/${store}/schema/${String(number).padStart(4, '0')}-${name}.sql`;
        const next = String(known[store].length + 1).padStart(4, '0');
        const todo = released.includes(version)
          ? `${version} is released, and ${file} must stay as it was: undo the change, and write ${next}-… instead`
          : `${file} has changed since the databases of ${version} were kept: npm run keep-databases`;
        const ours = known[store].find((migration) => migration.number === number);
        assert.deepEqual([ours?.name, ours?.checksum], [name, checksum], todo);
      }
});

test('upgrades: databases are kept of each released version, and what programs rely on', () => {
  const missing = released.filter((version) => !keptVersions().includes(version) || keptFaces(version) === null);
  assert.deepEqual(missing, [], 'take them from the commit of the release');
});

test('upgrades: keep-databases refuses a version that is released, and says what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-keep-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of ['src', 'test', 'tools', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true, filter: (path) => !path.includes('node_modules') });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  writeFileSync(join(folder, 'CHANGELOG.md'), `${changelog}\n## ${manifest.version} (2026-11-29)\n\nReleased.\n`);
  const { status, stderr } = spawnSync(process.execPath, ['test/upgrades/keep.ts'], { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^keep-databases: \S+ is released: .* To do: set the version .*"npm run set-version -- /m);
});
