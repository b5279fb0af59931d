/** The two groups of test files (`test/support/groups.ts`): each file is in one, and the first has something of everything. */
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';
import { AGAIN, EXCEPTIONS, FOLDERS, filesOf, type Group, groupsOf } from './support/groups.ts';
import { STORE } from './support/stores.ts';

const LISTS = 'test/support/groups.ts';
const files = globSync('test/**/*.test.ts');
const first = filesOf('first');

test(`every test file is in exactly one group: name its folder in ${LISTS}, under first if the folder is quick`, () => {
  const misplaced = (paths: readonly string[]) => paths.filter((path) => groupsOf(path).length !== 1);
  assert.deepEqual(misplaced(['test/some-new-folder/some.test.ts']), ['test/some-new-folder/some.test.ts']);
  assert.deepEqual(misplaced(files), []);
  assert.equal(first.length + filesOf('rest').length, files.length);
});

test(`an exception is a test file, and differs from its folder: mend ${LISTS}`, () => {
  const inFolder = (group: Group, file: string) => FOLDERS[group].includes(dirname(file).replace(/^\.$/, ''));
  for (const [group, exceptions] of Object.entries(EXCEPTIONS) as [Group, readonly string[]][])
    for (const file of exceptions) {
      assert.ok(files.includes(`test/${file}`), `there is no test/${file}`);
      assert.ok(!inFolder(group, file), `test/${file} is in that group by its folder`);
    }
});

test('the first group has a test of each folder of src/: one that imports it, or begins with its name', () => {
  const texts = first.map((file) => readFileSync(file, 'utf8'));
  // Every test of the wire starts main.ts, which is the wiring.
  const places = (name: string) => (name === 'wiring' ? ['/src/main.ts', '/service.ts'] : [`/src/${name}/`]);
  const isTested = (name: string) =>
    texts.some((text) => places(name).some((place) => text.includes(place))) ||
    first.some((file) => basename(file).startsWith(name));
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.ok(folders.length > 10);
  const untested = folders.map(({ name }) => name).filter((name) => !isTested(name));
  assert.deepEqual(untested, []);
});

test('the first group has a test of each promise of docs/reliability.md but the last, whose command is test:guards', () => {
  const [, table = ''] = readFileSync('docs/reliability.md', 'utf8').split('\n## ');
  const rows = table.split('\n').filter((line) => /^\| (?!promise)/.test(line));
  const testsOf = (row: string) => [...row.matchAll(/test\/[\w/-]+\.test\.ts/g)].map(([path]) => path);
  const [last, ...others] = rows.toReversed();
  assert.match(last ?? '', /npm run test:guards/);
  assert.ok(others.length > 10);
  const untested = others.filter((row) => !testsOf(row).some((path) => first.includes(path)));
  assert.deepEqual(untested, []);
});

test('what the second group runs again is of the first, and what is made for both stores runs again on PostgreSQL', () => {
  for (const { files } of AGAIN) {
    assert.ok(files().length > 0);
    assert.deepEqual(
      files().filter((file) => !first.includes(file)),
      [],
    );
  }
  const onPostgresql = AGAIN.find(({ variables }) => variables[STORE] === 'PostgreSQL')?.files() ?? [];
  for (const file of ['http/provider/sign-in', 'upgrades/upgrade'])
    assert.ok(onPostgresql.includes(`test/${file}.test.ts`), file);
});
