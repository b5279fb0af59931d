import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  allowedScope,
  optionalNames,
  resolveScope,
  type Scope,
  type ScopeDefinition,
  scopeNameProblem,
  scopeNames,
  sentenceFor,
  sentenceProblem,
} from '../../src/oauth/grants/scope.ts';
import { NOW, scopesOf } from './samples.ts';

const registered: Scope[] = scopesOf('read', 'write', 'admin');

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
  [' ', ['read', 'write', 'admin']],
  ['', ['read', 'write', 'admin']],
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
      const all = new Set(registered.map(({ name }) => name));
      if (granted) assert.deepEqual(new Set(granted), wanted.size === 0 ? all : wanted);
      else assert.ok([...wanted].some((name) => !all.has(name)));
    }),
  );
});

/** `read` is a must, the others may be left out. */
const someOptional: Scope[] = registered.map((scope) => ({ ...scope, optional: scope.name !== 'read' }));

const allowed: [registered: Scope[], requested: string[], chosen: string[], granted: string[] | null][] = [
  [registered, ['read', 'write'], [], ['read', 'write']],
  [registered, ['read', 'write'], ['write'], ['read', 'write']],
  [registered, [], [], []],
  [registered, [], ['read'], []],
  [someOptional, ['read', 'write', 'admin'], ['write', 'admin'], ['read', 'write', 'admin']],
  [someOptional, ['read', 'write', 'admin'], ['admin'], ['read', 'admin']],
  [someOptional, ['read', 'write', 'admin'], [], ['read']],
  [someOptional, ['write'], ['write', 'admin'], ['write']],
  [someOptional, ['write', 'admin'], ['read', 'nonsense'], null],
  [someOptional, ['write'], ['WRITE', 'write ', ''], null],
  [someOptional, [], [], []],
  [scopesOf('read'), ['read', 'write'], ['write'], ['read']],
  [scopesOf('read'), ['write'], ['write'], null],
  [[], ['read'], ['read'], null],
];
for (const [of, requested, chosen, granted] of allowed) {
  const optional = of.filter((scope) => scope.optional).map(({ name }) => name);
  test(`RFC 6749 §3.3: of ${of.map(({ name }) => name)} (optional: ${optional}), asked ${requested}, chosen ${chosen}: ${granted}`, () => {
    assert.deepEqual(allowedScope(of, requested, chosen), granted);
  });
}

test('RFC 6749 §3.3: whatever is chosen, what is granted was requested and is registered, and no optional one that was left out', () => {
  const someNames = fc.subarray(['read', 'write', 'admin', 'gone', '__proto__', 'constructor']);
  fc.assert(
    fc.property(someNames, someNames, fc.subarray(someOptional), (requested, chosen, of) => {
      const granted = allowedScope(of, requested, chosen) ?? [];
      for (const name of granted) {
        assert.ok(requested.includes(name));
        const scope = of.find((known) => known.name === name);
        assert.ok(scope && (!scope.optional || chosen.includes(name)));
      }
      const musts = requested.filter((name) => of.some((known) => known.name === name && !known.optional));
      assert.deepEqual(
        granted.filter((name) => musts.includes(name)),
        musts,
      );
    }),
  );
});

test('RFC 6749 §3.3: which of a request’s scopes may be left out', () => {
  assert.deepEqual(optionalNames(someOptional, ['admin', 'read', 'write', 'gone']), ['write', 'admin']);
  assert.deepEqual(optionalNames(someOptional, ['read']), []);
  assert.deepEqual(optionalNames(registered, ['read', 'write']), []);
});

const definitions: ScopeDefinition[] = [
  { name: 'read', sentences: { en: 'Read your mail', ar: 'قراءة بريدك' }, effect: null, createdAt: NOW },
  { name: 'write', sentences: { 'pt-BR': 'Escrever' }, effect: null, createdAt: NOW },
  { name: 'admin', sentences: {}, effect: null, createdAt: NOW },
];
const sentences: [name: string, own: string | null, language: string, sentence: string | null][] = [
  ['read', null, 'en', 'Read your mail'],
  ['read', null, 'ar', 'قراءة بريدك'],
  ['read', null, 'fr', 'Read your mail'],
  ['read', 'Its own', 'en', 'Its own'],
  ['read', 'Its own', 'ar', 'قراءة بريدك'],
  ['read', 'Its own', 'fr', 'Its own'],
  ['read', 'بريدك كله', 'en', 'Read your mail'],
  ['read', 'بريدك كله', 'ar', 'قراءة بريدك'],
  ['write', 'بريدك كله', 'en', 'بريدك كله'],
  ['write', null, 'en', 'Escrever'],
  ['admin', null, 'en', null],
  ['unknown', null, 'en', null],
  ['unknown', 'Its own', 'en', 'Its own'],
];
for (const [name, sentence, language, expected] of sentences) {
  test(`design: the sentence for ${name} (${sentence ?? 'without its own'}) in ${language} is ${expected ?? 'none'}`, () => {
    assert.equal(sentenceFor({ name, sentence }, definitions, language), expected);
  });
}

const texts: [string, 'good' | 'bad'][] = [
  ['Read your mail', 'good'],
  ['قراءة بريدك', 'good'],
  ['x'.repeat(200), 'good'],
  ['x'.repeat(201), 'bad'],
  ['', 'bad'],
  ['  ', 'bad'],
  ['می\u200cخوانم', 'good'],
  ['👩\u200d💻', 'good'],
  ['two\nlines', 'bad'],
  ['two\u2028lines', 'bad'],
  ['two\u2029lines', 'bad'],
  ['zero\u200bwidth', 'bad'],
  ['left\u202eright', 'bad'],
  ['\0', 'bad'],
];
for (const [text, expected] of texts) {
  test(`design: the sentence ${JSON.stringify(text.slice(0, 20))} (${text.length}) is ${expected}`, () => {
    assert.equal(sentenceProblem(text) === null, expected === 'good');
  });
}

test('RFC 6749 §3.3: the names in a scope', () => {
  assert.deepEqual(scopeNames(''), []);
  assert.deepEqual(scopeNames(' read  write '), ['read', 'write']);
});
