/** Which statements of the store touch how many partitions, after the SQL of docs/scaling.md has divided the grants. */
import { readFileSync } from 'node:fs';
import { auditEvent } from '../src/oauth/trail/audit.ts';
import { costOf, onServer, open } from './scaling-postgresql.ts';
import { type Ask, fill } from './scaling-postgresql-fill.ts';
import {
  accountId,
  clientId,
  grantId,
  inFlight,
  issue,
  madeUp,
  markdown,
  next,
  some,
  someGrant,
} from './scaling-store.ts';

const GRANTS = 100_000;
const ACTOR = { kind: 'operator', id: 'bench', source: null, requestId: null } as const;

/** Index scans and sequential scans of partitions of grants, so far. */
const SCANS = `
  SELECT coalesce(sum(idx_scan + seq_scan), 0)::int AS scans FROM pg_stat_user_tables WHERE relname ~ '^oauth_grant(_[0-9]+)?$'`;

/** Divides the table, and returns how many scans of partitions each operation took. */
export async function measurePartitions(): Promise<string> {
  const rows = madeUp(GRANTS, Date.now() - GRANTS - 1000);
  const ids = some(
    Array.from({ length: GRANTS }, (_, n) => grantId(n, rows)),
    20_000,
  );
  return onServer({}, async (url, ask) => {
    await fill(ask, rows);
    const whole = await checks(url, ask, ids);
    await ask(sqlOfThePage());
    await ask('VACUUM (ANALYZE)');
    const divided = await checks(url, ask, ids);
    const lines: string[][] = [];
    const count = async (name: string, act: (storage: Awaited<ReturnType<typeof open>>) => Promise<unknown>) => {
      const before = await ask<{ scans: number }>(SCANS);
      const storage = await open(url);
      await act(storage);
      await storage.close();
      const after = await ask<{ scans: number }>(SCANS);
      lines.push([name, String((after[0]?.scans ?? 0) - (before[0]?.scans ?? 0))]);
    };
    const id = ids[0] as Buffer;
    const fresh = someGrant(rows, Date.now());
    const ended = auditEvent('grant_revoked', ACTOR, Date.now(), {});
    await count('check', ({ store }) => store.findGrant(id));
    await count('64 checks', ({ store }) => inFlight(ids.slice(0, 64), (one) => store.findGrant(one)));
    await count('issue', ({ store }) => issue(store, fresh));
    await count('redeem', ({ store }) => store.redeemAuthorizationCode(next(fresh.id, 1, Date.now())));
    await count('rotate', ({ store }) => store.rotateRefreshToken(next(id, 2, Date.now())));
    await count('revoke', ({ store }) => store.revokeGrant(id, 'operator', ended));
    await count('revoke all of a user for an app', ({ store }) =>
      store.revokeGrantsOfClient(accountId(1), clientId(1), ended),
    );
    await count("list a user's grants", ({ store }) => store.listGrants({ resourceOwnerId: accountId(1), limit: 50 }));
    await count("list an app's grants", ({ store }) => store.listGrants({ clientId: clientId(1), limit: 50 }));
    await count('a step of clean-up', ({ cleanUp }) => cleanUp.step());
    const head = ['64 at a time', 'a second', 'WAL bytes', 'in a transaction', 'CPU µs here', 'CPU µs there'];
    return [
      markdown(head, [
        ['check, one table', ...whole],
        ['check, divided', ...divided],
      ]),
      markdown(['once each, in divided grants', 'scans of partitions'], lines),
    ].join('\n\n');
  });
}

async function checks(url: string, ask: Ask, ids: readonly Buffer[]): Promise<string[]> {
  const { store, close } = await open(url);
  await inFlight(ids, (id) => store.findGrant(id));
  const cost = await costOf(ask, ids.length, () => inFlight(ids, (id) => store.findGrant(id)));
  await close();
  return cost;
}

/** The first block of SQL in the document. */
function sqlOfThePage(): string {
  const page = readFileSync(new URL('../docs/scaling.md', import.meta.url), 'utf8');
  return /```sql\n(.*?)```/s.exec(page)?.[1] ?? '';
}
