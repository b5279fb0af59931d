import assert from 'node:assert/strict';
import { it } from 'node:test';
import { escapeForTerminal } from '../../src/cli/output/escape-for-terminal.ts';
import { fitToWidth, table } from '../../src/cli/output/table.ts';

const COLUMNS = ['ID', 'Name', 'Note'].map((heading, at) => ({
  heading,
  value: (row: readonly string[]) => row[at] ?? '',
}));
const ROWS = [
  ['app_1', 'Acme', ''],
  ['app_23', '日本', ''],
];

it('aligns columns, also under wide characters, and leaves out a column that says nothing', () => {
  assert.deepEqual(table(COLUMNS, ROWS, 80), ['ID      Name', 'app_1   Acme', 'app_23  日本']);
});

it('becomes cards where the terminal is too narrow, and cuts nothing off', () => {
  assert.deepEqual(table(COLUMNS, ROWS, 11), ['ID    app_1', 'Name  Acme', '', 'ID    app_23', 'Name  日本']);
});

it('takes as many rows as can be asked for', () => {
  assert.equal(table(COLUMNS, Array<string[]>(999_999).fill(ROWS[0] ?? []), 80).length, 1_000_000);
});

it('passes on nothing that commands a terminal or turns the direction of text', () => {
  assert.equal(escapeForTerminal('a\u001b[2J\u009b\u202e\nb'), 'a\\u001b[2J\\u009b\\u202e\\u000ab');
});

it('leaves names as they are', () => {
  for (const name of ['Ada Lovelace', 'Zoë', '日本', 'עדה', '👩‍🔬']) assert.equal(escapeForTerminal(name), name);
});

it('shows whole an id that takes more than half the line, and moves no other row', () => {
  const rows = [
    { id: 'app_1', name: 'One' },
    { id: 'x'.repeat(255), name: 'Two' },
  ];
  const shown = [
    { heading: 'ID', value: ({ id }: { id: string }) => id },
    { heading: 'Name', value: ({ name }: { name: string }) => name, shrinksTo: 3 },
  ];
  assert.deepEqual(fitToWidth(shown, rows, 80).lines, ['ID     Name', 'app_1  One', `${'x'.repeat(255)}  Two`]);
  assert.match(
    fitToWidth(shown, rows, Number.POSITIVE_INFINITY).lines[1] ?? '',
    /^app_1 {252}One$/,
    'piped, all align',
  );
});
