/**
 * `npm test` by the program itself, on folders with a file of tests: what is skipped is named, and is a failure under CI alone; an error
 * that nobody catches is one always.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

/** Runs `npm test -- FOLDER` on a folder with one file of tests. */
function runTests(t: TestContext, source: string, variables: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-run-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'some.test.ts'), `import { describe, test } from 'node:test';\n${source}`);
  // Node's runner tells a test's processes to report to it, and refuses to run in one.
  const { CI, NODE_TEST_CONTEXT, ...environment } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/run.ts', folder], {
    env: { ...environment, ...variables },
    encoding: 'utf8',
  });
  return { status, stderr, skipped: stdout.match(/^ℹ skipped: .*$/gm) ?? [], lines: stdout.trimEnd().split('\n') };
}

const SKIPPED = `
  test('one', () => {});
  test('two', { skip: 'no compiler' }, () => {});
  describe('three', () => { test('four', (t) => t.skip('no git')); });
  describe('five', { skip: 'no browser' }, () => { test('six', () => {}); });
  test('seven', { todo: true }, () => {});
`;

test('npm test names what was skipped, a line each before the counts, and ends well', (t) => {
  const { status, stderr, skipped, lines } = runTests(t, SKIPPED);
  const reasons = [': two: no compiler', ': four: no git', ': five: no browser', ': seven: no reason is given'];
  assert.deepEqual(
    skipped.map((line) => line.slice(line.indexOf('some.test.ts') + 'some.test.ts'.length)),
    reasons,
  );
  const [after] = lines.slice(lines.lastIndexOf(skipped.at(-1) ?? '') + 1);
  assert.equal(after, 'ℹ tests 4');
  assert.match(lines.at(-1) ?? '', /^ℹ duration_ms /, 'the counts are the last thing on stdout');
  assert.equal(status, 0, stderr);
});

test('under CI a skip is a failure, of a suite as of a test', (t) => {
  const some = runTests(t, SKIPPED, { CI: 'true' });
  assert.match(some.stderr, /^npm test: 4 tests were skipped, and CI runs all of them$/m);
  assert.equal(some.status, 1);
  assert.equal(runTests(t, "describe('a', { skip: 'b' }, () => {});", { CI: 'true' }).status, 1);
  assert.equal(runTests(t, "test('a', () => {});", { CI: 'true' }).status, 0);
});

test('a test that fails fails npm test, skipped or not', (t) => {
  const { status, stderr } = runTests(t, `${SKIPPED} test('a', () => { throw new Error('b'); });`);
  assert.match(stderr, /^npm test: tests failed, see above$/m);
  assert.equal(status, 1);
});

for (const [error, act] of [
  ['an error that nobody catches', "setTimeout(() => { throw new Error('stray'); })"],
  ['a rejection that nobody catches', "Promise.reject(new Error('stray'))"],
] as const)
  test(`${error} fails npm test, though the test that it is of goes on`, (t) => {
    const source = `test('a', async () => { await 0; ${act}; await new Promise((done) => setTimeout(done, 50)); });`;
    const { status, lines } = runTests(t, source);
    assert.match(lines.join('\n'), /stray/);
    assert.equal(status, 1);
  });

test('no suite is async: the runner, which follows no promises, would not know that tests after an await are its own', () => {
  const isAsync = (source: string) => /\bdescribe\((?:(?!=>).)*?\basync\b/s.test(source);
  assert.ok(isAsync("describe('a', { concurrency: true }, async () => {"));
  assert.ok(!isAsync("describe('a', () => {\n  test('b', async () => {"));
  const files = globSync('test/**/*.ts', { exclude: ['test/run.test.ts'] });
  assert.deepEqual(
    files.filter((file) => isAsync(readFileSync(file, 'utf8'))),
    [],
  );
});
