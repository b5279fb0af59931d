/** The pages of docs/reference against the program: the settings table is the generated one, the command table is complete. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Limit } from '../../src/accounts/guessing/throttle.ts';
import { makeThrottles } from '../../src/accounts/sign-in/rate-limits.ts';
import {
  AUTHORIZE_PATH,
  ME_PATH,
  REFRESH_TOKEN_PATH,
  RESOURCE_METADATA_PATH,
  STANDARD_PATHS,
  TOKEN_PATH,
} from '../../src/http/service/paths.ts';
import { PUBLISHED_PARAMETERS, STANDARD_PARAMETERS } from '../../src/oauth/protocol/authorization-request.ts';
import { pagePaths } from '../../src/pages/layout/page-paths.ts';
import { configurationTable } from '../../src/settings/variables.ts';
import { commandsOfProgram } from '../support/commands.ts';

type Described = { post?: { requestBody?: { content: { 'application/json': { schema: { $ref: string } } } } } };
const OPENAPI = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Described>;
  components: { schemas: Record<string, { properties: object }> };
};
const ROOT = new URL('../../', import.meta.url);
/** All reference pages, one after the other. */
const DOCUMENT = globSync('docs/reference/*.md', { cwd: ROOT })
  .map((file) => readFileSync(new URL(file, ROOT), 'utf8'))
  .join('\n');

test('the configuration table is the one that the program makes', () => {
  const [, documented] =
    /<!-- configuration: generated .*? -->\n(.*?)\n?<!-- configuration: end -->/s.exec(DOCUMENT) ?? [];
  const table = configurationTable();
  assert.equal(
    documented,
    table,
    `src/settings/configuration.ts changed: paste this between the two comments in docs/reference/settings.md\n\n${table}\n`,
  );
});

test('ASVS 6.1.1: the table of limits says what the program counts', () => {
  // The limits of operators' keys are on their own page.
  const { providerCalls, providerEndings, operatorCalls, operatorKeys, ...throttles } = makeThrottles(null);
  const documented = tableOf('## Limits').flatMap(([, most = '']) => {
    const [, count = '', time, unit] = /^([\d,]+) in (\d+) (s|min)$/.exec(most) ?? [];
    return count === ''
      ? []
      : [{ count: Number(count.replace(',', '')), seconds: Number(time) * (unit === 's' ? 1 : 60) }];
  });
  const inOrder = (limits: readonly Limit[]) => limits.map(({ count, seconds }) => `${count} in ${seconds} s`).sort();
  assert.deepEqual(inOrder(documented), inOrder(Object.values(throttles).map(({ limit }) => limit)));
  const { count, seconds } = providerCalls.limit;
  assert.deepEqual(providerEndings.limit, providerCalls.limit, 'of the same size');
  assert.ok(
    DOCUMENT.replaceAll(/\s+/g, ' ').includes(`may make ${count} calls in ${seconds} s, on all instances together`),
  );
});

test('every command stands in a table of commands with its options, and no other', async () => {
  const program = await commandsOfProgram();
  const documented = documentedCommands(section('# Commands') + section('# Commands for data and keys'));
  assert.deepEqual([...documented.keys()].sort(), [...program.keys()].sort());
  for (const [name, options] of program) {
    const { text = '', listed = [] } = documented.get(name) ?? {};
    for (const option of options)
      assert.match(
        text,
        new RegExp(`(?<![a-z-])${option}(?![a-z-])`),
        `docs/reference/commands.md: "${name}" lacks ${option}`,
      );
    // One table may serve two commands: an option of either belongs there.
    const known = [...program].filter(([other]) => documented.get(other)?.listed === listed);
    assert.deepEqual(
      listed.filter((option) => !known.some(([, own]) => [...own].includes(option))),
      [],
      name,
    );
  }
});

test('the tables of parameters name what the code reads, and nothing else', () => {
  const [published, standard] = ['## 1. The authorization page', '## The authorization page'].map(parametersIn);
  assert.deepEqual(published, [...PUBLISHED_PARAMETERS].sort());
  assert.deepEqual([...new Set([...(published ?? []), ...(standard ?? [])])].sort(), [...STANDARD_PARAMETERS].sort());
  for (const [heading, path] of [
    ['## 2. The token request', TOKEN_PATH],
    ['## 3. The refresh request', REFRESH_TOKEN_PATH],
  ] as const)
    assert.deepEqual(parametersIn(heading), parametersRead(path).sort(), heading);
  const ways = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'];
  const inTable = tableOf('## The token endpoint').map(([path = '', names = '']): [string, string[]] => [
    inBackticks(path)[0] ?? '',
    names.startsWith('those of the authorization page')
      ? STANDARD_PARAMETERS.filter((name) => !inBackticks(names).includes(name) && name !== 'client_id')
      : inBackticks(names),
  ]);
  const posts = Object.keys(OPENAPI.paths).filter(
    (path) => path.startsWith('/oauth2/') && OPENAPI.paths[path]?.post?.requestBody,
  );
  assert.deepEqual(inTable.map(([path]) => path).sort(), posts.sort());
  for (const [path, names] of inTable)
    assert.deepEqual(
      [...names].sort(),
      parametersRead(path)
        .filter((name) => !ways.includes(name))
        .sort(),
      path,
    );
});

test('every path of a page or endpoint that the program serves is documented', () => {
  const published = [AUTHORIZE_PATH, TOKEN_PATH, REFRESH_TOKEN_PATH, ME_PATH, ...Object.values(STANDARD_PATHS)];
  const ofPages = Object.values(pagePaths('')).filter((path) => typeof path === 'string');
  const served = [...published, RESOURCE_METADATA_PATH, ...ofPages, '/healthz', '/readyz'];
  for (const path of served.filter((path) => !path.startsWith('/assets/')))
    assert.ok(DOCUMENT.includes(`${path}\``), `no page of docs/reference names ${path}`);
});

/** The commands of the tables: the text of each row with that of its own section, and the options that this section lists. */
function documentedCommands(page: string) {
  const rows = [...page.matchAll(/^\| `([a-z][a-z -]*)` \| (.*) \|$/gm)];
  const sections = page
    .split(/^### /m)
    .slice(1)
    .map((text) => {
      const [heading = ''] = text.split('\n');
      const own = text.slice(heading.length).split('\n## ')[0] ?? '';
      const cells = [...own.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) => inBackticks(cell));
      return { of: inBackticks(heading), text: own, listed: cells.filter((cell) => cell.startsWith('--')) };
    });
  return new Map(
    rows.map(([, name = '', row = '']) => {
      const own = sections.find(({ of }) => of.includes(name));
      return [name, { text: `${row}\n${own?.text ?? ''}`, listed: own?.listed ?? [] }];
    }),
  );
}

/** The rows of the first table below a heading, as the texts of their cells. */
function tableOf(heading: string): string[][] {
  const [, rows = ''] = /^\|[-|]+\|\n((?:\|.*\n)+)/m.exec(section(heading)) ?? [];
  return rows
    .trimEnd()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The parameters that the first table below a heading has in its first column. */
function parametersIn(heading: string): string[] {
  return tableOf(heading)
    .flatMap(([names = '']) => inBackticks(names))
    .sort();
}

function inBackticks(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/** What an endpoint reads of its body: an operation reads what it describes. */
function parametersRead(path: string): string[] {
  const reference = OPENAPI.paths[path]?.post?.requestBody?.content['application/json'].schema.$ref ?? '';
  return Object.keys(OPENAPI.components.schemas[reference.replace(/^.*\//, '')]?.properties ?? {});
}

/** The text below a heading, up to the next one of its level. */
function section(heading: string): string {
  const [, text = ''] = DOCUMENT.split(`\n${heading}\n`);
  const level = heading.indexOf(' ');
  return text.split(new RegExp(`\\n#{1,${level}} `))[0] ?? '';
}
