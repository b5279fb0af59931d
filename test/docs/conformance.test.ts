/** `docs/conformance.md` against the code and the tests: what a row names is there, and what the code cites has a row. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

type Row = {
  readonly clause: string;
  readonly rule: [file: string, name: string];
  readonly test: [file: string, title: string];
};

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const DOCUMENT = read('docs/conformance.md');
const CLAUSE = /^RFC \d{4} §\d+(?:\.\d+)*$/;
const ROW = /^\| ([^|]+) \| [^|]+ \| `(src\/[^`]+\.ts)` `(\w+)` \| `(test\/[^`]+\.test\.ts)` "([^"]+)" \|$/;

const ROWS: readonly Row[] = tableLines('| clause |').map((line) => {
  const [, clause = '', ruleFile = '', name = '', testFile = '', title = ''] = ROW.exec(line) ?? [];
  assert.match(
    clause,
    CLAUSE,
    `not a row of the form clause, what it asks, \`file\` \`name\`, \`test file\` "title": ${line}`,
  );
  return { clause, rule: [ruleFile, name], test: [testFile, title] };
});

test('the tables of clauses are read', () => assert.ok(ROWS.length > 40, `${ROWS.length} rows`));

for (const { clause, rule, test: told } of ROWS) {
  test(`${clause}: ${rule.join(' ')}, ${told.join(' ')}`, () => {
    const [ruleFile, name] = rule;
    assert.ok(existsSync(new URL(ruleFile, ROOT)), `${ruleFile} is not there`);
    assert.ok(clausesOf(read(ruleFile)).has(clause), `${ruleFile} does not cite ${clause}`);
    assert.match(read(ruleFile), new RegExp(`\\b${name}\\b`), `${ruleFile} has no ${name}`);
    const [testFile, title] = told;
    assert.ok(existsSync(new URL(testFile, ROOT)), `${testFile} is not there`);
    const titles = read(testFile).match(/(?<=['"`])[^'"`\n]+/g) ?? [];
    assert.ok(
      titles.some((text) => text.startsWith(title)),
      `${testFile} has no test whose title begins with: ${title}`,
    );
    const [cited] = /RFC \d{4} §[\d.]*\d/.exec(title) ?? [];
    assert.ok(cited === undefined || read(testFile).includes(cited), `${testFile} does not cite ${cited}`);
  });
}

test('no row is there twice', () => {
  const rows = ROWS.map((row) => JSON.stringify(row));
  assert.deepEqual(
    rows.filter((row, at) => rows.indexOf(row) < at),
    [],
  );
});

test('every clause of OAuth that the code cites has a row: add it to docs/conformance.md', () => {
  const known = new Set(ROWS.map(({ clause }) => clause));
  const missing = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((path) =>
    [...clausesOf(read(path))]
      .filter((clause) => /^RFC (6749|6750|7636|8252|9700|9207|7009|7662|8414) /.test(clause) && !known.has(clause))
      .map((clause) => `${clause} in ${path}`),
  );
  assert.deepEqual(missing, []);
});

test('every link between documents leads somewhere', () => {
  const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });
  assert.ok(documents.length > 15);
  const broken = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(new URL(target, new URL(path, ROOT))))
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

/** The lines of all tables that begin so, without their heads. */
function tableLines(head: string): string[] {
  return DOCUMENT.split('\n\n')
    .filter((block) => block.startsWith(head))
    .flatMap((block) => block.trimEnd().split('\n').slice(2));
}

/** The clauses that a text cites, also where a second one follows after a comma. */
function clausesOf(text: string): Set<string> {
  const cited = text.matchAll(/\b(RFC \d{4}) ((?:§\d+(?:\.\d+)*(?:, (?=§))?)+)/g);
  return new Set(
    [...cited].flatMap(([, rfc, clauses = '']) => clauses.split(', ').map((clause) => `${rfc} ${clause}`)),
  );
}
