/** `docs/conformance.md` against the code and the tests: what a row names is there, and what the code cites has a row. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

/** A rule, or why there is none; and the tests that show it. */
type Row = {
  readonly clause: string;
  readonly asks: string;
  readonly rule: readonly [file: string, name: string] | null;
  readonly tests: readonly (readonly [file: string, title: string])[];
};

const ROOT = new URL('../../', import.meta.url);
const texts = new Map<string, string>();

const CLAUSE =
  /^(?:(?:RFC \d{4}|OAuth 2\.1|OpenID Connect Core|NIST SP 800-38D|WebAuthn L3|draft-ietf-oauth-client-id-metadata-document) §|ASVS )\d+(?:\.\d+)*$/;
const ROW = /^\| ([^|]+) \| (?:must|must not|should|should not|may) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/;
const RULE = /^`((?:src|packages\/(?:verify|product)\/src)\/[^`]+\.ts)` `(\w+)`$/;
const REASON = /^(?:deviation|not applicable): \S.+$/;
const TEST = /^`(test\/[^`]+\.test\.ts)` "([^"]+)"$/;
/** What has a table; RFCs that are not about OAuth are cited as well, and need no row. */
const TEXTS = [
  ...[
    6749, 6750, 7009, 7521, 7523, 7636, 7662, 8252, 8414, 8628, 8707, 9101, 9126, 9207, 9396, 9449, 9700, 9728, 9864,
  ].map((number) => `RFC ${number}`),
  'OAuth 2.1',
  'OpenID Connect Core',
  'ASVS',
  'NIST SP 800-38D',
  'WebAuthn L3',
  'draft-ietf-oauth-client-id-metadata-document',
];

const TABLES = tables(read('docs/conformance.md'));
const ROWS = TABLES.flatMap(({ rows }) => rows);
const CITED = globSync(['src/**/*.ts', 'packages/{verify,product}/src/*.ts'], { cwd: ROOT }).flatMap((file) =>
  [...clausesOf(read(file))].filter(hasTable).map((clause) => ({ file, clause })),
);

test('each text has a table with rows', () => {
  assert.deepEqual(
    TABLES.filter(({ rows }) => rows.length > 0).map(({ of }) => of),
    TEXTS,
  );
});

for (const { of, rows } of TABLES)
  for (const row of rows) test(`${row.clause}: ${row.asks}`, () => assertTrue(row, of));

test('nothing is asked twice', () => {
  const asked = ROWS.map(({ clause, asks }) => `${clause}: ${asks}`);
  assert.deepEqual(
    asked.filter((text, at) => asked.indexOf(text) < at),
    [],
  );
});

test('every clause that the code cites has a row: add it to docs/conformance.md', () => {
  const known = new Set(ROWS.map(({ clause }) => clause));
  const missing = CITED.filter(({ clause }) => !known.has(clause)).map(({ file, clause }) => `${clause} in ${file}`);
  assert.deepEqual(missing, []);
});

test('a clause that the code cites has a row for a rule in a file that cites it', () => {
  const elsewhere = [...new Set(CITED.map(({ clause }) => clause))].filter((clause) => {
    const files = CITED.filter((cited) => cited.clause === clause).map(({ file }) => file);
    const rules = ROWS.filter((row) => row.clause === clause && row.rule).map(({ rule }) => rule?.[0] ?? '');
    return rules.length > 0 && !rules.some((file) => files.includes(file));
  });
  assert.deepEqual(elsewhere, []);
});

function assertTrue({ clause, rule, tests }: Row, of: string): void {
  assert.ok(clause.startsWith(of === 'ASVS' ? 'ASVS ' : `${of} §`), `it stands under ${of}`);
  if (rule) {
    const [file, name] = rule;
    assert.ok(new RegExp(`\\b${name}\\b`).test(read(file)), `${file} has no ${name}`);
    assert.ok(tests.length > 0, 'a rule is shown by a test');
  }
  for (const [file, title] of tests) {
    const titles = read(file).match(/(?<=['"`])[^'"`\n]+/g) ?? [];
    assert.ok(
      titles.some((text) => text.startsWith(title)),
      `${file} has no test whose title begins with: ${title}`,
    );
  }
}

/** The tables of clauses, each with the text that its heading begins with. */
function tables(document: string): { of: string; rows: Row[] }[] {
  return document
    .split('\n## ')
    .slice(1)
    .map((section) => {
      const [of = ''] =
        /^(?:RFC \d{4}|OAuth 2\.1|OpenID Connect Core|ASVS|NIST SP 800-38D|WebAuthn L3|draft-ietf-oauth-client-id-metadata-document)/.exec(
          section,
        ) ?? [];
      const lines = section.split('\n').filter((line) => line.startsWith('| '));
      return { of, rows: lines.slice(1).map(readRow) };
    })
    .filter(({ of }) => of !== '');
}

function readRow(text: string): Row {
  const [, clause = '', asks = '', held = '', shown = ''] = ROW.exec(text) ?? [];
  assert.match(clause, CLAUSE, `not a row of the form clause, level, what it asks, held by, shown by: ${text}`);
  const [, file = '', name = ''] = RULE.exec(held) ?? [];
  assert.ok(file !== '' || REASON.test(held), `neither a rule nor a reason: ${text}`);
  const tests = shown === '–' ? [] : shown.split(', `').map((one, at) => readTest(at === 0 ? one : `\`${one}`, text));
  return { clause, asks, rule: file === '' ? null : [file, name], tests };
}

function readTest(shown: string, text: string): readonly [string, string] {
  const [, file = '', title = ''] = TEST.exec(shown) ?? [];
  assert.notEqual(file, '', `not a test file with the beginning of a title: ${text}`);
  return [file, title];
}

function read(path: string): string {
  const known = texts.get(path);
  if (known !== undefined) return known;
  const url = new URL(path, ROOT);
  assert.ok(existsSync(url), `${path} is not there`);
  const text = readFileSync(url, 'utf8');
  texts.set(path, text);
  return text;
}

function hasTable(clause: string): boolean {
  return TEXTS.some((of) => clause.startsWith(`${of} `));
}

/** The clauses that a text cites, also where a second one follows after a comma. */
function clausesOf(text: string): Set<string> {
  const cited = text.matchAll(
    /\b(RFC \d{4}|OAuth 2\.1|OpenID Connect Core|NIST SP 800-38D|WebAuthn L3|draft-ietf-oauth-client-id-metadata-document|ASVS) ((?:§?\d+(?:\.\d+)*(?:, (?=§|\d+\.))?)+)/g,
  );
  return new Set([...cited].flatMap(([, of, clauses = '']) => clauses.split(', ').map((clause) => `${of} ${clause}`)));
}
