/** Made-up audit events in either store, inserted by SQL: millions in a minute. Their chains are not those of a real trail. */

/** The events: one each `every` ms from `since` (ms), on people and apps in turn; one of a thousand is an operator's. */
export type Trail = {
  readonly events: number;
  readonly people: number;
  readonly apps: number;
  readonly since: number;
  readonly every: number;
};

type Ask = (sql: string) => Promise<readonly object[]>;

const SQL = {
  sqlite: {
    numbers: (from: number, to: number) =>
      `WITH RECURSIVE made (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM made WHERE n < ${to})`,
    id: (prefix: string, n: string) => `'${prefix}' || printf('%016d', ${n})`,
    mac: 'zeroblob(32)',
    grant: "printf('%08x-0000-7000-8000-%012x', n, n)",
    indexes:
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'audit_event' AND sql IS NOT NULL",
  },
  postgresql: {
    numbers: (from: number, to: number) => `WITH made AS (SELECT generate_series(${from}, ${to}) AS n)`,
    id: (prefix: string, n: string) => `'${prefix}' || lpad((${n})::text, 16, '0')`,
    mac: "decode(repeat('00', 32), 'hex')",
    grant: "lpad(to_hex(n), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0')",
    indexes:
      "SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE tablename = 'audit_event' AND indexname <> 'audit_event_pkey'",
  },
} as const;

/** Events of one statement. */
const AT_ONCE = 500_000;

/** Adds the events behind those that are there. Indexes are made anew behind them, which takes a fraction of the time. */
export async function fillEvents(
  store: keyof typeof SQL,
  ask: Ask,
  { events, people, apps, since, every }: Trail,
): Promise<void> {
  const { numbers, id, mac, grant, indexes } = SQL[store];
  const made = (await ask(indexes)) as readonly { readonly name: string; readonly sql: string }[];
  for (const { name } of made) await ask(`DROP INDEX ${name}`);
  const columns =
    'at, action, actor_kind, actor_id, client_id, resource_owner_id, grant_id, chain_id, chain_number, chain_mac';
  for (let from = 0; from < events; from += AT_ONCE)
    await ask(`INSERT INTO audit_event (${columns})
      ${numbers(from, Math.min(events, from + AT_ONCE) - 1)}
      SELECT ${since} + CAST(CAST(n AS bigint) * ${every} AS bigint),
        CASE WHEN n % 1000 = 7 THEN 'client_updated' WHEN n % 3 = 0 THEN 'sign_in' ELSE 'consent_allowed' END,
        CASE WHEN n % 1000 = 7 THEN 'operator' ELSE 'user' END,
        CASE WHEN n % 1000 = 7 THEN 'opr_7' ELSE ${id('usr_', `n % ${people}`)} END,
        CASE WHEN n % 3 <> 0 THEN ${id('app_', `n % ${apps}`)} END,
        CASE WHEN n % 1000 <> 7 THEN ${id('usr_', `n % ${people}`)} END,
        CASE WHEN n % 3 = 1 THEN ${grant} END,
        'none', n, ${mac}
      FROM made`);
  for (const { sql } of made) await ask(sql);
}
