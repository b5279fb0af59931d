import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf, readChanges } from '../../src/operator/registration-changes.ts';

test('ASVS 16.3.3: a change of a registration is told with what went and what came', () => {
  const before = {
    name: 'Acme Mail',
    redirectUris: ['https://acme.example/a', 'https://acme.example/b'],
    scopes: [{ name: 'read', sentence: null }, { name: 'send' }] as { name: string; sentence?: string | null }[] | null,
    requirePkce: true,
    refreshOverlap: null as number | null,
    keys: [{ kid: '2025', n: 'x' }, { n: 'y' }] as object[],
  };
  const cases: [Partial<typeof before>, string][] = [
    [{ name: 'Acme Post' }, 'name -"Acme Mail" +"Acme Post"'],
    [
      { redirectUris: ['https://acme.example/b', 'https://acme.example/c'], requirePkce: false },
      'redirect_uris -https://acme.example/a +https://acme.example/c; require_pkce -true +false',
    ],
    [{ scopes: [{ name: 'read', sentence: 'Read' }] }, 'scopes -send'],
    [{ scopes: null }, 'scopes -read -send'],
    [{ scopes: [{ name: 'read', sentence: 'Read' }, { name: 'send' }] }, 'scopes'],
    [{ refreshOverlap: 20 }, 'refresh_overlap +20'],
    [{ keys: [{ kid: '2026' }] }, 'keys -2025 -"a key without an id" +2026'],
  ];
  for (const [given, text] of cases) assert.equal(changesOf(before, given), text);
});

test('ASVS 16.3.3: a change is read as it was written, and no name or key id in it passes for another change', () => {
  const hostile = [
    'x; require_pkce -true +false',
    'say "hi"',
    'a +b',
    '\\',
    '"',
    '',
    'line\nbreak\u2028',
    '; ',
    '-',
    '+',
    'ä',
  ];
  for (const name of hostile) {
    const before = { name: 'Acme', keys: [{ kid: name }, { kid: 'old' }] };
    const text = changesOf(before, { name, keys: [{ kid: 'new' }] });
    assert.deepEqual(
      readChanges(text),
      [
        { name: 'name', removed: ['Acme'], added: [name] },
        { name: 'keys', removed: [name, 'old'], added: ['new'] },
      ],
      text,
    );
  }
  for (const text of [
    '',
    'Ann',
    'name -Acme Mail',
    'name "x"',
    'name +"x',
    'name +"\\x"',
    'sha256 ab',
    'name; ',
    'a  +b',
  ])
    assert.equal(readChanges(text), null, text);
});

test('ASVS 16.3.3: a long description is read in linear time', () => {
  const text = `name +${'"; x '.repeat(20_000)}`;
  assert.equal(readChanges(text), null);
});
