import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SettingChange } from '../../src/oauth/trail/event-members.ts';
import { changesOf } from '../../src/operator/registration/registration-changes.ts';

test('ASVS 16.3.3: a change of a registration is told with what went and what came', () => {
  const before = {
    name: 'Acme Mail',
    redirectUris: ['https://acme.example/a', 'https://acme.example/b'],
    scopes: [{ name: 'read', sentence: null }, { name: 'send' }] as { name: string; sentence?: string | null }[] | null,
    requirePkce: true,
    refreshOverlap: null as number | null,
    keys: [{ kid: '2025', n: 'x' }, { n: 'y' }] as object[],
  };
  const change = (name: string, removed: string[], added: string[]): SettingChange => ({ name, removed, added });
  const cases: [Partial<typeof before>, SettingChange[]][] = [
    [{ name: 'Acme Post' }, [change('name', ['Acme Mail'], ['Acme Post'])]],
    [
      { redirectUris: ['https://acme.example/b', 'https://acme.example/c'], requirePkce: false },
      [
        change('redirect_uris', ['https://acme.example/a'], ['https://acme.example/c']),
        change('require_pkce', ['true'], ['false']),
      ],
    ],
    [{ scopes: [{ name: 'read', sentence: 'Read' }] }, [change('scopes', ['send'], [])]],
    [{ scopes: null }, [change('scopes', ['read', 'send'], [])]],
    [{ scopes: [{ name: 'read', sentence: 'Read' }, { name: 'send' }] }, [change('scopes', [], [])]],
    [{ refreshOverlap: 20 }, [change('refresh_overlap', [], ['20'])]],
    [{ keys: [{ kid: '2026' }] }, [change('keys', ['2025', 'a key without an id'], ['2026'])]],
  ];
  for (const [given, changes] of cases) assert.deepEqual(changesOf(before, given), changes);
});
