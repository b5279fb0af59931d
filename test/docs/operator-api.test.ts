/** `docs/reference/operator-api.md` against the program: rights, lists, errors and limits. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { makeThrottles } from '../../src/accounts/sign-in/rate-limits.ts';
import { API_STATUS } from '../../src/http/operator/api/api-error.ts';
import { queryNames } from '../../src/http/operator/api/described-parts.ts';
import { operatorRoutes } from '../../src/http/operator/api.ts';
import type { Service } from '../../src/http/service/service.ts';
import { ACTS } from '../../src/operator/access/rights.ts';

const DOCUMENT = readFileSync(new URL('../../docs/reference/operator-api.md', import.meta.url), 'utf8');
const ROUTES = operatorRoutes({ operatorApi: {} } as Service);

test('the table of rights is the one that the program decides by', () => {
  const [, documented] = /<!-- rights: generated .*? -->\n(.*?)\n?<!-- rights: end -->/s.exec(DOCUMENT) ?? [];
  const rows = Object.entries(ACTS).map(([act, needs]) => {
    if (typeof needs === 'string') return `| \`${act}\` | ${needs} | – | – |`;
    const presence = 'presence' in needs ? (needs.presence === 'always' ? 'yes' : 'unless signed in by address') : '–';
    return `| \`${act}\` | ${needs.role} | ${needs.right === null ? 'none may' : `\`${needs.right}\``} | ${presence} |`;
  });
  const table = ['| act | role | right of a key | presence |', '|---|---|---|---|', ...rows].join('\n');
  assert.equal(documented, table, `src/operator/access/rights.ts changed: paste this into the page\n\n${table}\n`);
});

test('each list is there with its filters, and each route that reads', () => {
  for (const { method, path, operation } of ROUTES.filter((route) => route.method === 'GET')) {
    assert.match(DOCUMENT, new RegExp(`/v1${path.replace(':id', '\\{\\w+\\}')}\``), `${method} ${path}`);
    if (path.includes(':') || path === '/status') continue;
    const row = DOCUMENT.split('\n').find((line) => line.startsWith(`| \`/v1${path}\` |`)) ?? '';
    for (const name of queryNames(operation).filter((each) => !['limit', 'after'].includes(each)))
      assert.match(row, new RegExp(`\`${name}[\`=]`), `${path} ${name}`);
  }
});

test('each route that changes something is there, with dry_run where it takes one', () => {
  const rows = DOCUMENT.split('\n').filter((line) => line.startsWith('| `'));
  for (const { method, path, operation } of ROUTES.filter((route) => route.method !== 'GET')) {
    if (path === '/identify') continue;
    const shared = /\/(secrets(\/older|\/newer)?|hand-over)$/.exec(path)?.[0];
    const named = (shared === undefined ? path : `/…/:id${shared}`).replace(
      /:id/,
      path.startsWith('/scopes') ? '{name}' : '{id}',
    );
    const isNamed = (line: string) =>
      line.includes(`\`${method} /v1${named}\``) ||
      (line.startsWith('| `POST') && line.includes(`, \`/v1${named}\``)) ||
      (shared === '/secrets/newer' && line.includes(', `/newer`'));
    const row = rows.find(isNamed);
    assert.ok(row, `${method} ${path}`);
    assert.equal(row.endsWith('| yes |'), queryNames(operation).includes('dry_run'), `${method} ${path}`);
  }
});

test('each code of an error is there with its status', () => {
  const rows = [...DOCUMENT.matchAll(/^\| (\d{3}(?:, \d{3})*) \| (`[a-z_]+`(?:, `[a-z_]+`)*) \|/gm)];
  const documented = rows.flatMap(([, statuses = '', codes = '']) => {
    const [all, names] = [statuses.split(', '), codes.split(', ').map((code) => code.replaceAll('`', ''))];
    return names.map((name, at) => [name, Number(all[at] ?? all[0])]);
  });
  // Refusals by Node.js or the listener, before there is a request of the API.
  const elsewhere = ['plain_http', 'timeout', 'headers_too_large'];
  const codes = Object.entries(API_STATUS).filter(([code]) => !elsewhere.includes(code));
  assert.deepEqual(documented.sort(), codes.sort());
});

test('ASVS 6.1.1: the limit of a key is the one that the program counts', () => {
  const { operatorCalls, operatorKeys } = makeThrottles(null);
  const { count, seconds } = operatorCalls.limit;
  assert.ok(DOCUMENT.includes(`A key may make ${count} calls in ${seconds} s, on all instances together.`));
  assert.deepEqual(operatorKeys.limit, { count: 30, seconds: 60 });
  assert.ok(DOCUMENT.includes('after 30 in a minute on one instance'));
});
