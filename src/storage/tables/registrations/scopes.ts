/** The installation's scope definitions. Sentences are a JSON object from language to text. */

import type { ScopeDefinition } from '../../../oauth/grants/scope.ts';
import type { ScopeStore } from '../../../oauth/resource-servers/scope-store.ts';
import { listRows, type Runner } from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';

/** A stored scope definition. */
export const SCOPE = Table.of<ScopeDefinition>('scope', {
  name: 'text',
  sentences: 'json',
  effect: nullable('text'),
  createdAt: 'time',
});

const LIST = `SELECT ${SCOPE.names} FROM scope ORDER BY name`;
const INSERT = `${SCOPE.insertion} ON CONFLICT DO NOTHING`;
const REPLACE =
  'UPDATE scope SET sentences = $2, effect = $4 WHERE name = $1 AND sentences = $3 AND effect IS NOT DISTINCT FROM $5';

/** Implements the port for scopes. */
export function scopeStore(runner: Runner): ScopeStore {
  return {
    listScopes: () => listRows(runner, SCOPE, LIST),
    defineScope(scope, expected, event) {
      const asStored = (sentences: ScopeDefinition['sentences']) => SCOPE.stored('sentences', sentences);
      const first = expected
        ? {
            sql: REPLACE,
            values: [
              scope.name,
              asStored(scope.sentences),
              asStored(expected.sentences),
              scope.effect,
              expected.effect,
            ],
          }
        : { sql: INSERT, values: SCOPE.values(scope) };
      return runner.act({ touches: [], event, first });
    },
    deleteScope: (name, event) =>
      runner.act({ touches: [], event, first: { sql: 'DELETE FROM scope WHERE name = $1', values: [name] } }),
  };
}
