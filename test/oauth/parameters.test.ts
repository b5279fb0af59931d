import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Parameter, Parameters } from '../../src/oauth/parameters.ts';

const known = ['a', 'b'];

const cases: [string, Parameter[], string | undefined, boolean, string | null][] = [
  ['absent', [], undefined, false, null],
  ['there', [['a', 'x']], 'x', true, null],
  ['empty, which is as good as absent', [['a', '']], undefined, true, null],
  ['not text', [['a', null]], undefined, true, 'a is not a string in UTF-8'],
  [
    'repeated with the same value',
    [
      ['a', 'x'],
      ['a', 'x'],
    ],
    undefined,
    true,
    'a is repeated',
  ],
  [
    'repeated with another value',
    [
      ['a', 'x'],
      ['a', 'y'],
    ],
    undefined,
    true,
    'a is repeated',
  ],
  [
    'repeated, first empty',
    [
      ['a', ''],
      ['a', 'x'],
    ],
    undefined,
    true,
    'a is repeated',
  ],
  [
    'repeated, last empty',
    [
      ['a', 'x'],
      ['a', ''],
    ],
    undefined,
    true,
    'a is repeated',
  ],
  [
    'repeated, once not text',
    [
      ['a', 'x'],
      ['a', null],
    ],
    undefined,
    true,
    'a is repeated',
  ],
  [
    'beside another',
    [
      ['b', 'y'],
      ['a', 'x'],
    ],
    'x',
    true,
    null,
  ],
  [
    'beside another that is repeated',
    [
      ['a', 'x'],
      ['b', 'y'],
      ['b', 'y'],
    ],
    'x',
    true,
    'b is repeated',
  ],
  [
    'beside an unknown one',
    [
      ['a', 'x'],
      ['extra', 'y'],
    ],
    'x',
    true,
    null,
  ],
  [
    'beside an unknown one that is not text',
    [
      ['a', 'x'],
      ['extra', null],
    ],
    'x',
    true,
    null,
  ],
  [
    'beside an unknown one that is repeated',
    [
      ['a', 'x'],
      ['evil', 'y'],
      ['evil', 'y'],
    ],
    'x',
    true,
    'a parameter is repeated',
  ],
  ['of another case', [['A', 'x']], undefined, false, null],
];
for (const [name, pairs, value, came, problem] of cases) {
  test(`RFC 6749 §3.1, §3.2, RFC 8628 §3.1: a parameter that is ${name}`, () => {
    const parameters = new Parameters(pairs);
    assert.equal(parameters.get('a'), value);
    assert.equal(parameters.has('a'), came);
    assert.equal(parameters.problem(known), problem);
  });
}

test('ASVS 15.3.6: names that objects have of themselves are names like others', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const empty = new Parameters([]);
  for (const name of names) assert.equal(empty.get(name), undefined);
  const parameters = new Parameters(names.map((name) => [name, 'x']));
  for (const name of names) assert.equal(parameters.get(name), 'x');
  assert.equal(parameters.problem(known), null);
});

test('design: a value that is no well-formed text (an unpaired surrogate) is unusable, because nothing can carry it back', () => {
  const parameters = new Parameters([['a', 'x\ud800']]);
  assert.equal(parameters.get('a'), undefined);
  assert.equal(parameters.problem(known), 'a is not a string in UTF-8');
});

const repeated: [string, Parameter[], all: string[], problem: string | null][] = [
  ['absent', [], [], null],
  ['once', [['a', 'x']], ['x'], null],
  [
    'twice',
    [
      ['a', 'x'],
      ['a', 'y'],
    ],
    ['x', 'y'],
    null,
  ],
  [
    'twice with the same value',
    [
      ['a', 'x'],
      ['a', 'x'],
    ],
    ['x', 'x'],
    null,
  ],
  [
    'twice, once empty',
    [
      ['a', ''],
      ['a', 'x'],
    ],
    ['x'],
    null,
  ],
  [
    'twice, once no text',
    [
      ['a', 'x'],
      ['a', null],
    ],
    ['x'],
    'a is not a string in UTF-8',
  ],
  [
    'twice, beside another that may not',
    [
      ['a', 'x'],
      ['a', 'y'],
      ['b', 'z'],
      ['b', 'z'],
    ],
    ['x', 'y'],
    'b is repeated',
  ],
  [
    'twice, beside an unknown one that is repeated',
    [
      ['a', 'x'],
      ['a', 'y'],
      ['evil', 'z'],
      ['evil', 'z'],
    ],
    ['x', 'y'],
    'a parameter is repeated',
  ],
];
for (const [name, pairs, all, problem] of repeated) {
  test(`RFC 8707 §2: a parameter that may be repeated comes ${name}`, () => {
    const parameters = new Parameters(pairs);
    assert.deepEqual(parameters.all('a'), all);
    assert.equal(parameters.problem(known, ['a']), problem);
  });
}

test('RFC 6749 §3.1: what may be repeated at one endpoint is repeated at another', () => {
  const parameters = new Parameters([
    ['a', 'x'],
    ['a', 'y'],
  ]);
  assert.equal(parameters.get('a'), undefined, 'and no single value is picked');
  assert.equal(parameters.problem(known), 'a is repeated');
  assert.equal(parameters.problem([]), 'a parameter is repeated');
  assert.equal(parameters.problem([], ['a']), null);
});
