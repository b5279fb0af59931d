/** The documents in small pieces: no page over 400 lines, no table cell over 25 words. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../', import.meta.url);
const PAGES = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: ROOT });
const MAX_LINES = 400;
/** Lists that are searched and not read. */
const LONG = ['docs/conformance.md', 'CHANGELOG.md'];
const MAX_WORDS = 25;

const read = (page: string) => readFileSync(new URL(page, ROOT), 'utf8');

test('no page has more than 400 lines', () => {
  assert.ok(PAGES.length > 80);
  const tooLong = PAGES.filter((page) => !LONG.includes(page) && read(page).split('\n').length > MAX_LINES + 1);
  assert.deepEqual(tooLong, [], 'split these by their readers');
});

test('no cell of a table has more than 25 words', () => {
  const tooLong = PAGES.flatMap((page) =>
    cellsOf(read(page)).flatMap((cell) => (wordsIn(cell) > MAX_WORDS ? [`${page}: ${cell}`] : [])),
  );
  assert.deepEqual(tooLong, [], 'shorten these, or move them below the table');
});

test('words are counted: code, a quoted title and a link are one each', () => {
  assert.equal(wordsIn('`test/a.test.ts` "a title of four words", and [a link](x.md)'), 4);
  assert.deepEqual(cellsOf('| a | b c |\n|---|---|\n| `x \\| y` | d |\n```\n| e | f |\n```'), [
    'a',
    'b c',
    '`x \\| y`',
    'd',
  ]);
});

function cellsOf(page: string): string[] {
  const rows = page
    .replaceAll(/^```.*?^```/gms, '')
    .split('\n')
    .filter((line) => /^\|(?!-)/.test(line));
  return rows.flatMap((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function wordsIn(cell: string): number {
  const plain = cell.replaceAll(/`[^`]*`|"[^"]*"|\[[^\]]*\]\([^)]*\)/g, 'X');
  return plain.split(/\s+/).filter((word) => /\p{L}|\p{N}/u.test(word)).length;
}
