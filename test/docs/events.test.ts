/** `docs/reference/events.md` against the program: each action with its members, and each member with its type. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EVENT_MEMBERS } from '../../src/oauth/trail/event-members.ts';

const DOCUMENT = readFileSync(new URL('../../docs/reference/events.md', import.meta.url), 'utf8');

/** The cells of the rows below a heading. */
function rows(heading: string): string[][] {
  const [, section = ''] = DOCUMENT.split(`\n## ${heading}\n`);
  const lines = section.split('\n## ')[0]?.split('\n') ?? [];
  return lines.filter((line) => line.startsWith('| `')).map((line) => line.slice(2, -2).split(' | '));
}

test('the reference of events lists each action with its members, in their order', () => {
  const expected = Object.entries(EVENT_MEMBERS).map(([action, members]) => {
    if (typeof members === 'string') return [`\`${action}\``, 'a signed statement, which is a text'];
    const names = Object.entries(members).map(([name, kind]) => `\`${name}\`${kind.endsWith('?') ? '?' : ''}`);
    return [`\`${action}\``, names.join(', ') || '—'];
  });
  assert.deepEqual(rows('Actions'), expected);
});

test('the reference of events lists each member with its type', () => {
  const kinds = Object.values(EVENT_MEMBERS).flatMap((members) =>
    typeof members === 'string'
      ? []
      : Object.entries(members).map(([name, kind]) => `\`${name}\` ${kind.replace('?', '')}`),
  );
  assert.deepEqual(
    rows('Members')
      .map(([name, kind]) => `${name} ${kind}`)
      .sort(),
    [...new Set(kinds)].sort(),
  );
});
