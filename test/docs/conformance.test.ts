/** `docs/conformance.md` against the code and the tests: what the code cites has a row, and each rule a test. UPDATE_DOCS=1 writes its last columns. */
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';

/** The hand-written part of a row. The file of its rule and its tests are looked up. */
type Row = {
  readonly clause: string;
  readonly level: string;
  readonly asks: string;
  /** A name in the source, `Type.member` where others are called so too; or the reason why there is none. */
  readonly held: { readonly rule: string } | { readonly reason: string };
};

const ROOT = new URL('../../', import.meta.url);
const PAGE = 'docs/conformance.md';
const REMEDY = 'run UPDATE_DOCS=1 node --test test/docs/conformance.test.ts';

const TEXT =
  '(?:RFC \\d{4}|OAuth 2\\.1|OpenID Connect Core|NIST SP 800-38D|WebAuthn L3|draft-ietf-oauth-client-id-metadata-document|ASVS)';
const CLAUSE = new RegExp(`^${TEXT} §?\\d+(?:\\.\\d+)*$`);
const ROW = /^\| ([^|]+) \| (must|must not|should|should not|may) \| ([^|]+) \| ([^|]+) \| [^|]*\|$/;
const RULE = /^(?:`[^`]+\.ts` )?`(\w+(?:\.\w+)?)`$/;
const REASON = /^(?:deviation|not applicable): \S.+$/;
/** The clauses that a title begins with. A title in a table of cases counts as any other. */
const CLAUSES_OF_TITLE = new RegExp(`(?<=['"\`])${TEXT} §?\\d[^'"\`:\\n]*(?=: )`, 'g');
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

const DECLARED = /^(?:export )?(?:async )?(?:function|class|const|type|interface) (\w+)/gm;
const SOURCES = globSync(['src/**/*.ts', 'packages/{verify,product}/src/*.ts'], { cwd: ROOT }).map((file) => {
  const text = read(file);
  const declared = new Set([...text.matchAll(DECLARED)].map(([, name = '']) => name));
  return { file, names: new Set(text.match(/\w+/g)), declared, clauses: clausesOf(text) };
});
const CITED = SOURCES.flatMap(({ file, clauses }) => [...clauses].filter(hasTable).map((clause) => ({ file, clause })));
const SHOWN = titlesByClause();
const TABLES = tables(read(PAGE));
const ROWS = TABLES.flatMap(({ rows }) => rows);

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
    const rules = ROWS.filter((row) => row.clause === clause).flatMap(({ held }) =>
      'rule' in held ? [fileOf(clause, held.rule)] : [],
    );
    return rules.length > 0 && !rules.some((file) => files.includes(file));
  });
  assert.deepEqual(elsewhere, []);
});

test('the page says which file holds each rule, and which tests show it', () => {
  const made = madePage(read(PAGE));
  if (process.env['UPDATE_DOCS']) writeFileSync(new URL(PAGE, ROOT), made);
  const lines = made.split('\n');
  const stale = read(PAGE)
    .split('\n')
    .filter((line) => !lines.includes(line));
  assert.deepEqual(stale, [], REMEDY);
});

function assertTrue({ clause, held }: Row, of: string): void {
  assert.ok(clause.startsWith(of === 'ASVS' ? 'ASVS ' : `${of} §`), `it stands under ${of}`);
  if (!('rule' in held)) return;
  fileOf(clause, held.rule);
  assert.ok(SHOWN.has(clause), `a rule is shown by a test: begin its title with "${clause}: "`);
}

/** The one file of a rule: which declares its name and cites the clause, or else cites and uses it, or else declares it. */
function fileOf(clause: string, rule: string): string {
  const [holder = '', member = holder] = rule.split('.');
  const naming = SOURCES.filter(
    ({ names, declared }) => names.has(member) && (member === holder || declared.has(holder)),
  );
  const declaring = naming.filter(({ declared }) => declared.has(holder));
  const cites = ({ clauses }: (typeof SOURCES)[number]) => clauses.has(clause);
  const found = [declaring.filter(cites), naming.filter(cites), declaring].find(({ length }) => length > 0) ?? [];
  const files = found.map(({ file }) => file);
  assert.equal(
    files.length,
    1,
    `${clause}: ${rule} is in ${files.join(', ') || 'no file'}: write a name, or Type.member, that one file alone has`,
  );
  return files[0] as string;
}

/** How many titles begin with each clause, in each file of tests. */
function titlesByClause(): Map<string, Map<string, number>> {
  const shown = new Map<string, Map<string, number>>();
  for (const file of globSync('test/**/*.test.ts', { cwd: ROOT }).sort())
    for (const [head] of read(file).matchAll(CLAUSES_OF_TITLE))
      for (const clause of clausesOf(head)) {
        const counts = shown.get(clause) ?? new Map<string, number>();
        shown.set(clause, counts.set(file, (counts.get(file) ?? 0) + 1));
      }
  return shown;
}

/** The page with its last two columns made anew. */
function madePage(page: string): string {
  const seen = new Set<string>();
  const madeRow = (line: string) => {
    const { clause, level, asks, held } = readRow(line);
    const heldBy = 'rule' in held ? `\`${fileOf(clause, held.rule)}\` \`${held.rule}\`` : held.reason;
    const shownBy = seen.has(clause) ? 'as above' : testsOf(clause);
    seen.add(clause);
    return `| ${clause} | ${level} | ${asks} | ${heldBy} | ${shownBy} |`;
  };
  return page.replace(/^\| (?!clause ).+$/gm, madeRow);
}

/** The tests of a clause by their folder: `http/api/{introspect×3, me}`. */
function testsOf(clause: string): string {
  const folders = Map.groupBy(SHOWN.get(clause) ?? [], ([file]) => dirname(file));
  const groups = [...folders].map(([folder, files]) => {
    const names = files.map(([file, count]) => basename(file, '.test.ts') + (count === 1 ? '' : `×${count}`));
    const inFolder = names.length === 1 ? names[0] : `{${names.join(', ')}}`;
    return `\`${folder}/${inFolder}\``.replace('test/', '');
  });
  return groups.join(', ') || '–';
}

/** The tables of clauses, each with the text that its heading begins with. */
function tables(document: string): { of: string; rows: Row[] }[] {
  return document
    .split('\n## ')
    .slice(1)
    .map((section) => {
      const [of = ''] = new RegExp(`^${TEXT}`).exec(section) ?? [];
      const lines = section.split('\n').filter((line) => line.startsWith('| '));
      return { of, rows: lines.slice(1).map(readRow) };
    })
    .filter(({ of }) => of !== '');
}

function readRow(line: string): Row {
  const [, clause = '', level = '', asks = '', held = ''] = ROW.exec(line) ?? [];
  assert.match(clause, CLAUSE, `not a row of the form clause, level, what it asks, held by, shown by: ${line}`);
  const [, rule] = RULE.exec(held) ?? [];
  assert.ok(rule !== undefined || REASON.test(held), `neither a rule nor a reason: ${line}`);
  return { clause, level, asks, held: rule === undefined ? { reason: held } : { rule } };
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

function hasTable(clause: string): boolean {
  return TEXTS.some((of) => clause.startsWith(`${of} `));
}

/** The clauses that a text cites, also where a second one follows after a comma. */
function clausesOf(text: string): Set<string> {
  const cited = text.matchAll(new RegExp(`\\b(${TEXT}) ((?:§?\\d+(?:\\.\\d+)*(?:, (?=§|\\d+\\.))?)+)`, 'g'));
  return new Set([...cited].flatMap(([, of, clauses = '']) => clauses.split(', ').map((clause) => `${of} ${clause}`)));
}
