/** The installation's scope definitions in SQLite. */
import type { ScopeDefinition } from '../../oauth/scope.ts';
import type { ScopeStore } from '../../oauth/store.ts';
import type { Tables } from './tables.ts';

/** The port's scopes on these tables. */
export function scopeStore(tables: Tables): ScopeStore {
  const list = tables.all<{ name: string; sentences: string; created_at: number }>(
    'SELECT name, sentences, created_at FROM scope ORDER BY name',
  );
  const insert = tables.change(
    'INSERT INTO scope (name, sentences, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING',
  );
  const replace = tables.change('UPDATE scope SET sentences = ? WHERE name = ? AND sentences = ?');
  const remove = tables.change('DELETE FROM scope WHERE name = ?');

  return {
    async listScopes() {
      const scopes = list().map(({ name, sentences, created_at }) => ({
        name,
        sentences: JSON.parse(sentences) as ScopeDefinition['sentences'],
        createdAt: created_at,
      }));
      return tables.onDisk('all', scopes);
    },
    defineScope: ({ name, sentences, createdAt }, expected, event) =>
      tables.act([], event, () => {
        const text = JSON.stringify(sentences);
        const changed = expected
          ? replace(text, name, JSON.stringify(expected.sentences))
          : insert(name, text, createdAt);
        return changed === 1;
      }),
    deleteScope: (name, event) => tables.act([], event, () => remove(name) === 1),
  };
}
