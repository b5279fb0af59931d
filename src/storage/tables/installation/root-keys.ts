/** Root keys, the current one among them, and the instances that have read them. */

import type { RootKeyStore, ServingInstance } from '../../../oauth/installation/root-key-store.ts';
import type { RootKey, RootKeys } from '../../../oauth/keys/root-key.ts';
import { INSTALLATION_KEY, listRows, type Runner } from '../../statements/shared-operations.ts';
import { Table } from '../../statements/table.ts';
import { INSTALLATION, STORED_ROOT_KEY } from './installation.ts';

const USED = INSTALLATION.pick('currentKeyId', 'nextKeyId');
const ROOT_KEY: Table<RootKey> = STORED_ROOT_KEY.without('canary');

/** A present or former instance of the service. A copy omits this table. */
const SERVING_INSTANCE = Table.of<ServingInstance>('serving_instance', {
  id: 'text',
  name: 'text',
  keyIds: 'json',
});

const NOTE = `${SERVING_INSTANCE.insertion} ON CONFLICT (id) DO UPDATE SET name = excluded.name, key_ids = excluded.key_ids`;
const LIST_KEYS = `SELECT ${ROOT_KEY.names} FROM root_key ORDER BY created_at, key_id`;
const LIST_INSTANCES = `SELECT ${SERVING_INSTANCE.names} FROM serving_instance ORDER BY id`;
const USE = `
  UPDATE installation SET current_key_id = $1, next_key_id = NULL
  WHERE next_key_id = $1 AND current_key_id <> $1
    AND EXISTS (SELECT 1 FROM root_key WHERE key_id = $1 AND retired_at IS NULL)`;
/** The former key was current until now; the new key may have been current once before. */
const SUPERSEDE = `
  UPDATE root_key SET superseded_at = CASE WHEN key_id = $1 THEN NULL ELSE coalesce(superseded_at, $2) END
  WHERE key_id = $1 OR key_id = $3`;
const RETIRE = `
  UPDATE root_key SET retired_at = $2
  WHERE key_id = $1 AND retired_at IS NULL AND superseded_at < $3
    AND NOT EXISTS (SELECT 1 FROM installation WHERE current_key_id = $1 OR next_key_id = $1)`;

/** Implements the port for root keys. */
export function rootKeyStore(runner: Runner): RootKeyStore {
  const findUsed = async () => {
    const [used] = await listRows(runner, USED, `SELECT ${USED.names} FROM installation`);
    return used as Omit<RootKeys, 'keys'>;
  };
  return {
    async findRootKeys() {
      const keys = await listRows(runner, ROOT_KEY, LIST_KEYS);
      return { ...(await findUsed()), keys };
    },
    noteInstance: (instance) => runner.change([], { sql: NOTE, values: SERVING_INSTANCE.values(instance) }),
    listInstances: () => listRows(runner, SERVING_INSTANCE, LIST_INSTANCES),
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
