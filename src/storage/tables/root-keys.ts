/** Root keys, which of them is in use, and which instances have read them. */
import type { RootKey, RootKeyStore, ServingInstance } from '../../oauth/root-key.ts';
import { INSTALLATION_KEY, type Runner } from '../acts.ts';
import { INSTALLATION, STORED_ROOT_KEY } from './installation.ts';
import { Table } from './table.ts';

const USED = INSTALLATION.pick('currentKeyId', 'nextKeyId');
const ROOT_KEY: Table<RootKey> = STORED_ROOT_KEY.without('canary');

/** An instance that runs, or did. It is no part of what a copy takes along. */
const SERVING_INSTANCE = Table.of<ServingInstance>('serving_instance', {
  id: 'text',
  name: 'text',
  keyIds: 'json',
});

const NOTE = `${SERVING_INSTANCE.insertion} ON CONFLICT (id) DO UPDATE SET name = excluded.name, key_ids = excluded.key_ids`;
const USE = `
  UPDATE installation SET current_key_id = $1, next_key_id = NULL
  WHERE next_key_id = $1 AND current_key_id <> $1
    AND EXISTS (SELECT 1 FROM root_key WHERE key_id = $1 AND retired_at IS NULL)`;
/** The one before was current until now; the new one may have been current once. */
const SUPERSEDE = `
  UPDATE root_key SET superseded_at = CASE WHEN key_id = $1 THEN NULL ELSE coalesce(superseded_at, $2) END
  WHERE key_id = $1 OR key_id = $3`;
const RETIRE = `
  UPDATE root_key SET retired_at = $2
  WHERE key_id = $1 AND retired_at IS NULL AND superseded_at < $3
    AND NOT EXISTS (SELECT 1 FROM installation WHERE current_key_id = $1 OR next_key_id = $1)`;

/** The port's root keys. */
export function rootKeyStore(runner: Runner): RootKeyStore {
  const findUsed = async () => {
    const [row] = await runner.select({ sql: `SELECT ${USED.names} FROM installation`, values: [] }, 'all');
    return USED.read(row as readonly unknown[]);
  };
  return {
    async findRootKeys() {
      const sql = `SELECT ${ROOT_KEY.names} FROM root_key ORDER BY created_at, key_id`;
      const rows = await runner.select({ sql, values: [] }, 'all');
      return { ...(await findUsed()), keys: rows.map((row) => ROOT_KEY.read(row)) };
    },
    noteInstance: (instance) => runner.change([], { sql: NOTE, values: SERVING_INSTANCE.values(instance) }),
    async listInstances() {
      const rows = await runner.select(
        { sql: `SELECT ${SERVING_INSTANCE.names} FROM serving_instance ORDER BY id`, values: [] },
        'all',
      );
      return rows.map((row) => SERVING_INSTANCE.read(row));
    },
    forgetInstance: (id) => runner.change([], { sql: 'DELETE FROM serving_instance WHERE id = $1', values: [id] }),
    prepareRootKey: (keyId) =>
      runner.change([INSTALLATION_KEY], { sql: 'UPDATE installation SET next_key_id = $1', values: [keyId] }),
    async useRootKey(keyId, event) {
      const { currentKeyId } = await findUsed();
      const first = { sql: USE, values: [keyId] };
      const rest = [{ sql: SUPERSEDE, values: [keyId, event.at, currentKeyId] }];
      return runner.act({ touches: [INSTALLATION_KEY], event, first, rest });
    },
    retireRootKey: (keyId, supersededBefore, event) =>
      runner.act({ touches: [], event, first: { sql: RETIRE, values: [keyId, event.at, supersededBefore] } }),
  };
}
