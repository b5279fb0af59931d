import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { displayName, initial } from '../../src/pages/html/display-name.ts';

const cases: [what: string, name: string, shown: string][] = [
  ['ordinary names stay', 'Café Zürich 3.0', 'Café Zürich 3.0'],
  ['Arabic stays', 'مخطّط الاجتماعات', 'مخطّط الاجتماعات'],
  ['markup stays text', '<b>"Bold"</b>', '<b>"Bold"</b>'],
  ['right-to-left override', 'user\u202Egpj.exe', 'usergpj.exe'],
  ['bidi isolates and marks', '\u2067a\u2069\u200Eb\u200F\u061C', 'ab'],
  ['zero-width characters', 'G\u200Bo\u200Co\u200Dg\uFEFFl\u2060e\u00AD', 'Google'],
  ['fillers that look like nothing', 'A\u3164\u115F\u2800B', 'AB'],
  ['controls and line breaks', 'a\u0000b\r\n\tc\u2028d\u2029e', 'ab c d e'],
  ['spaces at the ends', '  a \u200B b ', 'a b'],
  ['lone surrogates', 'a\uD800b', 'ab'],
  ['towers of marks', `a${'\u0301'.repeat(50)}b`, 'a\u0301\u0301\u0301b'],
  ['nothing visible', '\u200B\u202E \u3164', ''],
];

for (const [what, name, shown] of cases) {
  test(`a displayed name: ${what}`, () => assert.equal(displayName(name), shown));
}

test('a displayed name is cut at 100 characters as people count them', () => {
  assert.equal(displayName('x'.repeat(100)), 'x'.repeat(100));
  assert.equal(displayName('x'.repeat(5_000)), `${'x'.repeat(99)}…`);
  assert.equal(displayName(`${'\u200B'.repeat(5_000)}evil`), '');
  const families = displayName('é'.normalize('NFD').repeat(100));
  assert.equal([...new Intl.Segmenter('en').segment(families)].length, 100);
});

test('a displayed name shows the end of a name that just fits, hidden characters or not', () => {
  assert.equal(displayName(`${'\u200B'.repeat(50)}${'x'.repeat(100)}`), 'x'.repeat(100));
});

test('whatever the name, what is shown is short, on one line and without invisible characters, and showing it again changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
      const shown = displayName(name);
      assert.ok([...new Intl.Segmenter('en').segment(shown)].length <= 100);
      assert.doesNotMatch(shown, /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u);
      assert.equal(displayName(shown), shown);
    }),
  );
});

test('an initial is the first visible character, in upper case', () => {
  assert.equal(initial('\u200Bémile'), 'É');
  assert.equal(initial(''), '');
});
