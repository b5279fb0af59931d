/** What an upgrade of a database will do, in words for the log of the start that does it. */
import { pending } from './migrate.ts';
import type { AppliedMigration, Migration } from './migrations.ts';
import type { PlainDatabase } from './plain-database.ts';

/** What there is to do: the last migration that was applied, those to come, and the number of rows of large tables. */
export type MigrationPlan = {
  readonly from: AppliedMigration;
  readonly steps: readonly Migration[];
  readonly rows: readonly (readonly [what: string, count: number])[];
};

/** How long an upgrade takes depends on these tables; each is there since the first migration. */
const COUNTED = { account: 'accounts', client: 'apps', oauth_grant: 'grants', audit_event: 'audit events' };

/** What an upgrade would do; null where nothing is pending, or the database is new. Only reads. */
export async function migrationPlan(database: PlainDatabase): Promise<MigrationPlan | null> {
  const from = (await database.applied()).at(-1);
  const steps = from ? await pending(database) : [];
  if (!from || steps.length === 0) return null;
  const rows: [string, number][] = [];
  for (const [table, what] of Object.entries(COUNTED)) {
    const [row] = await database.tuples(`SELECT count(*) FROM ${table}`);
    rows.push([what, Number(row?.[0])]);
  }
  return { from, steps, rows };
}

/** Says it, with the way back. */
export function planSentence({ from, steps, rows }: MigrationPlan): string {
  const to = steps.at(-1)?.number;
  const does = steps.map(({ number, name, sql }) => `${number} (${name}): ${purposeOf(sql)}`).join(' ');
  const has = rows.map(([what, count]) => `${count} ${what}`).join(', ');
  const isExpansion = steps.every(({ name }) => name.startsWith('expand-'));
  const back = isExpansion
    ? 'the version before can still start on it afterwards'
    : 'the version before does not start on it afterwards, and the way back is the backup from before';
  return `the database is brought from migration ${from.number} (${from.name}) to ${to}. ${does} It has ${has}. Each migration is done whole or not at all, also if this start is killed; ${back}`;
}

/** The sentence with which the text of a migration begins. */
function purposeOf(sql: string): string {
  const [head = ''] = /^(--.*\n?)+/.exec(sql) ?? [];
  const text = head.replaceAll(/^-- ?/gm, '').replaceAll(/\s+/g, ' ');
  return /^.*?[.:](?= |$)/.exec(text)?.[0] ?? '';
}
