/** Passwords with hashes from other programs. */
import type { SealedPassword, StoredPassword, WrappedPassword } from '../../../accounts/people/account.ts';
import { RANKS_OF_FAMILIES } from '../../../accounts/people/foreign-function.ts';
import type { ForeignPasswordStore } from '../../../accounts/people/store.ts';
import type { Runner } from '../../statements/shared-operations.ts';
import { ACCOUNT } from './accounts.ts';

const PASSWORD = ACCOUNT.pick('id', 'password');

const SLOWEST = RANKS_OF_FAMILIES.map(
  ([first, last]) => `
  SELECT * FROM (SELECT ${PASSWORD.names} FROM account
    WHERE foreign_rank BETWEEN ${first} AND ${last} ORDER BY foreign_rank DESC LIMIT 1) AS slowest`,
).join(' UNION ALL');
const UNWRAPPED = `SELECT ${PASSWORD.names} FROM account WHERE is_unwrapped AND id > $1 ORDER BY id LIMIT $2`;
const COUNT = `
  SELECT (SELECT count(*) FROM account WHERE foreign_rank IS NOT NULL), (SELECT count(*) FROM account WHERE is_unwrapped)`;

/** Implements the port for foreign passwords, and for passwords sealed with a root key. */
export function foreignPasswordStore(runner: Runner): ForeignPasswordStore {
  const sealedWith = `
    SELECT ${PASSWORD.names} FROM account
    WHERE password IS NOT NULL AND ${runner.dialect.passwordKeyId} = $1 AND id > $2 ORDER BY id LIMIT $3`;
  return {
    async listSlowestForeign() {
      const rows = await runner.select({ sql: SLOWEST, values: [] }, []);
      return rows.map((row) => (PASSWORD.read(row).password as SealedPassword | WrappedPassword).foreign);
    },
    async listUnwrapped(after, limit) {
      const rows = await runner.select({ sql: UNWRAPPED, values: [after, limit] }, []);
      return rows.map((row) => PASSWORD.read(row) as { id: string; password: SealedPassword });
    },
    async listSealedWith(keyId, after, limit) {
      const rows = await runner.select({ sql: sealedWith, values: [keyId, after, limit] }, []);
      return rows.map((row) => PASSWORD.read(row) as { id: string; password: StoredPassword });
    },
    async countForeign() {
      const [row = []] = await runner.select({ sql: COUNT, values: [] }, []);
      return { foreign: Number(row[0]), unwrapped: Number(row[1]) };
    },
  };
}
