/** Passwords whose hashes other programs made. */
import type { SealedPassword } from '../../accounts/account.ts';
import type { ForeignPasswordStore } from '../../accounts/store.ts';
import type { Runner } from '../acts.ts';
import { ACCOUNT } from './accounts.ts';

const PASSWORD = ACCOUNT.pick('id', 'password');

const SLOWEST = `
  SELECT ${PASSWORD.names} FROM account WHERE foreign_work IS NOT NULL ORDER BY foreign_work DESC LIMIT 1`;
const UNWRAPPED = `SELECT ${PASSWORD.names} FROM account WHERE is_unwrapped AND id > $1 ORDER BY id LIMIT $2`;
const COUNT = `
  SELECT (SELECT count(*) FROM account WHERE foreign_work IS NOT NULL), (SELECT count(*) FROM account WHERE is_unwrapped)`;

/** The port's foreign passwords. */
export function foreignPasswordStore(runner: Runner): ForeignPasswordStore {
  return {
    async findSlowestForeign() {
      const [row] = await runner.select({ sql: SLOWEST, values: [] }, []);
      const password = row && PASSWORD.read(row).password;
      return password && 'foreign' in password ? password.foreign : null;
    },
    async listUnwrapped(after, limit) {
      const rows = await runner.select({ sql: UNWRAPPED, values: [after, limit] }, []);
      return rows.map((row) => PASSWORD.read(row) as { id: string; password: SealedPassword });
    },
    async countForeign() {
      const [row = []] = await runner.select({ sql: COUNT, values: [] }, []);
      return { foreign: Number(row[0]), unwrapped: Number(row[1]) };
    },
  };
}
