/** The uses of root keys. Scans all grants, so it is for commands only. */
import type { KeyUse } from '../../oauth/installation/root-key-store.ts';
import type { PlainDatabase } from '../schema/plain-database.ts';
import { NOT_ENDED } from '../tables/grants/grant-rows.ts';

const USES = (passwordKeyId: string) => `
  SELECT key_id, sum(grants), sum(passwords), sum(signing_keys) FROM (
    SELECT key_id, count(*) AS grants, 0 AS passwords, 0 AS signing_keys FROM oauth_grant
    WHERE expires_at > $1 AND ${NOT_ENDED} GROUP BY key_id
    UNION ALL SELECT ${passwordKeyId}, 0, count(*), 0 FROM account WHERE password IS NOT NULL GROUP BY 1
    UNION ALL SELECT root_key_id, 0, 0, count(*) FROM signing_key WHERE root_key_id IS NOT NULL GROUP BY 1
  ) AS rested GROUP BY key_id`;

/** Counts, for each key in use, the grants that are live at a time (ms), the passwords, and the signing keys. */
export async function countKeyUses(database: PlainDatabase, liveAt: number): Promise<KeyUse[]> {
  const rows = await database.tuples(USES(database.dialect.passwordKeyId), [liveAt]);
  return rows.map(([keyId, grants, passwords, signingKeys]) => ({
    keyId: Number(keyId),
    grants: Number(grants),
    passwords: Number(passwords),
    signingKeys: Number(signingKeys),
  }));
}
