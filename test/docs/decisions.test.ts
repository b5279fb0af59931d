/** docs/decisions: each number is one decision, and whoever names a number names one that is there. */
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const pages = readdirSync('docs/decisions').filter((file) => file !== 'README.md');
const numbers = pages.map((file) => file.slice(0, 4));

test('each decision is listed in docs/decisions/README.md once', () => {
  const list = readFileSync('docs/decisions/README.md', 'utf8');
  const listed = [...list.matchAll(/^\| \[(\d{4})\]\(((\d{4})[^)]*)\) \| \S/gm)];
  for (const [, shown, , number] of listed) assert.equal(shown, number);
  assert.deepEqual(listed.map(([, , file]) => file).sort(), pages.sort());
});

test('no two decisions have the same number', () => {
  const twice = numbers.filter((number, at) => numbers.indexOf(number) !== at);
  assert.deepEqual(twice, []);
});

test('each decision that sources and documents name by its number is there', () => {
  const files = globSync(['{src,test,bench,packages,demo,examples}/**/*.ts', '*.md', 'docs/**/*.md'], {
    exclude: (path) => path.includes('node_modules') || path.includes('CHANGELOG'),
  });
  const named = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:\bdecisions? |\bdecisions\/|\()(0\d{3})\b/g)].map(([, number]) => ({
      file,
      number: number as string,
    })),
  );
  assert.ok(named.length > 20, 'the pattern finds what is named');
  assert.deepEqual(
    named.filter(({ number }) => !numbers.includes(number)),
    [],
  );
});
