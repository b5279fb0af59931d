import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { OperatorError } from '../../src/oauth/error.ts';
import { ScopeRegistry } from '../../src/operator/products-and-apis/scope-registry.ts';
import { type Memory, openMemory, operator } from '../oauth/memory.ts';
import { NOW } from '../oauth/samples.ts';

async function setUp(context: TestContext): Promise<Memory & { registry: ScopeRegistry }> {
  const memory = await openMemory(context);
  return { ...memory, registry: new ScopeRegistry(memory.store, () => memory.clock.now) };
}

test('RFC 6749 §3.3: a scope is defined with its sentences, and changed one language at a time', async (context) => {
  const { registry, clock } = await setUp(context);
  const defined = await registry.define('mail.read', { en: 'Read your mail', ar: 'قراءة بريدك' }, operator);
  assert.deepEqual(defined, {
    name: 'mail.read',
    sentences: { en: 'Read your mail', ar: 'قراءة بريدك' },
    effect: null,
    createdAt: NOW,
  });
  clock.now += 1000;
  const changed = await registry.define('mail.read', { en: 'See your mail', 'pt-BR': 'Ver' }, operator);
  assert.deepEqual(changed, {
    ...defined,
    sentences: { en: 'See your mail', ar: 'قراءة بريدك', 'pt-BR': 'Ver' },
  });
  assert.deepEqual(await registry.show('mail.read'), changed);
  const without = await registry.define('mail.read', { ar: '', 'pt-BR': '' }, operator);
  assert.deepEqual(without.sentences, { en: 'See your mail' });
  assert.deepEqual(await registry.list(), [without]);
});

const wrong: [string, string, Record<string, string>, RegExp][] = [
  ['a name with a space', 'mail read', { en: 'Read' }, /printable ASCII/],
  ['a name with =', 'mail=read', { en: 'Read' }, /printable ASCII/],
  ['an empty name', '', { en: 'Read' }, /printable ASCII/],
  ['no sentence', 'read', {}, /has no sentence/],
  ['an empty sentence alone', 'read', { en: '' }, /has no sentence/],
  ['a language in upper case', 'read', { EN: 'Read' }, /is not a language/],
  ['a language that is a word', 'read', { english: 'Read' }, /is not a language/],
  ['a language with a space', 'read', { 'en ': 'Read' }, /is not a language/],
  ['a name that objects have as language', 'read', { constructor: 'Read' } as never, /is not a language/],
  ['a sentence of spaces', 'read', { en: ' ' }, /1 to 200/],
  ['a sentence that is too long', 'read', { en: 'x'.repeat(201) }, /\(en\).*1 to 200/],
  ['a sentence with a line break', 'read', { en: 'Read\nall' }, /invisible/],
  ['one wrong sentence of two', 'read', { en: 'Read', ar: '\u202e' }, /\(ar\)/],
];
for (const [name, scope, sentences, message] of wrong) {
  test(`refused, and nothing is changed: ${name}`, async (context) => {
    const { registry, store } = await setUp(context);
    const refusedWith = (error: unknown) => error instanceof OperatorError && message.test(error.message);
    await assert.rejects(registry.define(scope, sentences, operator), refusedWith);
    assert.deepEqual(await registry.list(), []);
    assert.deepEqual(await store.listAuditEvents({ limit: 1 }), []);
  });
}

test('design: the last sentence of a scope is not taken away: it is deleted instead', async (context) => {
  const { registry } = await setUp(context);
  const defined = await registry.define('read', { en: 'Read' }, operator);
  await assert.rejects(registry.define('read', { en: '' }, operator), /has no sentence/);
  assert.deepEqual(await registry.list(), [defined]);
  assert.deepEqual(await registry.delete('read', operator), defined);
  assert.deepEqual(await registry.list(), []);
});

test('design: scopes are listed by name, and what is not there is said', async (context) => {
  const { registry } = await setUp(context);
  for (const name of ['write', 'read', 'admin']) await registry.define(name, { en: name }, operator);
  assert.deepEqual(
    (await registry.list()).map(({ name }) => name),
    ['admin', 'read', 'write'],
  );
  for (const act of [registry.show('none'), registry.delete('none', operator), registry.show('__proto__')])
    await assert.rejects(act, /there is no scope/);
});

test('ASVS 15.4.2: of two operators who define different languages at once none loses a sentence unheard', async (context) => {
  const { registry } = await setUp(context);
  await registry.define('read', { en: 'Read' }, operator);
  const both = await Promise.allSettled([
    registry.define('read', { ar: 'قراءة' }, operator),
    registry.define('read', { fr: 'Lire' }, operator),
  ]);
  const { sentences } = await registry.show('read');
  const lost = both.filter(({ status }) => status === 'rejected').length;
  assert.equal(Object.keys(sentences).length + lost, 3);
  const first = await Promise.allSettled([
    registry.define('new', { ar: 'x' }, operator),
    registry.define('new', { fr: 'y' }, operator),
  ]);
  const refused = first.filter(({ status }) => status === 'rejected').length;
  assert.equal(Object.keys((await registry.show('new')).sentences).length + refused, 2);
});

test('design: every act is in the trail, with the scope that it is about', async (context) => {
  const { registry, store } = await setUp(context);
  await registry.define('read', { en: 'Read' }, operator);
  await registry.delete('read', operator);
  const events = await store.listAuditEvents({ limit: 10 });
  assert.deepEqual(
    events.map(({ action, detail, actor }) => [action, detail, actor]),
    [
      ['scope_deleted', '{"scope":"read"}', { ...operator, by: null }],
      ['scope_defined', '{"scope":"read"}', { ...operator, by: null }],
    ],
  );
});
