import assert from 'node:assert/strict';
import { it } from 'node:test';
import { plain } from '../../src/cli/plain.ts';
import { table } from '../../src/cli/table.ts';

const HEADINGS = ['ID', 'Name', 'Note'];
const ROWS = [
  ['app_1', 'Acme', ''],
  ['app_23', '日本', ''],
];

it('aligns columns, also under wide characters, and leaves out a column that says nothing', () => {
  assert.deepEqual(table(HEADINGS, ROWS, 80), ['ID      Name', 'app_1   Acme', 'app_23  日本']);
});

it('becomes cards where the terminal is too narrow, and cuts nothing off', () => {
  assert.deepEqual(table(HEADINGS, ROWS, 11), ['ID    app_1', 'Name  Acme', '', 'ID    app_23', 'Name  日本']);
});

it('takes as many rows as can be asked for', () => {
  assert.equal(table(HEADINGS, Array(999_999).fill(ROWS[0]), 80).length, 1_000_000);
});

it('passes on nothing that commands a terminal or turns the direction of text', () => {
  assert.equal(plain('a\u001b[2J\u009b\u202e\nb'), 'a\\u001b[2J\\u009b\\u202e\\u000ab');
});

it('leaves names as they are', () => {
  for (const name of ['Ada Lovelace', 'Zoë', '日本', 'עדה', '👩‍🔬']) assert.equal(plain(name), name);
});
