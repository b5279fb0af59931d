import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { resolveScope, type Scope, scopeNameProblem } from '../../src/oauth/scope.ts';

const registered: Scope[] = ['read', 'write', 'admin'].map((name) => ({ name, sentence: null }));

const names: [string, 'good' | 'bad'][] = [
  ['read', 'good'],
  ['a', 'good'],
  ['https://api.test/read:all', 'good'],
  ['!#[]~', 'good'],
  ['x'.repeat(100), 'good'],
  ['x'.repeat(101), 'bad'],
  ['', 'bad'],
  ['two words', 'bad'],
  ['quo"te', 'bad'],
  ['back\\slash', 'bad'],
  ['is=what', 'bad'],
  ['tab\t', 'bad'],
  ['line\n', 'bad'],
  ['nul\0', 'bad'],
  ['del\x7f', 'bad'],
  ['é', 'bad'],
];
for (const [name, expected] of names) {
  test(`RFC 6749 §3.3: the scope name ${JSON.stringify(name.slice(0, 30))} (${name.length}) is ${expected}`, () => {
    assert.equal(scopeNameProblem(name) === null, expected === 'good');
  });
}

const requests: [string | undefined, string[] | null][] = [
  [undefined, ['read', 'write', 'admin']],
  ['read', ['read']],
  ['admin read', ['read', 'admin']],
  ['read read', ['read']],
  ['read  write', ['read', 'write']],
  [' read ', ['read']],
  [' ', null],
  ['', null],
  ['none', null],
  ['read none', null],
  ['READ', null],
  ['read,write', null],
  ['read\twrite', null],
  ['rea', null],
  ['__proto__', null],
  ['constructor', null],
];
for (const [requested, granted] of requests) {
  test(`RFC 6749 §3.3: asked for ${JSON.stringify(requested)}, granted ${JSON.stringify(granted)}`, () => {
    assert.deepEqual(resolveScope(registered, requested), granted);
  });
}

test('RFC 6749 §3.3: a client without scopes is granted none, and may ask for none', () => {
  assert.deepEqual(resolveScope([], undefined), []);
  assert.equal(resolveScope([], 'read'), null);
});

test('RFC 6749 §3.3: whatever is asked for, nothing is granted that is not registered and asked for', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom('read', 'write', 'admin'), fc.string())), (asked) => {
      const granted = resolveScope(registered, asked.join(' '));
      const wanted = new Set(asked.join(' ').split(' ').filter(Boolean));
      if (granted) assert.deepEqual(new Set(granted), wanted);
      else assert.ok(wanted.size === 0 || [...wanted].some((name) => !registered.some((scope) => scope.name === name)));
    }),
  );
});
