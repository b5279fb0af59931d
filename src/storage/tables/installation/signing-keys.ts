/** The keys that sign ID tokens. The row of the signing key decides every race: each change deletes it or ends its state. */

import type { SigningKey } from '../../../oauth/openid/signing-key.ts';
import type { SigningKeyStore } from '../../../oauth/openid/signing-key-store.ts';
import type { Runner, Statement } from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';

/** A stored signing key. */
export const SIGNING_KEY = Table.of<SigningKey>('signing_key', {
  id: 'text',
  state: 'text',
  publicKey: 'json',
  sealedKey: nullable('text'),
  rootKeyId: nullable('integer'),
  createdAt: 'time',
  signsSince: nullable('time'),
  dropAt: nullable('time'),
});

const LIST = `SELECT ${SIGNING_KEY.names} FROM signing_key ORDER BY created_at, id`;
/** An index holds one signing key and one next key at most. */
const ADD_FIRST = `${SIGNING_KEY.insertion} ON CONFLICT DO NOTHING`;
const END_SIGNING = `
  UPDATE signing_key SET state = 'former', drop_at = $2, sealed_key = NULL, root_key_id = NULL
  WHERE id = $1 AND state = 'signing'`;
const BEGIN_SIGNING = `UPDATE signing_key SET state = 'signing', signs_since = $2 WHERE id = $1`;
const DELETE_SIGNING = `DELETE FROM signing_key WHERE id = $1 AND state = 'signing'`;
const RESEAL = `UPDATE signing_key SET sealed_key = $2, root_key_id = $3 WHERE id = $1 AND sealed_key = $4`;

/** Deletes all keys. A restore does so too: one of them may have been replaced since the backup, because it leaked. */
export const DELETE_SIGNING_KEYS = 'DELETE FROM signing_key';

/** Implements the port for signing keys. */
export function signingKeyStore(runner: Runner): SigningKeyStore {
  const adding = (key: SigningKey): Statement => ({ sql: SIGNING_KEY.insertion, values: SIGNING_KEY.values(key) });
  return {
    async listSigningKeys() {
      const rows = await runner.select({ sql: LIST, values: [] }, (found) =>
        found.length === 0 ? 'all' : found.map((row) => SIGNING_KEY.read(row).id),
      );
      return rows.map((row) => SIGNING_KEY.read(row));
    },
    turnSigningKeys: ({ signing, next, made, dropAt }, event) =>
      runner.act({
        touches: [signing, next, made.id],
        event,
        first: { sql: END_SIGNING, values: [signing, dropAt] },
        rest: [{ sql: BEGIN_SIGNING, values: [next, event.at] }, adding(made)],
      }),
    replaceSigningKeys(signing, pair, event) {
      const touches = [pair.signing.id, pair.next.id];
      const added = adding(pair.signing);
      if (signing === null)
        return runner.act({ touches, event, first: { ...added, sql: ADD_FIRST }, rest: [adding(pair.next)] });
      return runner.act({
        touches,
        event,
        first: { sql: DELETE_SIGNING, values: [signing] },
        rest: [{ sql: DELETE_SIGNING_KEYS, values: [] }, added, adding(pair.next)],
      });
    },
    resealSigningKey: ({ id, sealedKey }, { text, rootKeyId }) =>
      runner.change([id], { sql: RESEAL, values: [id, text, rootKeyId, sealedKey] }),
  };
}
