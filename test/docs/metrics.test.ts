/** What the documents say of metrics against the program. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { figuresTable } from '../../src/metrics/families.ts';

test('the table of figures in docs/operating/metrics.md is the one that the program makes', () => {
  const document = readFileSync(new URL('../../docs/operating/metrics.md', import.meta.url), 'utf8');
  const [, documented] = /<!-- figures: generated .*? -->\n(.*?)\n<!-- figures: end -->/s.exec(document) ?? [];
  const table = figuresTable();
  assert.equal(
    documented,
    table,
    `src/metrics/families.ts changed: paste this into docs/operating/metrics.md\n\n${table}\n`,
  );
});
