/**
 * Last uses of the secrets of clients, resource servers and identity providers, by digest. They have their own table,
 * so that a use never changes a row that a decision depends on. Written behind; a crash loses at most the last second.
 */
import { SECRET_USE_IS_NEWS_AFTER_MS } from '../../../oauth/keys/secret.ts';
import type { SecretUseStore } from '../../../oauth/keys/secret-use-store.ts';
import { WriteBehind } from '../../late-writes/write-behind.ts';
import { bytesOf, rowKey } from '../../statements/row-key.ts';
import type { Runner } from '../../statements/shared-operations.ts';
import { Table } from '../../statements/table.ts';

/** The last use of a secret. */
export const SECRET_USE = Table.of<{ readonly digest: Buffer; readonly usedAt: number }>('secret_use', {
  digest: 'bytes',
  usedAt: 'time',
});

const MARK = `
  ${SECRET_USE.insertion}
  ON CONFLICT (digest) DO UPDATE SET used_at = excluded.used_at WHERE secret_use.used_at < excluded.used_at`;
const FIND = 'SELECT used_at FROM secret_use WHERE digest = $1';

/** Maximum number of secrets whose last use is cached, to skip further uses shortly afterwards. */
const MAX_REMEMBERED = 65_536;

/** Implements the port for uses of secrets; `close` writes the pending ones. */
export function secretUseStore(runner: Runner): { readonly store: SecretUseStore; close(): Promise<void> } {
  const noted = new Map<string, number>();
  const marks = new WriteBehind<{ readonly key: string; readonly usedAt: number }>({
    maxPerWrite: 64,
    async write(some) {
      for (const { key, usedAt } of some)
        await runner.change([], { sql: MARK, values: SECRET_USE.values({ digest: bytesOf(key), usedAt }) });
      return [];
    },
  });
  return {
    store: {
      noteSecretUse({ digest }, usedAt) {
        const key = rowKey(digest);
        const before = noted.get(key);
        if (before !== undefined && usedAt - before < SECRET_USE_IS_NEWS_AFTER_MS) return;
        if (noted.size >= MAX_REMEMBERED) noted.clear();
        if (marks.set({ key, usedAt })) noted.set(key, usedAt);
      },
      async findSecretUse({ digest }) {
        await marks.flush();
        const [row] = await runner.select({ sql: FIND, values: [digest] }, 'all');
        return row ? (row[0] as number) : null;
      },
    },
    close: () => marks.close(),
  };
}
