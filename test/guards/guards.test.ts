/** The table of guards is up to date: each stands in its file, once, and the tests that are to notice are there. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Guard, placesOf, takeOut } from './guard.ts';
import { GUARDS } from './table.ts';

for (const [area, guards] of Object.entries(GUARDS))
  test(`each of the ${guards.length} guards of ${area} can be taken out: mend test/guards/${area}.ts after a change`, () => {
    const stale = guards.flatMap((guard) => problemsOf(guard));
    assert.deepEqual(stale, []);
    const known = new Set(guards.map(({ file, text, without }) => `${file} ${text} ${without}`));
    assert.equal(known.size, guards.length, 'a guard stands twice in the table');
  });

/** Maximum length of the text of a guard, in characters. */
const MAX_TEXT = 100;

test('a guard quotes names and short expressions, no comment and no words of a message: a rewording breaks none', () => {
  const isComment = (text: string) => /\/\/|\/\*/.test(text);
  const isMessage = (text: string) => /['"`][^'"`]*\b[a-z]+ [a-z]+ [a-z]+\b/.test(text);
  const isWordy = (text: string) => isComment(text) || isMessage(text) || text.includes('\n') || text.length > MAX_TEXT;
  const examples = ['f(); // A later', "return 'the client is paused';", 'f();\ng();', 'f'.repeat(MAX_TEXT + 1)];
  assert.deepEqual(examples.filter(isWordy), examples);
  const wordy = Object.values(GUARDS)
    .flat()
    .filter(({ text }) => isWordy(text));
  assert.deepEqual(
    wordy.map(({ holds, text }) => `${holds}: ${text}`),
    [],
  );
});

/** Every file that a guard may stand in, by its path. */
const sources = new Map(
  globSync(['src/**/*.ts', 'packages/*/src/**/*.ts', 'demo/**/*.ts']).map((path) => [path, readFileSync(path, 'utf8')]),
);

/** What is out of date of a guard: all of it, since one change of the source often moves several. */
function problemsOf(guard: Guard): string[] {
  const missing = guard.tests.filter((path) => !existsSync(path)).map((path) => `${guard.holds}: no test ${path}`);
  if (guard.text === guard.without) missing.push(`${guard.holds}: nothing is taken out`);
  try {
    takeOut(guard, sources.get(guard.file) ?? '');
    return missing;
  } catch (error) {
    const moved = [...sources].filter(([, source]) => placesOf(guard.text, source) === 1).map(([path]) => path);
    return [...missing, `${guard.holds}: ${(error as Error).message}${moved.map((path) => `\nIt is in ${path}.`)}`];
  }
}
