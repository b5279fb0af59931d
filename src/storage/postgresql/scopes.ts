/** The installation's scope definitions in PostgreSQL. */
import type { ScopeDefinition } from '../../oauth/scope.ts';
import type { ScopeStore } from '../../oauth/store.ts';
import type { Database } from './database.ts';

type ScopeRow = { readonly name: string; readonly sentences: string; readonly created_at: number };

const INSERT = 'INSERT INTO scope (name, sentences, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING';
const REPLACE = 'UPDATE scope SET sentences = $2 WHERE name = $1 AND sentences = $3';

/** The port's scopes. */
export function scopeStore(database: Database): ScopeStore {
  return {
    async listScopes() {
      const rows = await database.rows<ScopeRow>('SELECT name, sentences, created_at FROM scope ORDER BY name');
      return rows.map(({ name, sentences, created_at }) => ({
        name,
        sentences: JSON.parse(sentences) as ScopeDefinition['sentences'],
        createdAt: created_at,
      }));
    },
    defineScope: ({ name, sentences, createdAt }, expected, event) =>
      database.act(event, async (connection) => {
        const text = JSON.stringify(sentences);
        const changed = expected
          ? await connection.change(REPLACE, [name, text, JSON.stringify(expected.sentences)])
          : await connection.change(INSERT, [name, text, createdAt]);
        return changed === 1;
      }),
    deleteScope: (name, event) =>
      database.act(
        event,
        async (connection) => (await connection.change('DELETE FROM scope WHERE name = $1', [name])) === 1,
      ),
  };
}
